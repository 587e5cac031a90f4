from __future__ import annotations

import gymnasium as gym
import pytest

import textcraft_gym
from textcraft_gym.agents import ExplorerAgent
from textcraft_gym.wrappers import TextHistory

HARD = {"split": "valid_unseen", "receptacles": 60}


@pytest.mark.parametrize("wrapped", [False, True])
def test_run_episode__gives_an_agent_the_steps_that_it_declares(wrapped: bool):
    limited, free = (
        gym.make("ALFWorld-v0", **HARD),
        gym.make("ALFWorld-v0", max_episode_steps=-1, **HARD),
    )
    if wrapped:
        limited, free = gym.Wrapper(limited), gym.Wrapper(free)
    longest = 0
    for task in limited.get_wrapper_attr("tasks"):
        played = [
            textcraft_gym.run_episode(env, ExplorerAgent(), task=task.id, seed=0)
            for env in (limited, free)
        ]
        assert played[0] == played[1]
        longest = max(longest, played[0].steps)
    assert longest > 50  # more than the id's limit, so that the limit would have shown


def test_run_episode__keeps_a_limit_that_the_caller_chose():
    env = gym.make("ALFWorld-v0", max_episode_steps=2, split="valid_unseen")
    episode = textcraft_gym.run_episode(env, ExplorerAgent(), seed=0)
    assert (episode.steps, episode.stop_reason) == (2, "truncated")


def test_run_episode__puts_the_registered_limit_back():
    env = TextHistory(gym.make("TextCraft-v0"), turns=1)
    textcraft_gym.run_episode(env, lambda observation, info: "inventory", seed=0, max_steps=3)
    env.reset(seed=0)
    ends = [env.step("inventory")[3] for _ in range(100)]
    assert ends == [False] * 99 + [True]


def test_run_episode__ends_an_agent_without_a_budget_at_the_registered_limit():
    episode = textcraft_gym.run_episode(
        gym.make("TextCraft-v0"), lambda observation, info: "inventory", seed=0
    )
    assert (episode.steps, episode.stop_reason) == (100, "max_steps")
