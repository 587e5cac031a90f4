"""The commands that a prompt lists: every recipe of the goal's tree, and distractors.

Which distractors and in which order follows from the goal and one random word alone.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import NamedTuple

from textcraft_gym.envs.shuffle import shuffle
from textcraft_gym.recipes.book import RecipeBook
from textcraft_gym.recipes.recipe import Ingredient, Recipe

DISTRACTORS = 10


class Kitchen(NamedTuple):
    """What the prompts of one goal are drawn from.

    Attributes:
        gold: The recipes of the goal's tree.
        users: For each ingredient in ``gold``, every recipe that shows it.
    """

    gold: tuple[int, ...]
    users: tuple[tuple[int, ...], ...]


@lru_cache(maxsize=64)
def all_recipes(book: RecipeBook) -> tuple[Recipe, ...]:
    """Return the recipes of the book in order; elsewhere in this module a recipe is its number in this."""
    return tuple(recipe for recipes in book.recipes.values() for recipe in recipes)


def choose(book: RecipeBook, goal: str, word: int, distractors: int = DISTRACTORS) -> list[int]:
    """Return the numbers of the recipes to list, in order.

    For each ingredient of the gold recipes, up to ``distractors`` recipes that use it are drawn, and of those that are
    not gold, up to ``distractors`` are listed.
    """
    gold, users = kitchen(book, goal)
    number = random.Random(f"{goal}/{word}").random
    candidates: dict[int, None] = {}
    for recipes in users:
        chosen = recipes if len(recipes) <= distractors else shuffle(number, recipes)[:distractors]
        candidates.update(dict.fromkeys(chosen))
    for recipe in gold:
        candidates.pop(recipe, None)
    return shuffle(number, (*gold, *shuffle(number, tuple(candidates))[:distractors]))


@lru_cache(maxsize=4096)
def kitchen(book: RecipeBook, goal: str) -> Kitchen:
    """Return what the prompts of ``goal`` are drawn from."""
    numbers = {recipe.id: number for number, recipe in enumerate(all_recipes(book))}
    gold = [recipe for item in book.tree(goal) for recipe in book.recipes[item]]
    ingredients = dict.fromkeys(slot.ingredient for recipe in gold for slot in recipe.slots)
    users = _users(book)
    return Kitchen(
        tuple(sorted(numbers[recipe.id] for recipe in gold)), tuple(users[ingredient] for ingredient in ingredients)
    )


@lru_cache(maxsize=64)
def _users(book: RecipeBook) -> dict[Ingredient, tuple[int, ...]]:
    users: dict[Ingredient, list[int]] = {}
    for number, recipe in enumerate(all_recipes(book)):
        for slot in recipe.slots:
            users.setdefault(slot.ingredient, []).append(number)
    return {ingredient: tuple(numbers) for ingredient, numbers in users.items()}
