"""What agents know of Minecraft is what its recipe JSON says, and what they read is what the
environment writes."""

from __future__ import annotations

import gymnasium as gym
import pytest

from textcraft_gym import tasks
from textcraft_gym.agents.games.crafting import Recipe, Want
from textcraft_gym.agents.games.minetechtree import knowledge
from textcraft_gym.agents.games.minetechtree.knowledge import (
    command,
    members,
    read_around,
    read_held,
    read_place,
    read_sight,
    scaled,
    source,
    ways,
)
from textcraft_gym.envs.minetechtree.costs import tools_for
from textcraft_gym.envs.minetechtree.facts import SOURCE_OF, TABLE, WOODS
from textcraft_gym.envs.minetechtree.tasks import PAPER_NAMES
from textcraft_gym.envs.minetechtree.techtree import Technique, tech_tree
from textcraft_gym.goals import has
from textcraft_gym.recipes.recipe import name_of

MADE = [
    item
    for item, way in ways().items()
    if way.verb in ("craft", "smelt") and members(item) == [item]
]


def fits(technique: Technique, way: Recipe) -> bool:
    """Whether a technique takes just what a way names, any member of a kind where the way names a
    kind."""
    names = tech_tree().names
    left = list(technique.slots)
    for part in way.parts:
        fitting = [
            slot for slot in left if {*members(part.item)} <= {names[item] for item in slot.members}
        ]
        if not fitting or fitting[0].amount != part.amount:
            return False
        left.remove(fitting[0])
    needs = {"craft": name_of(TABLE) * technique.at_table, "smelt": "furnace"}[technique.verb]
    return not left and (technique.makes, needs) == (way.makes.amount, way.tool)


@pytest.mark.parametrize("item", MADE)
def test_ways__are_those_of_the_recipes(item: str):
    way, tree = ways()[item], tech_tree()
    assert any(fits(technique, way) for technique in tree.of(way.verb, tree.ids[item])), way


def test_ways__of_what_is_got_are_those_of_the_world():
    got = {item: way for item, way in ways().items() if source(item)}
    assert {item: source(item) for item in got} == {
        name_of(id): origin.name for id, origin in SOURCE_OF.items()
    }
    for id, origin in SOURCE_OF.items():
        way = got[name_of(id)]
        assert (way.verb, way.makes.amount, way.parts) == (origin.verb, 1, ())
        assert way.tool == (name_of(tools_for(origin)[0]) if origin.level else "")


def test_ways__lead_to_every_task_and_come_to_an_end():
    def made(item: str, above: tuple[str, ...] = ()) -> None:
        assert item not in above
        way = ways()[item]
        for needed in (*(part.item for part in way.parts), *([way.tool] if way.tool else [])):
            made(needed, (*above, item))

    for task in tasks("MineTechTree-v0", split="all"):
        made(task.id.replace("_", " "))


def test_aliases__lead_to_what_is_known_and_hide_nothing():
    assert set(knowledge.ALIASES.values()) <= set(ways())
    assert not set(knowledge.ALIASES) & set(tech_tree().ids) - {"stone slab", "stone stairs"}
    for paper, name in PAPER_NAMES.items():
        assert knowledge.ALIASES[paper.replace("_", " ")] == name.replace("_", " ")


def test_woods_and_fuels__are_those_of_the_game():
    tree = tech_tree()
    assert {wood.replace("_", " ") for wood in WOODS} == set(knowledge.WOODS)
    for fuel, tenths in knowledge.FUELS.items():
        assert {tree.fuels[tree.ids[item]] for item in members(fuel)} == {tenths}


def test_texts__are_read_as_the_environment_writes_them():
    env = gym.make("MineTechTree-v0", expert=True, costs=True)
    observation, info = env.reset(seed=3, options={"task": "leather_boots"})
    around = read_around(observation)
    assert list(around.values()) == sorted(around.values())
    costs = info["costs"]
    assert {item: 5 * around[source(item)] for item in costs} == {
        item: walk for item, (walk, _) in costs.items()
    }
    assert read_held(env.step("inventory")[0]) == {}
    for action in [*info["expert_plan"][:3], "equip dark oak planks"]:
        env.step(action)
    held = {"leather": 4, "beef": 4, "dark oak planks": 4, "dark oak planks (equipped)": 1}
    assert read_held(env.step("inventory")[0]) == held
    assert read_held("Success: yes\nInventory: 1 shield (equipped)\nNext goal:") == {
        "shield": 1,
        "shield (equipped)": 1,
    }


@pytest.mark.parametrize("around", ["exact", "rough", "names"])
def test_view__is_read_however_distances_are_told(around: str):
    exact, env = (gym.make("MineTechTree-v0", around=each) for each in ("exact", around))
    for seed in range(10):
        known = read_around(exact.reset(seed=seed, options={"task": "diamond"})[0])
        said, _ = env.reset(seed=seed, options={"task": "diamond"})
        read = read_around(said)
        assert set(read) == set(known)
        assert read_sight(said) == around
        assert f"You are in the {read_place(said)}.\n" in said
        for name, steps in read.items():
            near = {
                "exact": known[name] == steps,
                "names": steps is None,
                "rough": steps in (10, 20, 40, 80, 160),
            }
            assert near[around]
    assert (read_around("hello"), read_sight("hello"), read_place("hello")) == ({}, "names", "")


def test_command__takes_what_is_named_and_of_what_is_held_most():
    stick = scaled(ways()["stick"], 10)
    assert (stick.makes, stick.parts) == (Want("stick", 12), (Want("planks", 6),))
    held = {"oak planks": 2, "birch planks": 5}
    assert command(stick, held) == "craft 12 stick using 5 birch planks, 1 oak planks"
    assert (
        command(stick, held, ["oak planks"]) == "craft 12 stick using 2 oak planks, 4 birch planks"
    )
    assert command(stick, {}) == "craft 12 stick using 6 oak planks"
    iron = scaled(ways()["iron ingot"], 3, "coal")
    assert command(iron, {}) == "smelt 3 iron ingot using 3 iron ore, 1 coal"
    assert command(ways()["iron ore"], {}) == "mine 1 iron ore with stone pickaxe"


def test_kinds__are_counted_together_and_nothing_else_is():
    held = {
        "smooth stone": 2,
        "stone": 1,
        "oak planks": 3,
        "birch planks": 1,
        "furnace minecart": 1,
    }
    assert [has(held, name) for name in ("stone", "planks", "minecart")] == [1, 4, 0]
