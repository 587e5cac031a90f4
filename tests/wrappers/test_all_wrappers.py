"""What every wrapper promises, alone and stacked, around every registered environment."""

from __future__ import annotations

import hashlib
import json
import pickle
import random
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Discrete
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import textcraft_gym.wrappers
from tests.wrappers.worlds import draw, steps
from textcraft_gym.registration import BUNDLED, find
from textcraft_gym.wrappers import (
    ActionMasking,
    HelpfulFeedback,
    MaskInObservation,
    SubgoalReward,
    TextHistory,
    ThinkActions,
    TokenIds,
    TranscriptRecorder,
)
from textcraft_gym.wrappers.text_wrapper import TextWrapper

Wrap = Callable[[gym.Env], gym.Env]
TOLD = {"admissible": True, "expert": True}
NULL = "/dev/null"
STACKS: dict[str, tuple[Wrap, ...]] = {
    "mask": (partial(ActionMasking, n=128),),
    "history": (partial(TextHistory, turns=3, max_length=2000),),
    "think": (ThinkActions,),
    "feedback": (HelpfulFeedback,),
    "reward": (partial(SubgoalReward, gamma=0.99),),
    "tokens": (partial(TokenIds, length=64, buckets=1000),),
    "recorder": (partial(TranscriptRecorder, path=NULL),),
    "all": (
        HelpfulFeedback,
        ThinkActions,
        partial(TranscriptRecorder, path=NULL),
        partial(TextHistory, turns=2),
        partial(SubgoalReward, gamma=0.99),
        partial(TokenIds, length=32, buckets=1000),
        partial(ActionMasking, n=128),
        MaskInObservation,
    ),
}
every_stack = pytest.mark.parametrize("stack", STACKS)
every_id = pytest.mark.parametrize("env_id", BUNDLED)


def wrapped(env_id: str, stack: str, **arguments: Any) -> gym.Env:
    env = find(env_id).make(**TOLD, **arguments)
    for wrap in STACKS[stack]:
        env = wrap(env)
    return env


