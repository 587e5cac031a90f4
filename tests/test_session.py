"""Episodes by calls of text are those of Gymnasium, and the starts of a split those of its
resets."""

from __future__ import annotations

import gymnasium as gym
import pytest
from gymnasium.error import ResetNeeded
from hypothesis import given
from hypothesis import strategies as st

import textcraft_gym
from textcraft_gym import Start, TextEpisode, starts
from textcraft_gym.errors import UnknownName
from textcraft_gym.registration import BUNDLED
from textcraft_gym.session import OVER
from textcraft_gym.testing import NONSENSE

FOREIGN = "tests.foreign_worlds"


@pytest.mark.parametrize("env_id", BUNDLED)
def test_episode__has_the_bytes_and_rewards_of_gymnasium(env_id):
    env, episode = gym.make(env_id, expert=True), TextEpisode(env_id, expert=True)
    for seed in range(2):
        observation, info = env.reset(seed=seed)
        assert episode.reset(seed=seed) == observation == episode.observation
        assert (episode.task, episode.over, episode.steps) == (info["task"], False, 0)
        expected, over = [], False
        for action in [NONSENSE, *info["expert_plan"]]:
            if over:
                break
            observation, reward, terminated, truncated, info = env.step(action)
            expected.append(reward)
            over = terminated or truncated
            assert episode.step(f"Thought: so be it.\nAction: {action}") == observation
            assert tuple(episode.last) == (observation, reward, terminated, truncated, info)
        assert (episode.reward, episode.won, episode.over) == (sum(expected), info["won"], over)
        assert (episode.steps, episode.invalid) == (len(expected), 1)
    env.close()
    episode.close()


def test_episode__answers_after_its_end_and_changes_nothing():
    episode = TextEpisode("TextCraft-v0")
    text = episode.reset("minecraft:ladder", 0)
    for command in plan("minecraft:ladder"):
        assert not episode.over
        episode.step(command)
    assert (episode.won, episode.over, episode.reward) == (True, True, 1.0)
    seen = vars(episode).copy()
    assert [episode.step("inventory"), episode.step("")] == [OVER, OVER]
    assert vars(episode) == seen
    assert episode.reset("minecraft:ladder", 0) == text
    assert (episode.reward, episode.won, episode.over, episode.steps, episode.invalid) == (
        0.0,
        False,
        False,
        0,
        0,
    )


@pytest.mark.parametrize(("limit", "expected"), [(None, 50), (3, 3), (60, 60)])
def test_episode__ends_at_its_limit_of_steps(limit, expected):
    episode = TextEpisode("ALFWorld-v0", max_steps=limit)
    episode.reset(seed=0)
    for _ in range(70):
        episode.step("look")
    assert (episode.steps, episode.won, episode.last.truncated, episode.reward) == (
        expected,
        False,
        True,
        0.0,
    )


def test_episode__of_a_reset_equals_a_fresh_one():
    used, fresh = TextEpisode("TextCraft-v0"), TextEpisode("TextCraft-v0")
    used.reset(seed=3)
    used.step("get 1 oak log")
    assert used.reset(seed=5) == fresh.reset(seed=5)
    assert used.step("inventory") == fresh.step("inventory")


def test_episode__can_play_what_it_is_given_as_it_is():
    words = TextEpisode("ALFWorld-v0", read=str)
    words.reset(seed=0)
    words.step("Action: look")
    assert (words.steps, words.invalid) == (1, 1)


def test_episode__sums_the_rewards_of_its_wrappers():
    episode = TextEpisode("TextCraft-v0", wrappers=["SubgoalReward,gamma=0.9"], expert=True)
    episode.reset("minecraft:ladder", 0)
    rewards = []
    for command in plan("minecraft:ladder"):
        episode.step(command)
        rewards.append(episode.last.reward)
    assert episode.reward == sum(rewards)
    assert sum(reward > 0 for reward in rewards) > 1


