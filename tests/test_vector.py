"""Many games in one call are as many played one by one."""

from __future__ import annotations

import random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from textcraft_gym import UnknownName
from textcraft_gym.registration import BUNDLED, SUITE
from textcraft_gym.vector import TextVectorEnv

NONSENSE = "no such action"


def same(one: Any, other: Any) -> bool:
    """Whether two parts of a step are equal, down to the types of arrays."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and repr(one.tolist()) == repr(other.tolist())
    return type(one) is type(other) and one == other


@pytest.mark.parametrize(
    ("limit", "told"),
    [(None, {}), (3, {"expert": True, "admissible": True}), (-1, {})],
    ids=["plain", "told", "endless"],
)
@pytest.mark.parametrize("env_id", BUNDLED)
def test_native__plays_as_the_sync_one(env_id, told, limit):
    sync = gym.make_vec(env_id, 4, "sync", max_episode_steps=limit or SUITE[env_id].max_episode_steps, **told)
    guide = gym.make_vec(env_id, 4, "sync", max_episode_steps=limit or SUITE[env_id].max_episode_steps, expert=True)
    native = TextVectorEnv(env_id, 4, max_episode_steps=limit, **told)
    assert native.metadata == sync.metadata
    number = random.Random(0)
    ends = 0
    seen, expected = native.reset(seed=11), sync.reset(seed=11)
    plans = guide.reset(seed=11)[1]["expert_plan"]
    assert seen[0] in native.observation_space
    for _ in range(25):
        assert same(seen, expected), (seen, expected)
        actions = [plan[0] if plan and number.random() < 0.8 else NONSENSE for plan in plans]
        seen, expected = native.step(actions), sync.step(actions)
        plans = guide.step(actions)[4]["expert_plan"]
        ends += expected[2].sum() + expected[3].sum()
    assert ends > 1
    assert same(native.reset(), sync.reset())
    native.close()


def test_native__keeps_an_end_that_the_game_itself_makes():
    """The tech tree is cut off when its ticks are spent, whatever the limit of steps."""
    sync = gym.make_vec("MineTechTree-v0", 2, "sync", max_episode_steps=200, ticks=400)
    native = TextVectorEnv("MineTechTree-v0", 2, ticks=400)
    assert same(native.reset(seed=0), sync.reset(seed=0))
    ends = 0
    for _ in range(12):
        seen, expected = native.step(["mine 3 oak log"] * 2), sync.step(["mine 3 oak log"] * 2)
        assert same(seen, expected)
        ends += expected[3].sum()
    assert ends > 1


def test_reset__takes_a_seed_for_each_and_options():
    native = TextVectorEnv("TextCraft-v0", 3)
    sync = gym.make_vec("TextCraft-v0", 3, "sync")
    options = {"task": "minecraft:beehive"}
    for seed in ([5, None, 5], (1, 2, 3)):
        seen, info = native.reset(seed=seed, options=options)
        expected = sync.reset(seed=list(seed), options=options)[0]
        assert (seen[0], seen[2]) == (expected[0], expected[2])
        assert list(info["task"]) == ["minecraft:beehive"] * 3


def test_call__asks_each():
    native = TextVectorEnv("TextCraft-v0", 2)
    native.reset(seed=0)
    snapshots = native.call("snapshot")
    first = native.step([NONSENSE] * 2)
    for env, snapshot in zip(native.envs, snapshots, strict=True):
        env.restore(snapshot)
    assert native.call("snapshot") == snapshots
    assert same(native.step([NONSENSE] * 2), first)
    assert native.call("distractors") == (10, 10)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"num_envs": 0}, "num_envs of 1 or more, got 0"),
        ({"num_envs": 2, "max_episode_steps": 0}, "max_episode_steps of 1 or more, or -1"),
        ({"num_envs": 2, "levle": 3}, "levle"),
    ],
)
def test_arguments__that_are_wrong_raise(arguments, said):
    with pytest.raises((ValueError, UnknownName), match=said):
        TextVectorEnv("TextCraft-v0", **arguments)


def test_calls__that_are_wrong_raise():
    native = TextVectorEnv("TextCraft-v0", 2)
    with pytest.raises(ResetNeeded):
        native.step([NONSENSE] * 2)
    with pytest.raises(ValueError, match="expected 2 seeds, got 3"):
        native.reset(seed=[1, 2, 3])
    native.reset(seed=0)
    with pytest.raises(ValueError, match="expected 2 actions, got 1"):
        native.step([NONSENSE])
