"""Made recipes as worlds: the contract of environments, every task won by its expert, and no task
in two of them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import gymnasium as gym
import pytest

import textcraft_gym
from textcraft_gym.cli.demonstrations import demonstrations
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate
from textcraft_gym.task import task_hash
from textcraft_gym.testing import EnvContract
from textcraft_gym.verify.recheck import verify

IDS = ("TextCraft-v0", "TextCraftTags-v0")
RECIPES = "made:depth=5,items=60,seed=3"


class TestMade(EnvContract):
    env_id = "TextCraft-v0"
    env_args = {"recipes": RECIPES}


class TestMadeTags(EnvContract):
    env_id = "TextCraftTags-v0"
    env_args = {"recipes": "made:depth=3,items=60,seed=7,names=borrowed"}


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize(
    "recipes",
    [
        "made:depth=1,items=10",
        "made:depth=12,items=90,seed=4",
        "made:depth=8,items=150,seed=3,names=borrowed",
        "made:depth=4,items=60,branching=4",
    ],
)
def test_expert__wins_every_task_of_every_split_in_as_few_actions_as_are_told(
    env_id: str, recipes: str
) -> None:
    won = set()
    for split in ("train", "dev", "test"):
        env = gym.make(env_id, split=split, recipes=recipes, expert=True)
        for task in env.get_wrapper_attr("tasks"):
            prompt, info = env.reset(seed=1, options={"task": task.id})
            assert prompt.endswith(
                f"Goal: craft {task.id.removeprefix('minecraft:').replace('_', ' ')}."
            )
            step = (prompt, 0.0, False, False, info)
            for action in info["expert_plan"]:
                assert not step[2]
                step = env.step(action)
            assert step[1:4] == (1.0, True, False)
            assert step[0] == f"Crafted {action.split()[1]} {task.id}"
            assert len(info["expert_plan"]) == task.optimal_length < 100
            won.add(task.id)
    assert won == {task.id for task in textcraft_gym.tasks(env_id, recipes=recipes)}


@pytest.mark.parametrize("env_id", IDS)
def test_task_hash__is_shared_by_no_two_seeds(env_id: str) -> None:
    worlds = [
        f"made:depth=3,items=80,seed={seed},names={names}"
        for seed in range(6)
        for names in ("invented", "borrowed")
    ]
    hashes = [
        {task_hash(env_id, task) for task in textcraft_gym.tasks(env_id, recipes=recipes)}
        for recipes in worlds
    ]
    hashes.append({task_hash(env_id, task) for task in textcraft_gym.tasks(env_id)})
    assert all(hashes)
    assert all(first.isdisjoint(second) for first, second in combinations(hashes, 2))


def test_make_splits__divides_a_made_world(tmp_path: Path) -> None:
    made = textcraft_gym.make_splits(recipes=RECIPES, out=tmp_path / "my.jsonl")
    env = gym.make("TextCraft-v0", split=f"{tmp_path}/my.jsonl:train", recipes=RECIPES)
    assert tuple(task.id for task in env.get_wrapper_attr("tasks")) == made.splits["train"]


def test_run__of_a_made_world_is_verified(tmp_path: Path) -> None:
    spec = RunSpec("TextCraft-v0", "test", "expert", env_args={"recipes": RECIPES})
    records = evaluate(spec, tmp_path)
    assert records
    assert all(record["won"] for record in records)
    verified = verify(tmp_path)
    assert verified.episodes == len(records)
    assert not verified.differences
    assert not verified.unverifiable


def test_demonstrations__are_made_of_a_made_world() -> None:
    plays = list(demonstrations("TextCraft-v0", "train", thoughts=True, recipes=RECIPES))
    assert {demonstration["task"] for demonstration in plays} == {
        task.id for task in textcraft_gym.tasks("TextCraft-v0", "train", recipes=RECIPES)
    }
