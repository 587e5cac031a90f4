"""Many games in one call are as many played one by one."""

from __future__ import annotations

import json
import random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

import textcraft_gym
from tests.test_all_envs import CONTEXT
from textcraft_gym import UnknownName
from textcraft_gym.errors import Unsupported
from textcraft_gym.registration import BUNDLED, SUITE
from textcraft_gym.vector import TextVectorEnv

NONSENSE = "no such action"


def same(value: Any, other: Any) -> bool:
    """Whether two parts of a step are equal, down to the types of arrays."""
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(same(value[key], other[key]) for key in value)
    if isinstance(value, tuple):
        return len(value) == len(other) and all(map(same, value, other))
    if isinstance(value, np.ndarray):
        return value.dtype == other.dtype and repr(value.tolist()) == repr(other.tolist())
    return type(value) is type(other) and value == other


@pytest.mark.parametrize(
    ("limit", "settings"),
    [(None, {}), (3, {"expert": True, "admissible": True}), (-1, {})],
    ids=["plain", "told", "endless"],
)
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("env_id", BUNDLED)
def test_native__plays_as_the_sync_one(env_id, mode, settings, limit):
    def make_sync(**arguments: bool) -> Any:
        steps, modes = limit or SUITE[env_id].max_episode_steps, {"autoreset_mode": mode}
        return gym.make_vec(env_id, 4, "sync", modes, max_episode_steps=steps, **arguments)

    sync, guide = make_sync(**settings), make_sync(expert=True)
    native = TextVectorEnv(
        env_id, 4, max_episode_steps=limit, autoreset_mode=mode.value, **settings
    )
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


@pytest.mark.parametrize("env_id", BUNDLED)
@pytest.mark.parametrize("number", range(2))
def test_native__resets_some_as_the_sync_one(env_id, number):
    """Without an autoreset, and with random masks, tasks and actions."""
    modes = {"autoreset_mode": AutoresetMode.DISABLED}
    sync = gym.make_vec(env_id, 4, "sync", modes, max_episode_steps=4, admissible=True)
    native = TextVectorEnv(
        env_id, 4, max_episode_steps=4, autoreset_mode="Disabled", admissible=True
    )
    listing = TextVectorEnv(
        env_id, 4, max_episode_steps=4, autoreset_mode="Disabled", admissible=True, infos="list"
    )
    assert native.metadata == sync.metadata
    rng = random.Random(number)
    for vector in (native, listing, sync):
        vector.reset(seed=number)
    over = np.ones(4, np.bool_)
    for _ in range(15):
        if over.any():
            # More may be reset than are over.
            mask = np.array([bool(value) or rng.random() < 0.3 for value in over])
            seeds = [rng.choice([None, 3, 5]) for _ in over]
            options = {"reset_mask": mask}
            seen, listed = (
                vector.reset(seed=seeds, options=dict(options)) for vector in (native, listing)
            )
            expected = sync.reset(seed=list(seeds), options=dict(options))
            over = over & ~mask
        else:
            actions = [
                rng.choice([*info.get("admissible_commands", ()), NONSENSE]) for info in listed[-1]
            ]
            seen, listed = native.step(actions), listing.step(actions)
            expected = sync.step(actions)
            over = expected[2] | expected[3]
        assert same(seen, expected), (seen, expected)
        assert listed[0] == seen[0]
        assert listed[-1] == sync_infos(expected[-1], 4)


