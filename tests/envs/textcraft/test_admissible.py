"""The commands on offer: they work, none that a shown line allows is missing, and a player could
make the same list."""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import product

import gymnasium as gym
import pytest

from textcraft_gym.recipes import RecipeBook

from . import reference
from .test_generator import commands

STEPS = 25


def walk(env_id: str, every: int):
    """Play random admissible actions in some tasks; yield book, prompt, what is held and what is on
    offer."""
    env = gym.make(env_id, split="all", admissible=True)
    book = env.unwrapped.book
    for task in env.unwrapped.tasks[::every]:
        generator = random.Random(task.id)
        text, info = env.reset(seed=1, options={"task": task.id})
        held: reference.Held = []
        for _ in range(STEPS):
            offered = info["admissible_commands"]
            yield book, text, held, offered
            crafts = [command for command in offered if command.startswith("craft")]
            action = generator.choice(crafts if crafts and generator.random() < 0.4 else offered)
            held, expected = reference.answer(book, held, action)
            observation, _, terminated, _, info = env.step(action)
            assert observation == expected
            if terminated:
                break


def working(observation: str) -> bool:
    return observation.startswith(("Got ", "Crafted ", "Inventory"))


def fillings(book: RecipeBook, recipe) -> list[dict[str, int]]:
    """Every way to fill the slots of a recipe, each with one kind."""
    ways = product(*(book.members[slot.ingredient] for slot in recipe.slots))
    return [
        {item: slot.amount for item, slot in zip(way, recipe.slots, strict=True)} for way in ways
    ]


def in_parts(craft: str) -> tuple[str, frozenset[str]]:
    made, _, using = craft.partition(" using ")
    return made, frozenset(using.split(", "))


def shown_recipes(book: RecipeBook, text: str) -> list:
    return [by_line(book)[line] for line in commands(text)]


@lru_cache(maxsize=1)
def by_line(book: RecipeBook) -> dict:
    recipes = [recipe for recipes in book.recipes.values() for recipe in recipes]
    return {reference.command(recipe): recipe for recipe in recipes}


def test_offer__works_when_played(env_id):
    crafts = 0
    for book, _, held, offered in walk(env_id, every=4):
        assert offered[0] == "inventory"
        assert len(set(offered)) == len(offered)
        for command in offered:
            assert working(reference.answer(book, held, command)[1]), command
            crafts += command.startswith("craft")
    assert crafts > 1000


def test_craft__is_on_offer_in_each_way_that_works(env_id):
    """Against brute force over the members of tags; with real tags a mix is offered only where no
    kind is enough."""
    for book, text, held, offered in walk(env_id, every=13):
        crafts = {in_parts(command) for command in offered if command.startswith("craft")}
        counts = dict(held)
        possible = set()
        for recipe in shown_recipes(book, text):
            made = f"craft {recipe.makes} {reference.name(recipe.output)}"
            for way in fillings(book, recipe):
                using = [f"{count} {reference.name(item)}" for item, count in way.items()]
                if working(reference.answer(book, held, f"{made} using {', '.join(using)}")[1]):
                    possible.add((made, frozenset(using)))
        assert possible <= crafts
        if env_id == "TextCraft-v0":
            assert crafts == possible
            continue
        mixed = {made for made, _ in crafts - possible}
        enough = {
            f"craft {recipe.makes} {reference.name(recipe.output)}"
            for recipe in shown_recipes(book, text)
            if all(
                sum(counts.get(item, 0) for item in book.members[kind]) >= n
                for kind, n in recipe.slots
            )
        }
        assert mixed <= enough <= {made for made, _ in crafts}


def test_craft__mixes_members_where_no_kind_is_enough():
    env = gym.make("TextCraftTags-v0", split="all", admissible=True)
    env.reset(seed=0, options={"task": "minecraft:note_block"})
    for action in (
        "get 1 oak log",
        "get 1 birch log",
        "get 1 redstone",
        "craft 4 oak planks using 1 oak log",
    ):
        env.step(action)
    offered = env.step("craft 4 birch planks using 1 birch log")[4]["admissible_commands"]
    mixed = "craft 1 note block using 4 oak planks, 4 birch planks, 1 redstone"
    assert mixed in offered
    assert env.step(mixed)[1:3] == (1.0, True)


