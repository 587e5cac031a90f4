"""The text of a reset: which commands it lists, in which order, and every character of its form."""

from __future__ import annotations

import re

import gymnasium as gym
import pytest
from gymnasium.utils import seeding

from textcraft_gym import tasks

from . import reference


def prompt(env: gym.Env, task: str, seed: int = 0) -> str:
    return env.reset(seed=seed, options={"task": task})[0]


def commands(text: str) -> list[str]:
    return text.removeprefix("Crafting commands:\n").split("\n\n")[0].split("\n")


def gold_recipes(book, goal: str) -> list:
    """Every recipe of every item in the goal's tree, found anew."""
    recipes, pending = [], [goal]
    seen = {goal}
    while pending:
        for recipe in book.recipes[pending.pop()]:
            recipes.append(recipe)
            inside = {
                item
                for slot in recipe.slots
                for item in book.members[slot.ingredient]
                if item in book.recipes
            }
            pending += inside - seen
            seen |= inside
    return recipes


def shown_ingredients(lines: list[str]) -> list[set[str]]:
    using = (line.split(" using ")[1].split(", ") for line in lines)
    return [{part.split(" ", 1)[1] for part in parts} for parts in using]


@pytest.mark.parametrize("distractors", [0, 3, 10])
def test_commands__are_the_gold_ones_and_some_that_share_an_ingredient(env_id, distractors):
    env = gym.make(env_id, split="all", distractors=distractors)
    book = env.unwrapped.book
    known = {reference.command(recipe) for some in book.recipes.values() for recipe in some}
    full = 0
    for task in env.unwrapped.tasks:
        listed = commands(prompt(env, task.id))
        gold = [reference.command(recipe) for recipe in gold_recipes(book, task.id)]
        others = [line for line in listed if line not in gold]
        assert len(set(listed)) == len(listed)
        assert set(gold) <= set(listed)
        assert len(others) <= distractors
        full += len(others) == distractors
        needed = set().union(*shown_ingredients(gold))
        assert all(ingredients & needed for ingredients in shown_ingredients(others))
        assert set(others) <= known
    assert full > len(env.unwrapped.tasks) / 3


def test_commands__default_to_ten_distractors(env_id):
    default, ten = gym.make(env_id), gym.make(env_id, distractors=10)
    assert [default.reset(seed=seed)[0] for seed in range(20)] == [
        ten.reset(seed=seed)[0] for seed in range(20)
    ]


def test_distractors__are_not_negative(env_id):
    with pytest.raises(ValueError, match="expected distractors of 0 or more, got -1"):
        gym.make(env_id, distractors=-1)


def test_distractors__are_drawn_from_all_that_there_are(env_id):
    """Redstone lamp takes redstone, which 20 and more recipes take; over many seeds each of them
    shows."""
    env = gym.make(env_id)
    seen = {
        line
        for seed in range(150)
        for line in commands(prompt(env, "minecraft:redstone_lamp", seed))
    }
    book = env.unwrapped.book
    users = [
        reference.command(recipe)
        for recipes in book.recipes.values()
        for recipe in recipes
        if ("minecraft:redstone",) in [slot.ingredient for slot in recipe.slots]
    ]
    assert len(users) > 10
    assert set(users) <= seen


def test_order__puts_the_goal_anywhere(env_id):
    """No place of the list gives away which command is gold."""
    env = gym.make(env_id)
    places = {
        commands(text).index(
            next(line for line in commands(text) if " redstone lamp using " in line)
        )
        for text in (prompt(env, "minecraft:redstone_lamp", seed) for seed in range(200))
    }
    assert places >= set(range(8))


def test_text__depends_on_seed_and_task_alone(env_id):
    everything, dev = (
        gym.make(env_id, split="all"),
        gym.make(env_id, split="dev", admissible=True, expert=True),
    )
    for task in tasks(env_id, "dev")[::20]:
        texts = [prompt(dev, task.id, seed) for seed in range(5)]
        everything.reset()
        assert texts == [prompt(everything, task.id, seed) for seed in range(5)]
        assert len(set(texts)) > 1


def test_text__is_the_same_for_a_task_named_and_drawn(env_id):
    env = gym.make(env_id, split="test")
    for seed in range(50):
        text, info = env.reset(seed=seed)
        assert prompt(env, info["task"], seed) == text


def test_text__takes_only_raw_bits_from_the_generator_of_gymnasium(env_id, monkeypatch):
    """NumPy may change its distributions; its raw bits stay."""
    expected = [gym.make(env_id).reset(seed=seed)[0] for seed in range(5)]

    class Raw:
        def __init__(self, generator):
            self.random_raw = generator.bit_generator.random_raw

    class OnlyRaw:
        def __init__(self, generator):
            self.bit_generator = Raw(generator)

    genuine = seeding.np_random

    def np_random(seed=None):
        generator, used = genuine(seed)
        return OnlyRaw(generator), used

    monkeypatch.setattr(seeding, "np_random", np_random)
    env = gym.make(env_id)
    assert [env.reset(seed=seed)[0] for seed in range(5)] == expected


COMMAND = r"craft [1-9]\d* [a-z ]+ using [1-9] [a-z ]+(, [1-9] [a-z ]+)*"
LEGEND = r"[a-z ]+: [a-z ]+(, [a-z ]+)*"


def test_form__of_v0_is_commands_and_goal():
    env = gym.make("TextCraft-v0", split="all")
    for task in env.unwrapped.tasks:
        goal = reference.name(task.id)
        shape = f"Crafting commands:\n({COMMAND}\n)+\nGoal: craft {goal}\\."
        assert re.fullmatch(shape, prompt(env, task.id)), task


def test_form__of_tags_has_a_legend_for_each_tag_that_is_shown():
    env = gym.make("TextCraftTags-v0", split="all")
    book = env.unwrapped.book
    tags = {
        reference.ingredient_name(ingredient): ", ".join(map(reference.name, members))
        for ingredient, members in book.members.items()
        if ingredient[0].startswith("#")
    }
    with_legend = 0
    for task in env.unwrapped.tasks:
        goal, text = reference.name(task.id), prompt(env, task.id)
        shape = f"Crafting commands:\n({COMMAND}\n)+\n(({LEGEND}\n)+\n)?Goal: craft {goal}\\."
        assert re.fullmatch(shape, text), task
        paragraphs = text.split("\n\n")
        shown = set().union(*shown_ingredients(commands(text)))
        expected = [f"{tag}: {tags[tag]}" for tag in sorted(shown & tags.keys())]
        assert (paragraphs[1].split("\n") if len(paragraphs) == 3 else []) == expected
        with_legend += bool(expected)
    assert with_legend > 100


def test_alternatives__are_joined_by_or_in_tags_and_absent_in_v0():
    v0, tags = (
        prompt(gym.make(env_id, split="all"), "minecraft:fire_charge")
        for env_id in ("TextCraft-v0", "TextCraftTags-v0")
    )
    assert "craft 3 fire charge using 1 gunpowder, 1 blaze powder, 1 coal\n" in v0
    assert "craft 3 fire charge using 1 gunpowder, 1 blaze powder, 1 coal or charcoal\n" in tags


def test_length__of_the_longest_text_of_the_test_split():
    env = gym.make("TextCraft-v0", split="test")
    longest = max(
        len(prompt(env, task.id, seed)) for seed in range(3) for task in env.unwrapped.tasks
    )
    assert 3_000 <= longest <= 3_500