def sync_infos(infos: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """The infos of single environments in those of a vector."""
    keys = [key for key in infos if f"_{key}" in infos]
    return [
        {key: plain(infos[key][index]) for key in keys if infos[f"_{key}"][index]}
        for index in range(count)
    ]


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def test_native__gathers_nested_infos_as_the_sync_one():
    sync = gym.make_vec("MineTechTree-v0", 3, "sync", costs=True)
    native = TextVectorEnv("MineTechTree-v0", 3, costs=True)
    assert same(native.reset(seed=2), sync.reset(seed=2))
    for action in ("mine 2 oak log", "hunt 1 beef", NONSENSE):
        assert same(native.step([action] * 3), sync.step([action] * 3))


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


@pytest.mark.parametrize("number", [np.int64, np.uint8, np.int32])
def test_reset__takes_the_integers_of_numpy(number):
    native = TextVectorEnv("TextCraft-v0", 2)
    expected = native.reset(seed=[3, 4])[0]
    for seed in (number(3), np.array([3, 4], number), [number(3), 4], (3, number(4))):
        assert native.reset(seed=seed)[0] == expected
    assert native.reset(seeds=[number(3), number(4)])[0] == expected
    single = gym.make("TextCraft-v0")
    assert single.reset(seed=number(3))[0] == expected[0]
    json.dumps(single.get_wrapper_attr("snapshot")())  # the seed in it is plain as well


def test_reset__takes_a_task_and_a_seed_for_each():
    native = TextVectorEnv("TextCraft-v0", 3)
    single = gym.make("TextCraft-v0")
    tasks, seeds = ["minecraft:beehive", None, "minecraft:ladder"], [7, 8, 9]
    seen, info = native.reset(tasks=tasks, seeds=seeds)
    for index, (task, seed) in enumerate(zip(tasks, seeds, strict=True)):
        observation, own = single.reset(seed=seed, options={"task": task} if task else None)
        assert (seen[index], info["task"][index]) == (observation, own["task"])


def test_reset__of_some_keeps_the_others():
    native = TextVectorEnv(
        "TextCraft-v0", 3, autoreset_mode="Disabled", infos="list", max_episode_steps=2
    )
    first, _ = native.reset(seed=0)
    native.step(["get 1 string"] * 3)
    mask = np.array([False, True, False])
    seen, infos = native.reset(tasks=[None, "minecraft:ladder", None], options={"reset_mask": mask})
    assert [bool(info) for info in infos] == [False, True, False]
    assert seen[0] == seen[2] == "Got 1 string"
    assert seen[1] != first[1]
    assert native.step(["inventory"] * 3)[3].tolist() == [True, False, True]
    with pytest.raises(ResetNeeded, match=r"\[0, 2\] are over"):
        native.step(["inventory"] * 3)


def test_envs__have_the_spec_and_the_arguments_of_single_ones():
    native = TextVectorEnv("TextCraftTags-v0", 3, split="test", render_mode="ansi")
    single = gym.make("TextCraftTags-v0", split="test", render_mode="ansi").unwrapped
    native.reset(seed=0)
    for env in native.envs:
        assert (env.spec.kwargs, env.tasks, env.render_mode) == (
            single.spec.kwargs,
            single.tasks,
            "ansi",
        )
    assert len({id(env) for env in native.envs}) == 3


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
    ("env_id", "depths", "mode"),
    [
        ("TextCraft-v0", (3, 4), "vector_entry_point"),
        ("TextCraft-v0", (3, 4), "sync"),
        ("TextCraft-v0", (3, 4), "async"),
        ("MineTechTree-v0", (2, 14), "vector_entry_point"),
    ],
)
def test_set_split__holds_for_the_next_episodes_in_any_vector(env_id, depths, mode):
    chosen = [task for task in textcraft_gym.tasks(env_id, "all") if task.depth in depths]
    vector: Any = gym.make_vec(env_id, 2, mode, {"context": CONTEXT} if mode == "async" else None)
    begun = vector.reset(seed=3)[1]["task"].tolist()
    assert vector.call("set_split", "all", depths=depths) == (None, None)
    assert vector.step([NONSENSE] * 2)[4]["task"].tolist() == begun
    drawn = {task for seed in range(8) for task in vector.reset(seed=5 * seed)[1]["task"]}
    assert len(drawn) > 1
    assert drawn <= {task.id for task in chosen}
    vector.set_attr("tasks", [chosen[:1], chosen[-1:]])
    assert vector.reset()[1]["task"].tolist() == [chosen[0].id, chosen[-1].id]
    vector.set_attr("tasks", [[chosen[-1].id], [chosen[0].id]])
    assert vector.reset()[1]["task"].tolist() == [chosen[-1].id, chosen[0].id]
    vector.close()