def test_episode__plays_foreign_worlds():
    say = TextEpisode(f"{FOREIGN}:Say-v0", loudly=True)
    assert "HO" in say.reset("ho")
    say.step("Action: HO")
    assert (say.task, say.won, say.over, say.reward) == ("ho", True, True, 1.0)
    guess = TextEpisode(f"{FOREIGN}:GuessDigit-v0")
    guess.reset(seed=0)
    guess.step("11")
    assert (guess.task, guess.won, guess.over) == (None, None, True)


def test_episode__refuses_mistakes_of_the_caller():
    with pytest.raises(UnknownName, match="TextCraft-v0"):
        TextEpisode("TextCraft-v9")
    with pytest.raises(UnknownName, match="split"):
        TextEpisode("TextCraft-v0", splitt="dev")
    with pytest.raises(UnknownName, match=r"'max_step'\. Did you mean max_steps"):
        TextEpisode("TextCraft-v0", max_step=5)
    with pytest.raises(UnknownName, match=r"'seed'\. Did you mean seeds"):
        starts("TextCraft-v0", seed=5)
    with pytest.raises(ValueError, match="max_steps of 1 or more"):
        TextEpisode("TextCraft-v0", max_steps=0)
    with pytest.raises(ValueError, match="text"):
        TextEpisode("TextCraft-v0", wrappers=["TokenIds,length=8"])
    episode = TextEpisode("TextCraft-v0")
    with pytest.raises(ResetNeeded):
        episode.step("inventory")
    episode.reset(seed=0)
    with pytest.raises(TypeError, match="int"):
        episode.step(5)


@given(st.lists(st.text(max_size=80), max_size=12))
def test_episode__never_raises_for_what_a_model_writes(replies):
    episode = TextEpisode("TextCraft-v0", max_steps=8)
    episode.reset(seed=1)
    answers = [episode.step(reply) for reply in replies]
    assert [answer == OVER for answer in answers] == [number >= 8 for number in range(len(replies))]
    assert episode.steps == min(len(replies), 8)


@pytest.mark.parametrize("env_id", BUNDLED)
def test_starts__are_the_first_observations_of_the_split(env_id):
    openings = starts(env_id, seeds=2, limit=5)
    tasks = gym.make(env_id).unwrapped.tasks
    assert [(start.task, start.seed) for start in openings] == [
        (tasks[n // 2].id, n % 2) for n in range(5)
    ]
    for start in openings:
        assert TextEpisode(env_id).reset(start.task, start.seed) == start.observation
        assert start.group == next(task.group for task in tasks if task.id == start.task)


def test_starts__take_a_split_seeds_and_arguments():
    dev = textcraft_gym.tasks("TextCraft-v0", "dev")
    openings = starts("TextCraft-v0", "dev", seeds=[7])
    assert [(start.task, start.seed) for start in openings] == [(task.id, 7) for task in dev]
    assert starts("TextCraft-v0", "dev", seeds=[7], limit=1, distractors=0) != openings[:1]


def test_starts__of_foreign_worlds():
    first, second, third = starts(f"{FOREIGN}:Say-v0", "all")
    assert first == Start("hi", 0, "2 letters", "A room.\n\nTask: say hi")
    assert (second.task, third.task) == ("ho", "hello")
    assert starts(f"{FOREIGN}:GuessDigit-v0", seeds=2) == [
        Start(None, n, "all", "Guess.") for n in range(2)
    ]


@pytest.mark.parametrize("wrong", [{"seeds": 0}, {"seeds": [-1]}, {"limit": -1}, {"seeds": True}])
def test_starts__refuse_numbers_out_of_bounds(wrong):
    with pytest.raises(ValueError, match=r"or more|a whole number"):
        starts("TextCraft-v0", **wrong)


def plan(task: str) -> list[str]:
    env = gym.make("TextCraft-v0", expert=True)
    commands: list[str] = env.reset(seed=0, options={"task": task})[1]["expert_plan"]
    env.close()
    return commands


def test_reset__that_fails_first_breaks_nothing():
    episode = TextEpisode("TextCraft-v0")
    with pytest.raises(UnknownName):
        episode.reset("minecraft:nothing", seed=0)
    episode.reset("minecraft:acacia_planks", seed=0)
    assert episode.step("get 1 acacia logs") == "Got 1 acacia logs"
