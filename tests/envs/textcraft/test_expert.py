"""The expert: a shortest plan from anywhere, kept up to date."""

from __future__ import annotations

import random

import gymnasium as gym
import pytest

from textcraft_gym import tasks
from textcraft_gym.envs.textcraft.expert import expert_plan
from textcraft_gym.envs.textcraft.rules import apply, world_of


def make(env_id: str) -> gym.Env:
    return gym.make(env_id, split="all", expert=True, admissible=True)


@pytest.mark.parametrize("split", ["dev", "test", "all"])
def test_plan__wins_every_task_in_as_many_steps_as_it_should(env_id, split):
    env = gym.make(env_id, split=split, expert=True)
    for task in tasks(env_id, split):
        plan = env.reset(seed=0, options={"task": task.id})[1]["expert_plan"]
        assert len(plan) == task.optimal_length
        results = [env.step(action) for action in plan]
        assert [result[1] for result in results] == [0.0] * (len(plan) - 1) + [1.0]
        assert [result[2] for result in results] == [False] * (len(plan) - 1) + [True]


def test_plan__shrinks_by_one_when_followed(env_id):
    env = make(env_id)
    for task in env.unwrapped.tasks[::7]:
        info = env.reset(seed=0, options={"task": task.id})[1]
        while info["expert_plan"]:
            action, *rest = info["expert_plan"]
            info = env.step(action)[4]
            assert info["expert_plan"] == rest
        assert info["won"]


def test_plan__follows_whatever_is_done_instead(env_id):
    """One action brings the goal at most one action nearer, and following the plan after it always
    wins."""
    env = make(env_id)
    for task in env.unwrapped.tasks[::2]:
        generator = random.Random(task.id)
        info = env.reset(seed=0, options={"task": task.id})[1]
        won = False
        for _ in range(12):
            before = len(info["expert_plan"])
            _, _, won, _, info = env.step(
                generator.choice([*info["admissible_commands"], info["expert_plan"][0]])
            )
            assert len(info["expert_plan"]) >= before - 1
            if won:
                break
        for left in range(len(info["expert_plan"]), 0, -1):
            assert len(info["expert_plan"]) == left
            _, _, won, _, info = env.step(info["expert_plan"][0])
        assert won
        assert info["expert_plan"] == []


def test_plan__does_not_change_when_nothing_is_done(env_id):
    env = make(env_id)
    plan = env.reset(seed=0, options={"task": tasks(env_id, "test")[5].id})[1]["expert_plan"]
    for action in ("inventory", "get 0 stick", "hello"):
        assert env.step(action)[4]["expert_plan"] == plan


def test_plan__of_a_returned_info_is_the_callers_own(env_id):
    env = make(env_id)
    info = env.reset(seed=0)[1]
    plan = list(info["expert_plan"])
    info["expert_plan"][:] = ["inventory", "hello"]
    info["admissible_commands"].clear()
    info = env.step("inventory")[4]
    assert info["expert_plan"] == plan
    assert info["admissible_commands"][0] == "inventory"


def test_plan__from_any_inventory_wins_in_its_length(book):
    """What is held is used: things of the goal's tree in any numbers, and things that are of no
    use."""
    generator = random.Random(0)
    goals = [item for item, depth in book.depths.items() if depth >= 2]
    for goal in goals:
        parts = sorted({item for part in book.tree(goal) for item in uses(book, part)} - {goal})
        useful = [generator.choice(parts) for _ in range(4)]
        held = {
            item: generator.randrange(1, 6)
            for item in [*useful, generator.choice(sorted(book.names))]
        }
        held.pop(goal, None)
        plan = expert_plan(book, goal, held)
        assert len(plan) <= len(expert_plan(book, goal, {}))
        inventory = dict(held)
        for action in plan:
            assert goal not in inventory
            inventory, _, reason, _ = apply(world_of(book), inventory, action)
            assert not reason
        assert goal in inventory


def uses(book, output: str) -> set[str]:
    slots = (slot for recipe in book.recipes[output] for slot in recipe.slots)
    return {item for slot in slots for item in book.members[slot.ingredient]}


def test_plan__is_given_only_when_asked_for(env_id):
    assert "expert_plan" not in gym.make(env_id).reset(seed=0)[1]