@pytest.mark.parametrize("mode", ["vector_entry_point", "sync"])
def test_set_attr__refuses_tasks_that_do_not_exist(mode):
    vector: Any = gym.make_vec("TextCraft-v0", 2, mode)
    with pytest.raises(UnknownName, match="Did you mean minecraft:beehive"):
        vector.set_attr("tasks", [["minecraft:behive"]] * 2)
    with pytest.raises(ValueError, match="one task or more"):
        vector.set_attr("tasks", [[]] * 2)
    vector.close()

    vector = gym.make_vec("HotpotQA-v0", 2, mode)
    with pytest.raises(Unsupported, match="its tasks are those of the split"):
        vector.set_attr("tasks", [[]] * 2)
    vector.close()


@pytest.mark.parametrize("env_id", BUNDLED)
def test_tasks__are_set_in_one_environment_as_in_many(env_id):
    env: Any = gym.make(env_id)
    first = env.unwrapped.tasks[0]
    if env_id in ("HotpotQA-v0", "WebShopLite-v0"):
        with pytest.raises(Unsupported, match="its tasks are those of the split"):
            env.unwrapped.tasks = [first]
        return
    for chosen in ([first.id], [first], (task for task in [first])):
        env.unwrapped.set_split("all")
        env.unwrapped.tasks = chosen
        assert [env.reset()[1]["task"] for _ in range(3)] == [first.id] * 3
    for wrong in (first.id, None, 3):
        with pytest.raises(ValueError, match="expected a list of tasks or of their ids, got"):
            env.unwrapped.tasks = wrong
    with pytest.raises(ValueError, match="expected one task or more, got none"):
        env.unwrapped.tasks = []
    with pytest.raises(UnknownName, match="unknown task 'nope'"):
        env.unwrapped.tasks = ["nope"]
    assert env.reset()[1]["task"] == first.id


@pytest.mark.parametrize("wrong", ["minecraft:beehive", ["task"], 3])
def test_reset__refuses_options_that_are_no_mapping(wrong):
    for env in (gym.make("TextCraft-v0"), gym.make_vec("TextCraft-v0", 2)):
        with pytest.raises(TypeError, match=r"expected options as in \{'task': '.*'\}, got "):
            env.reset(options=wrong)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"num_envs": 0}, "num_envs of 1 or more, got 0"),
        ({"num_envs": 2, "max_episode_steps": 0}, "max_episode_steps of 1 or more, or -1"),
        ({"num_envs": 2, "levle": 3}, "levle"),
        ({"num_envs": 2, "info": "list"}, "'info'. Did you mean infos"),
        ({"num_envs": 2, "wrappers": []}, 'vectorization_mode="sync"'),
        ({"num_envs": 2, "autoreset_mode": "SameStp"}, "SameStep"),
        ({"num_envs": 2, "infos": "lists"}, "list"),
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
    for seed in (3.0, "34", np.array(3)):
        with pytest.raises(TypeError, match="expected a seed, or one for each environment, got"):
            native.reset(seed=seed)
    with pytest.raises(ValueError, match="expected 2 tasks, got 1"):
        native.reset(tasks=["minecraft:ladder"])
    with pytest.raises(ValueError, match="seed or seeds"):
        native.reset(seed=1, seeds=[1, 2])
    with pytest.raises(ResetNeeded, match="reset all"):
        native.reset(options={"reset_mask": np.array([True, False])})
    for mask in (np.array([True]), np.array([False, False])):
        with pytest.raises(ValueError, match="reset_mask of 2 flags"):
            native.reset(options={"reset_mask": mask})
    with pytest.raises(TypeError, match="array of booleans"):
        native.reset(options={"reset_mask": [True, True]})
    native.reset(seed=0)
    with pytest.raises(ValueError, match="expected 2 actions, got 1"):
        native.step([NONSENSE])
