"""Thoughts are answered without a step."""

from __future__ import annotations

import gymnasium as gym
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.wrappers import TimeLimit

from textcraft_gym.registration import BUNDLED, find
from textcraft_gym.wrappers import ActionMasking, SubgoalReward, ThinkActions


@pytest.mark.parametrize("env_id", BUNDLED)
@pytest.mark.parametrize(
    "thought", ["think: what now?", "  think:", "think[I need wood]", "think: a\nb"]
)
def test_thought__changes_nothing(env_id, thought):
    env = ThinkActions(find(env_id).make(admissible=True, expert=True))
    info = env.reset(seed=0)[1]
    before = env.env.get_wrapper_attr("snapshot")()
    assert env.step(thought) == ("OK.", 0.0, False, False, info | {"thought": True})
    assert env.env.get_wrapper_attr("snapshot")() == before
    info = env.step("nonsense")[4]
    assert "invalid_reason" in info
    info.pop("invalid_reason")
    assert env.step(thought)[4] == info | {"thought": True}
    assert "thought" not in env.step("nonsense")[4]


def test_thought__costs_no_step_of_the_games_limit_but_of_one_outside():
    env = ThinkActions(gym.make("TextCraft-v0", max_episode_steps=2))
    env.reset(seed=0)
    assert [env.step(action)[3] for action in ("think: 1", "think: 2", "a", "think: 3", "b")] == [
        False
    ] * 4 + [True]
    env = TimeLimit(ThinkActions(find("TextCraft-v0").make()), 2)
    env.reset(seed=0)
    assert [env.step(action)[3] for action in ("think: 1", "think: 2")] == [False, True]


def test_thought__before_reset_or_after_the_end_raises():
    env = ThinkActions(find("TextCraft-v0").make(expert=True))
    with pytest.raises(ResetNeeded):
        env.step("think: hello")
    info = env.reset(seed=0)[1]
    while not info["won"]:
        info = env.step(info["expert_plan"][0])[4]
    with pytest.raises(ResetNeeded):
        env.step("think: done")


def test_thought__leaves_what_the_caller_does_to_info_alone():
    env = ThinkActions(SubgoalReward(find("TextCraft-v0").make(admissible=True, expert=True), 0.9))
    commands = env.reset(seed=0)[1]["admissible_commands"]
    assert "shaping" in env.step("nonsense")[4]
    first = env.step("think: 1")[4]
    first["admissible_commands"].clear()
    assert env.step("think: 2")[4]["admissible_commands"] == commands
    assert "shaping" not in first


def test_prefixes__can_be_others():
    env = ThinkActions(find("TextCraft-v0").make(), prefixes=["hm"])
    env.reset(seed=0)
    assert env.step("hm, wood")[0] == "OK."
    assert env.step("think: wood")[0] == "Could not execute think: wood"


@pytest.mark.parametrize("prefixes", [[], "", "think:", ["think:", ""]])
def test_prefixes__that_are_none_raise(prefixes):
    with pytest.raises(ValueError, match="one or more non-empty prefixes"):
        ThinkActions(find("TextCraft-v0").make(), prefixes)


def test_environment__of_numbered_actions_raises():
    with pytest.raises(ValueError, match="ThinkActions expected actions of text"):
        ThinkActions(ActionMasking(find("TextCraft-v0").make(admissible=True), 64))