def test_get__is_on_offer_for_all_that_the_shown_lines_take_and_that_can_be_got(env_id):
    """Made from the text of the reset alone, as a player would make it, trying out what can be
    got."""
    for book, text, _, offered in walk(env_id, every=4):
        legends = (
            dict(line.split(": ") for line in text.split("\n\n")[1].split("\n"))
            if text.count("\n\n") > 1
            else {}
        )
        expected = set()
        for line in commands(text):
            for part in line.split(" using ")[1].split(", "):
                count, name = part.split(" ", 1)
                for item in legends.get(name, name.replace(" or ", ", ")).split(", "):
                    if working(reference.answer(book, [], f"get {count} {item}")[1]):
                        expected.add(f"get {count} {item}")
        gets = {command for command in offered if command.startswith("get")}
        assert expected <= gets
        # The others are whole counts, of items that the shown lines take in another count.
        assert {item_of(command) for command in gets} == {item_of(command) for command in expected}


def item_of(get: str) -> str:
    return get.split(" ", 2)[2]


@pytest.mark.parametrize(
    ("goal", "whole"),
    [
        ("acacia_stairs", {"get 2 acacia logs"}),  # 6 planks, of which a log makes 4
        (
            "acacia_fence",
            {"get 2 acacia logs", "get 4 bamboo"},
        ),  # 4 planks and 2 sticks, which are made of either
        ("blue_ice", {"get 81 ice"}),
        ("anvil", {"get 31 iron ingot"}),  # three blocks of 9, and 4 more
        ("brick_stairs", {"get 24 brick"}),
        ("purple_bed", {"get 12 string"}),
    ],
)
def test_get__is_on_offer_in_the_count_that_a_craft_takes_through_others(
    goal: str, whole: set[str]
):
    env = gym.make("TextCraft-v0", split="all", admissible=True, distractors=0)
    prompt, info = env.reset(seed=0, options={"task": f"minecraft:{goal}"})
    listed = {
        f"get {part}" for line in commands(prompt) for part in line.split(" using ")[1].split(", ")
    }
    gets = {command for command in info["admissible_commands"] if command.startswith("get")}
    assert whole <= gets - listed


def test_offer__is_made_without_the_expert(env_id, monkeypatch):
    with_expert = gym.make(env_id, admissible=True, expert=True).reset(seed=2)[1][
        "admissible_commands"
    ]

    def consulted(*_):
        raise AssertionError("the expert was consulted")

    monkeypatch.setattr("textcraft_gym.envs.textcraft.env.expert_plan", consulted)
    monkeypatch.setattr("textcraft_gym.envs.textcraft.expert.shortest_plan", consulted)
    env = gym.make(env_id, admissible=True)
    info = env.reset(seed=2)[1]
    assert info["admissible_commands"] == with_expert
    assert "expert_plan" not in info
    assert "admissible_commands" in env.step(with_expert[1])[4]


def test_offer__is_made_only_when_asked_for(env_id):
    env = gym.make(env_id)
    infos = [env.reset(seed=0)[1], env.step("inventory")[4]]
    assert [sorted(info) for info in infos] == [["task", "won"], ["task", "won"]]


@pytest.mark.parametrize("distractors", [0, 10])
def test_offer__has_the_plan_of_the_expert(distractors):
    env = gym.make(
        "TextCraft-v0", split="all", admissible=True, expert=True, distractors=distractors
    )
    for task in env.unwrapped.tasks[::5]:
        info, terminated = env.reset(seed=0, options={"task": task.id})[1], False
        for _ in range(task.optimal_length):
            action = info["expert_plan"][0]
            assert action in info["admissible_commands"]
            _, _, terminated, _, info = env.step(action)
        assert terminated
