"""The commands that a prompt lists: every recipe of the goal's tree, and distractors.

Choice and order follow from the goal and one random integer alone.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import NamedTuple

from textcraft_gym.envs.shuffle import shuffle
from textcraft_gym.recipes.book import RecipeBook
from textcraft_gym.recipes.recipe import Ingredient, Recipe

# As in the published game, for each ingredient and for all together.
DISTRACTORS = 10


class RecipePool(NamedTuple):
    """The recipes that the prompts of one goal are drawn from.

    Attributes:
        goal_recipes: The recipes of the goal's tree.
        uses_of: For each ingredient of these, every recipe that uses it.
    """

    goal_recipes: tuple[int, ...]
    uses_of: tuple[tuple[int, ...], ...]


@lru_cache(maxsize=64)
def all_recipes(book: RecipeBook) -> tuple[Recipe, ...]:
    """Return the book's recipes in order; elsewhere in this module a recipe is its index here."""
    return tuple(recipe for recipes in book.recipes.values() for recipe in recipes)


def choose(
    book: RecipeBook,
    goal: str,
    draw: int,
    distractors: int = DISTRACTORS,
) -> list[int]:
    """Return the indices of the recipes to list, in order.

    For each ingredient of the goal's recipes, up to ``distractors`` recipes that use it are drawn,
    and of those that the goal does not need, up to ``distractors`` are listed.
    """
    goal_recipes, uses_of = recipe_pool(book, goal)
    # A text as the seed is hashed by SHA-512, the same in every process.
    rng = random.Random(f"{goal}/{draw}").random
    candidates: dict[int, None] = {}
    for recipes in uses_of:
        # A shuffle uses up random numbers, so that shuffling where there is no choice would change
        # the later draws.
        chosen = recipes if len(recipes) <= distractors else shuffle(rng, recipes)[:distractors]
        candidates.update(dict.fromkeys(chosen))

    # The goal's own recipes use its ingredients, too, but they are no distractors.
    for recipe in goal_recipes:
        candidates.pop(recipe, None)
    return shuffle(rng, (*goal_recipes, *shuffle(rng, tuple(candidates))[:distractors]))


@lru_cache(maxsize=4096)
def recipe_pool(book: RecipeBook, goal: str) -> RecipePool:
    """Return the recipes that the prompts of ``goal`` are drawn from."""
    indices = {recipe.id: index for index, recipe in enumerate(all_recipes(book))}
    uses = _uses(book)
    goal_recipes: list[int] = []
    # A dict, since it keeps the order.
    uses_of: dict[Ingredient, tuple[int, ...]] = {}
    for item in book.tree(goal):
        for recipe in book.recipes[item]:
            goal_recipes.append(indices[recipe.id])
            for ingredient, _ in recipe.slots:
                uses_of[ingredient] = uses[ingredient]
    return RecipePool(tuple(sorted(goal_recipes)), tuple(uses_of.values()))


@lru_cache(maxsize=64)
def _uses(book: RecipeBook) -> dict[Ingredient, tuple[int, ...]]:
    """Return for each ingredient the recipes that use it."""
    uses: dict[Ingredient, list[int]] = {}
    for index, recipe in enumerate(all_recipes(book)):
        for slot in recipe.slots:
            uses.setdefault(slot.ingredient, []).append(index)
    return {ingredient: tuple(indices) for ingredient, indices in uses.items()}