def as_json(value: Any) -> Any:
    """The same value as JSON has it; an array as its type and numbers."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in sorted(value.items())}
    if isinstance(value, tuple | list):
        return [as_json(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def digest(seen: Any) -> str:
    return hashlib.sha256(json.dumps(as_json(seen)).encode()).hexdigest()


def test_stacks__have_every_wrapper():
    exported = {getattr(textcraft_gym.wrappers, name) for name in textcraft_gym.wrappers.__all__}
    wrappers = {
        member
        for member in exported
        if isinstance(member, type) and issubclass(member, TextWrapper)
    }
    assert {wrap.func if isinstance(wrap, partial) else wrap for wrap in STACKS["all"]} == wrappers
    for wrapper in wrappers:
        folder, module = wrapper.__module__.rsplit(".", 1)
        assert (folder, module.replace("_", "")) == (
            "textcraft_gym.wrappers",
            wrapper.__name__.lower(),
        )


@every_stack
@every_id
def test_check_env__has_nothing_to_say(env_id, stack):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What the checker asks for is that the environment itself is checked as well; that is done
        # elsewhere.
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version")
        check_env(wrapped(env_id, stack), skip_render_check=True)


@every_stack
@every_id
def test_spec__makes_it_again(env_id, stack):
    env = gym.make(env_id, **TOLD)
    for wrap in STACKS[stack]:
        env = wrap(env)
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert str(again) == str(env)
    for wrapped in (env, again):
        wrapped.reset(seed=2)
    assert digest(steps(again, 3)) == digest(steps(env, 3))


@every_stack
@every_id
@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps], ids=["pickle", "cloudpickle"])
def test_copy__in_the_middle_of_an_episode_goes_on_alike(env_id, stack, dumps):
    env = wrapped(env_id, stack)
    number = random.Random(0)
    info = env.reset(seed=1)[1]
    for _ in range(2):
        _, _, terminated, truncated, info = env.step(draw(env, info, number))
        if terminated or truncated:
            info = env.reset()[1]
    twin = pickle.loads(dumps(env))
    for _ in range(2):
        action = draw(env, info, random.Random(5))
        step = env.step(action)
        assert digest(twin.step(action)) == digest(step)
        info = step[4]
        if step[2] or step[3]:
            break
    assert digest(steps(twin, 3)) == digest(steps(env, 3))


@every_stack
@every_id
def test_observations_and_actions__are_in_the_spaces(env_id, stack):
    env = wrapped(env_id, stack)
    number = random.Random(3)
    observation, info = env.reset(seed=6)
    for _ in range(30):
        assert observation in env.observation_space
        action = draw(env, info, number)
        assert action in env.action_space
        observation, reward, terminated, truncated, info = env.step(action)
        assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)
        if terminated:
            observation, info = env.reset()


ENVS: dict[tuple[str, str], gym.Env] = {}


@every_stack
@every_id
@settings(deadline=None, max_examples=6)
@given(seed=st.integers(0, 2**31), before=st.integers(0, 6), other=st.integers(0, 2**31))
def test_restore__goes_on_as_the_first_time(env_id, stack, seed, before, other):
    if (env_id, stack) not in ENVS:
        ENVS[env_id, stack] = wrapped(env_id, stack)
    env = ENVS[env_id, stack]
    info = env.reset(seed=seed)[1]
    number = random.Random(seed)
    for _ in range(before):
        if info["won"] or not info["admissible_commands"]:
            break
        info = env.step(draw(env, info, number))[4]

    def rest() -> str:
        seen: list = []
        now, number = info, random.Random(other)
        while len(seen) < 6 and not now["won"] and now["admissible_commands"]:
            seen.append(env.step(draw(env, now, number)))
            now = seen[-1][4]
        return digest([seen, env.reset()])

    snapshot = env.get_wrapper_attr("snapshot")()
    first = rest()
    for moment in (snapshot, pickle.loads(pickle.dumps(snapshot))):
        env.reset(seed=other)
        env.get_wrapper_attr("restore")(moment)
        assert rest() == first


@every_stack
def test_restore__of_other_wrappers_raises(stack):
    env = wrapped("TextCraft-v0", stack)
    env.reset(seed=0)
    other = SubgoalReward(ThinkActions(find("TextCraft-v0").make(**TOLD)), 0.9)
    other.reset(seed=0)
    here = env.snapshot()
    for wrong in (other.snapshot(), env.unwrapped.snapshot(), None):
        with pytest.raises(
            ValueError, match=r"expected (a snapshot of|what snapshot\(\)|a Snapshot)"
        ):
            env.restore(wrong)
    assert env.snapshot() == here


def singles(env_id: str, stack: str, count: int) -> tuple[str, list[list]]:
    """Each of three environments played alone, and reset on the step after the end of an episode, as vectors do it.

    Returns:
        The digest of what was seen, and the actions, a row a step.
    """
    envs = [wrapped(env_id, stack) for _ in range(3)]
    numbers = [random.Random(seed) for seed in range(3)]
    rows: list = [[env.reset(seed=7 + place) for place, env in enumerate(envs)]]
    played: list[list] = []
    over = [False] * 3
    ignored = 0 if isinstance(envs[0].action_space, Discrete) else ""

    def play(place: int, action: Any) -> tuple:
        if not over[place]:
            return envs[place].step(action)
        observation, info = envs[place].reset()
        return observation, 0.0, False, False, info

    for _ in range(count):
        played.append(
            [
                ignored if over[place] else draw(env, rows[-1][place][-1], numbers[place])
                for place, env in enumerate(envs)
            ]
        )
        rows.append([play(place, action) for place, action in enumerate(played[-1])])
        over = [step[2] or step[3] for step in rows[-1]]
    return digest([[(*step[:-1], step[-1]["task"]) for step in row] for row in rows]), played


@pytest.mark.parametrize(
    ("stack", "mode", "arguments"),
    [
        *((stack, "sync", {}) for stack in ("mask", "history", "tokens", "all")),
        *((stack, "async", {"shared_memory": True}) for stack in ("mask", "history", "tokens")),
        # Without shared memory, a pipe takes whatever all wrappers together give.
        *(("all", "async", {"shared_memory": shared}) for shared in (True, False)),
    ],
)
@every_id
def test_vector__of_three_is_three_single_ones_by_digest(env_id, stack, mode, arguments):
    expected, played = singles(env_id, stack, 12)
    vector = gym.make_vec(
        env_id,
        3,
        mode,
        wrappers=STACKS[stack],
        vector_kwargs=arguments,
        max_episode_steps=-1,
        **TOLD,
    )
    rows: list = []

    def keep(observations: Any, others: tuple, info: dict[str, Any]) -> None:
        places = [
            {name: part[place] for name, part in observations.items()}
            if isinstance(observations, dict)
            else observations[place]
            for place in range(3)
        ]
        rows.append(
            [
                (observation, *(part[place] for part in others), info["task"][place])
                for place, observation in enumerate(places)
            ]
        )

    observations, info = vector.reset(seed=7)
    assert observations in vector.observation_space
    keep(observations, (), info)
    for moves in played:
        observations, *others, info = vector.step(
            np.array(moves) if isinstance(moves[0], int) else moves
        )
        keep(observations, tuple(others), info)
    assert digest(rows) == expected
    if stack in ("mask", "all"):
        assert np.array(vector.call("action_masks")).shape == (3, 128)
        assert (np.array(vector.call("action_masks")) == info["action_mask"]).all()
    vector.close()
