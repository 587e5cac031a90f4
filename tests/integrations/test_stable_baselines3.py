"""A vector of games as Stable-Baselines3's own ``DummyVecEnv`` of single environments would be."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from textcraft_gym.errors import UnknownName
from textcraft_gym.registration import BUNDLED
from textcraft_gym.vector import TextVectorEnv
from textcraft_gym.wrappers import ActionMasking, TokenIds

pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 (extra [rl]) is not installed")

from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import DummyVecEnv

from textcraft_gym.integrations.stable_baselines3 import SB3VecEnv, make_env, make_vec

COUNT = 3
TASKS = ["minecraft:ladder", "minecraft:beehive", "minecraft:acacia_boat"]


def encoded(env: gym.Env[str, str]) -> gym.Env[Any, Any]:
    return ActionMasking(TokenIds(env, length=64), n=96)


def single(env_id: str) -> gym.Env[Any, Any]:
    return encoded(gym.make(env_id, admissible=True, max_episode_steps=4))


@pytest.mark.parametrize("env_id", BUNDLED)
def test_sync__equals_a_dummy_vec_env(env_id):
    dummy = DummyVecEnv([partial(single, env_id)] * COUNT)
    vector = gym.make_vec(
        env_id,
        COUNT,
        "sync",
        {"autoreset_mode": "SameStep"},
        [encoded],
        admissible=True,
        max_episode_steps=4,
    )
    ours = SB3VecEnv(vector)
    for each in (dummy, ours):
        each.seed(5)
    same(dummy.reset(), ours.reset())
    same(dummy.reset_infos, ours.reset_infos)
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(15):
        masks = dummy.env_method("action_masks")
        same(masks, ours.env_method("action_masks"))
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        expected, seen = dummy.step(actions), ours.step(actions)
        same(expected, seen)
        same(dummy.reset_infos, ours.reset_infos)
        ends += int(expected[2].sum())
    assert ends >= COUNT
    assert ours.env_is_wrapped(TokenIds) == dummy.env_is_wrapped(TokenIds) == [True] * COUNT
    ours.close()


def same(part: Any, other: Any) -> None:
    """Raise unless two parts of a step are equal."""
    if isinstance(part, dict):
        assert part.keys() == other.keys()
        for key in part:
            same(part[key], other[key])
    elif isinstance(part, (list, tuple)):
        assert len(part) == len(other)
        for left, right in zip(part, other, strict=True):
            same(left, right)
    else:
        assert np.array_equal(part, other), (part, other)


@pytest.mark.parametrize("form", ["dict", "list"])
def test_native__plays_text_and_a_task_for_each(form):
    ours = SB3VecEnv(
        TextVectorEnv(
            "TextCraft-v0", COUNT, max_episode_steps=2, autoreset_mode="SameStep", infos=form
        )
    )
    ours.seed(1)
    ours.set_options([{"task": task} for task in TASKS])
    first = ours.reset()
    for index, task in enumerate(TASKS):
        assert (
            first[index]
            == gym.make("TextCraft-v0").reset(seed=1 + index, options={"task": task})[0]
        )
    assert [info["task"] for info in ours.reset_infos] == TASKS
    ours.step(["get 1 string"] * COUNT)
    seen, rewards, over, infos = ours.step(["inventory"] * COUNT)
    assert over.all()
    assert rewards.dtype == np.float32
    assert [info["terminal_observation"] for info in infos] == ["Inventory: [string] (1) "] * COUNT
    assert [(info["task"], info["TimeLimit.truncated"]) for info in infos] == [
        (task, True) for task in TASKS
    ]
    assert all(text.startswith("Crafting commands") for text in seen)
    assert ours.get_attr("distractors") == [10] * COUNT


def test_vector__without_the_autoreset_of_the_framework_is_refused():
    with pytest.raises(ValueError, match="SameStep"):
        SB3VecEnv(TextVectorEnv("TextCraft-v0", 2))


def test_options__that_differ_in_a_sync_vector_are_refused():
    ours = SB3VecEnv(gym.make_vec("TextCraft-v0", 2, "sync", {"autoreset_mode": "SameStep"}))
    ours.set_options([{"task": TASKS[0]}, {"task": TASKS[1]}])
    with pytest.raises(ValueError, match="same options"):
        ours.reset()


def test_algorithm__learns_on_a_vector():
    contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib (extra [rl]) is not installed")
    vector = gym.make_vec(
        "TextCraft-v0", 2, "sync", {"autoreset_mode": "SameStep"}, [encoded], admissible=True
    )
    model = contrib.MaskablePPO(
        "MultiInputPolicy", SB3VecEnv(vector), n_steps=16, batch_size=16, n_epochs=1
    )
    model.learn(64)
    assert model.num_timesteps == 64


@pytest.mark.parametrize("env_id", BUNDLED)
def test_make_env__makes_each_world_an_environment_of_numbers(env_id):
    env = make_env(env_id)
    check_env(env, skip_render_check=True)
    assert env.action_space == gym.spaces.Discrete(64)
    assert env.reset(seed=0)[0]["tokens"].shape == (128,)
    assert "shaping" not in env.step(0)[4]


def test_make_env__shapes_the_reward_for_a_discount_and_passes_arguments_on():
    env = make_env(
        "TextCraft-v0", length=16, actions=8, gamma=0.9, split="dev", max_episode_steps=3
    )
    env.reset(seed=0)
    assert env.step(0)[4]["shaping"] != 0
    assert (env.action_space.n, env.spec.max_episode_steps) == (8, 3)
    assert env.unwrapped.tasks == gym.make("TextCraft-v0", split="dev").unwrapped.tasks


@pytest.mark.parametrize("processes", [False, True])
def test_make_vec__plays_alike_in_one_process_and_in_many(processes):
    vector = make_vec("ALFWorld-v0", 2, processes=processes, max_episode_steps=3)
    vector.seed(4)
    seen = [vector.reset(), *(vector.step(np.array([turn, 1])) for turn in range(4))]
    alone = DummyVecEnv([partial(make_env, "ALFWorld-v0", max_episode_steps=3)] * 2)
    alone.seed(4)
    expected = [alone.reset(), *(alone.step(np.array([turn, 1])) for turn in range(4))]
    same(seen[0], expected[0])
    for (*step, infos), (*own, _) in zip(seen[1:], expected[1:], strict=True):
        same(step, own)
        assert [info["episode"]["l"] for info in infos if "episode" in info] == [3] * int(
            step[2].sum()
        )
    assert np.array(vector.env_method("action_masks")).shape == (2, 64)
    vector.close()


@pytest.mark.parametrize("algorithm", [PPO, A2C, DQN])
def test_algorithm__that_is_given_text_says_that_it_takes_none(algorithm):
    with pytest.raises(AssertionError, match=r"AnyText\(65536\) was provided"):
        algorithm("MlpPolicy", gym.make("TextCraft-v0"))
    numbered = ActionMasking(gym.make("TextCraft-v0", admissible=True), n=64)
    with pytest.raises(
        NotImplementedError, match=r"AnyText\(65536\) observation space is not supported"
    ):
        algorithm("MlpPolicy", numbered)


def test_make_env__names_the_arguments_that_there_are():
    with pytest.raises(UnknownName, match=r"'lenght'\. Did you mean length"):
        make_env("TextCraft-v0", lenght=8)
    with pytest.raises(UnknownName, match="SB3VecEnv takes a sync vector with wrappers"):
        make_env("TextCraft-v0", wrappers=[])
    assert make_env("TextCraft-v0", max_episode_steps=3).spec.max_episode_steps == 3
