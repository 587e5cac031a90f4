"""Profiles read what their games say."""

from __future__ import annotations

import gymnasium as gym
import pytest

from tests.agents.scripted import ScriptedModel
from textcraft_gym import run_episode
from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.games import ALFWORLD, DEFAULT, TEXTCRAFT, load_profile
from textcraft_gym.registration import BUNDLED, find


@pytest.mark.parametrize("env_id", BUNDLED)
def test_profile__divides_the_first_observation_of_every_game(env_id: str):
    profile = load_profile(find(env_id).profile)
    env = find(env_id).make()
    for task in env.get_wrapper_attr("tasks")[:40]:
        observation, _ = env.reset(seed=0, options={"task": task.id})
        situation, goal = profile.read(observation)
        assert situation in observation
        assert len(situation) > 50
        if goal == profile.default_task:  # then the situation says what to do
            assert situation == observation.strip()
        else:
            assert goal in observation.rpartition("\n")[2]
            assert observation.rstrip(".").endswith(goal)
        assert (goal == profile.default_task) == (env_id in ("HotpotQA-v0", "WebShopLite-v0"))


def test_profile__takes_another_text_for_a_situation():
    for profile in (ALFWORLD, DEFAULT, TEXTCRAFT):
        assert profile.read("Hello.") == ("Hello.", "do what the text above asks for")
    assert DEFAULT.read("A hall.\n\nTask: leave it.") == ("A hall.", "leave it")


def test_alfworld__adapt_plays_it_with_alternatives_and_tells_the_last_action():
    env = gym.make(
        "ALFWorld-v0",
        split="dev",
        expert=True,
        task_types=["pick_and_place_simple"],
        max_episode_steps=-1,
    )
    task = env.get_wrapper_attr("tasks")[0].id
    _, info = env.reset(seed=0, options={"task": task})
    taken = next(
        place for place, command in enumerate(info["expert_plan"], 1) if command.startswith("take")
    )
    take, rest = info["expert_plan"][:taken], info["expert_plan"][taken:]
    steps = "Step 1: look under the bed\nStep 2: take it\nStep 3: put it"
    plan = f"{steps}\nExecution Order: ((Step 1 OR Step 2) AND Step 3)"
    models = {
        "executor": ScriptedModel(
            *["go to bed"] * 5, *["look under it"] * 5, *take, "Task completed!", *rest
        ),
        "planner": ScriptedModel(plan),
    }
    episode = run_episode(env, ADaPTAgent(ALFWORLD), task=task, seed=0, model=models)
    assert (episode.won, episode.claimed_success, episode.k_max) == (True, None, 2)
    last = models["executor"].asked[-len(rest)]["prompt"].rpartition("Your task is to: ")[2]
    assert last.startswith(f"put it\nThe last action was: {take[-1]}\nYou pick up the ")
