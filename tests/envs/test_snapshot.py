"""Snapshots lead back to where they were taken, byte for byte."""

from __future__ import annotations

import pickle
import random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wrappers.worlds import NONSENSE, draw
from textcraft_gym.registration import BUNDLED, find

ENVS: dict[tuple[str, int], gym.Env] = {}
every_id = pytest.mark.parametrize("env_id", BUNDLED)


def env_of(env_id: str, number: int = 0) -> gym.Env:
    """One for all examples of a property, since making the first of a game takes a while."""
    if (env_id, number) not in ENVS:
        ENVS[env_id, number] = (
            find(env_id).make(admissible=True, expert=True, render_mode="ansi").unwrapped
        )
    return ENVS[env_id, number]


def play(env: gym.Env, number: random.Random, count: int, info: dict[str, Any]) -> list:
    seen: list = []
    while len(seen) < count and not info["won"] and info["admissible_commands"]:
        step = env.step(draw(env, info, number))
        seen.append((step, env.render()))
        info = step[4]
    return seen


def rest(env: gym.Env, seed: int, info: dict[str, Any]) -> list:
    """What random actions lead to from here, and the series of resets after it."""
    return [
        env.render(),
        *play(env, random.Random(seed), 8, info),
        env.reset(),
        env.reset(),
        env.np_random_seed,
    ]


@every_id
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**31), before=st.integers(0, 12), other=st.integers(0, 2**31))
def test_restore__goes_on_as_the_first_time(env_id, seed, before, other):
    env, twin = env_of(env_id), env_of(env_id, 1)
    info = env.reset(seed=seed)[1]
    for step, _ in play(env, random.Random(seed), before, info):
        info = step[4]
    snapshot = env.snapshot()
    first = rest(env, other, info)
    env.reset(seed=other)
    env.step(NONSENSE)
    env.restore(snapshot)
    assert env.snapshot() == snapshot
    assert rest(env, other, info) == first
    twin.restore(pickle.loads(pickle.dumps(snapshot)))
    assert rest(twin, other, info) == first


@every_id
def test_snapshot__is_small_and_is_not_changed_by_play(env_id):
    env = find(env_id).make(admissible=True, expert=True)
    info = env.reset(seed=0)[1]
    take = env.get_wrapper_attr("snapshot")
    snapshot = take()
    before = pickle.dumps(snapshot)
    assert hash(snapshot) == hash(take())
    for action in info["expert_plan"]:
        env.step(action)
    assert pickle.dumps(snapshot) == before
    assert take() != snapshot
    assert len(before) < 8_000


@every_id
def test_restore__to_the_end_of_an_episode_is_over(env_id):
    env = find(env_id).make(expert=True)
    info = env.reset(seed=2)[1]
    while not info["won"]:
        info = env.step(info["expert_plan"][0])[4]
    snapshot = env.get_wrapper_attr("snapshot")()
    env.reset(seed=3)
    env.get_wrapper_attr("restore")(snapshot)
    with pytest.raises(ResetNeeded):
        env.step(NONSENSE)
    assert env.get_wrapper_attr("snapshot")() == snapshot


@every_id
def test_restore__in_an_environment_that_tells_less_or_has_another_split_plays_the_same_task(
    env_id,
):
    env = find(env_id).make(expert=True, admissible=True)
    info = env.reset(seed=5)[1]
    env.step(info["expert_plan"][0])
    plain = find(env_id).make(
        split={"ALFWorld-v0": "train", "MineTechTree-v0": "MT8"}.get(env_id, "test")
    )
    plain.reset(seed=0)
    plain.get_wrapper_attr("restore")(env.get_wrapper_attr("snapshot")())
    for action in info["expert_plan"][1:]:
        observation, reward, terminated, _, info = plain.step(action)
        assert env.step(action)[:2] == (observation, reward)
    assert terminated
    assert "expert_plan" not in info


@every_id
def test_snapshot__without_an_episode_raises(env_id):
    with pytest.raises(ResetNeeded, match="snapshot"):
        find(env_id).make().unwrapped.snapshot()


@every_id
def test_restore__of_what_is_no_snapshot_of_this_game_raises_and_changes_nothing(env_id):
    env = find(env_id).make().unwrapped
    env.reset(seed=0)
    here = env.snapshot()
    other = find("TextCraft-v0" if env_id != "TextCraft-v0" else "ALFWorld-v0").make().unwrapped
    other.reset(seed=1)
    for wrong, said in (
        (other.snapshot(), "expected a snapshot of"),
        (None, "NoneType"),
        (tuple(here), "tuple"),
    ):
        with pytest.raises(ValueError, match=said):
            env.restore(wrong)
        assert env.snapshot() == here


@pytest.mark.parametrize(
    ("env_id", "arguments", "said"),
    [
        ("TextCraft-v0", {"distractors": 3}, "distractors=10.*distractors=3"),
        ("TextCraft-v0", {"tags": "item"}, "recipes="),
        ("ALFWorld-v0", {"dialect": "0.3"}, "dialect='0.4'.*dialect='0.3'"),
        ("WebShopLite-v0", {"mode": "text"}, "mode='react'.*mode='text'"),
        ("WebShopLite-v0", {"show_attrs": True}, "show_attrs=False.*show_attrs=True"),
    ],
)
def test_restore__of_the_same_game_with_other_arguments_raises(env_id, arguments, said):
    env, other = find(env_id).make().unwrapped, find(env_id).make(**arguments).unwrapped
    other.reset(seed=0)
    with pytest.raises(ValueError, match=said):
        env.restore(other.snapshot())


def test_restore__with_another_kind_of_random_numbers():
    env = find("TextCraft-v0").make().unwrapped
    env.reset(seed=0)
    env.np_random = np.random.Generator(np.random.MT19937(3))
    snapshot = env.snapshot()
    drawn = [env.reset() for _ in range(5)]
    env.restore(snapshot)
    assert [env.reset() for _ in range(5)] == drawn


def test_limit__counts_every_step_that_was_played():
    env = gym.make("TextCraft-v0", max_episode_steps=3)
    env.reset(seed=0)
    snapshot = env.get_wrapper_attr("snapshot")()
    for expected in (False, False, True):
        env.get_wrapper_attr("restore")(snapshot)
        assert env.step(NONSENSE)[3] is expected
