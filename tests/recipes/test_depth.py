"""Depth against its definition, computed another way: down from infinity until nothing changes."""

from __future__ import annotations

import math
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.recipes import Ingredient, Recipe, RecipeBook, Slot
from textcraft_gym.recipes.depth import recipe_depths


def depths_from_infinity(
    recipes: Mapping[str, tuple[Recipe, ...]], members: Mapping[Ingredient, tuple[str, ...]]
) -> dict[str, int]:
    depths: dict[str, float] = dict.fromkeys(recipes, math.inf)
    while True:
        better = {
            item: min(
                1
                + max(
                    min(depths.get(part, 0) for part in members[slot.ingredient])
                    for slot in recipe.slots
                )
                for recipe in alternatives
            )
            for item, alternatives in recipes.items()
        }
        if better == depths:
            return {item: int(depth) for item, depth in depths.items() if depth < math.inf}
        depths = better


def test_depth__is_the_definitions_on_both_books(book: RecipeBook) -> None:
    assert book.depths == depths_from_infinity(book.recipes, book.members)
    assert book.depths.keys() == book.recipes.keys()


ingredients = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True).map(tuple)
recipe_lists = st.lists(st.lists(ingredients, min_size=1, max_size=3), min_size=1, max_size=3)


@given(st.dictionaries(st.sampled_from("abcdef"), recipe_lists))
def test_depth__is_the_definitions_on_any_recipes_with_cycles_too(
    drawn: dict[str, list[list[Ingredient]]],
) -> None:
    recipes = {
        item: tuple(
            Recipe("", item, 1, "", tuple(Slot(part, 1) for part in parts))
            for parts in alternatives
        )
        for item, alternatives in drawn.items()
    }
    members = {
        part: part for alternatives in drawn.values() for parts in alternatives for part in parts
    }
    assert recipe_depths(recipes, members.__getitem__) == depths_from_infinity(recipes, members)


def test_depth__takes_the_shallowest_recipe_and_member_and_the_deepest_slot() -> None:
    def recipe(output: str, *slots: Ingredient) -> Recipe:
        return Recipe("", output, 1, "", tuple(Slot(slot, 1) for slot in slots))

    recipes = {
        "one": (recipe("one", ("base",)),),
        "two": (recipe("two", ("one",)),),
        "shallow slot": (recipe("shallow slot", ("two", "one")),),
        "deep slot": (recipe("deep slot", ("base",), ("two",)),),
        "either": (recipe("either", ("two",)), recipe("either", ("base",))),
        "loop": (recipe("loop", ("loop",)),),
    }
    assert recipe_depths(recipes, lambda ingredient: ingredient) == {
        "one": 1,
        "two": 2,
        "shallow slot": 2,
        "deep slot": 3,
        "either": 1,
    }
