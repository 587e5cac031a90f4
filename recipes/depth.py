"""Recipe depth: the least number of nested crafts between base items and an item.

A base item has depth 0. A craftable item has the minimum over its recipes of 1 + the maximum over
its slots of the minimum over the members of the slot (ADaPT, section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from textcraft_gym.recipes.recipe import Ingredient, Recipe, Slot


def recipe_depths(
    recipes: Mapping[str, Iterable[Recipe]],
    members: Callable[[Ingredient], Iterable[str]],
) -> dict[str, int]:
    """Return the depth of every craftable item that can be derived from base items.

    Args:
        recipes: The recipes of each craftable item. Any other item is a base item.
        members: The items that fill an ingredient.

    Returns:
        The least fixpoint, level by level. A craftable item that is absent can only be made from
        itself.
    """
    depths: dict[str, int] = {}

    def fillable(slot: Slot) -> bool:
        return any(item in depths or item not in recipes for item in members(slot.ingredient))

    def derivable(item: str) -> bool:
        return any(all(map(fillable, recipe.slots)) for recipe in recipes[item])

    consumers = _consumers(recipes, members)
    # Level by level, since items of a cycle would recurse without end. An item can only be reached
    # just after another one that it takes.
    level = 1
    candidates = dict.fromkeys(recipes)
    while reached := [item for item in candidates if item not in depths and derivable(item)]:
        depths.update(dict.fromkeys(reached, level))
        level += 1
        candidates = {}
        for item in reached:
            candidates.update(consumers.get(item, {}))
    return depths


def _consumers(
    recipes: Mapping[str, Iterable[Recipe]],
    members: Callable[[Ingredient], Iterable[str]],
) -> dict[str, dict[str, None]]:
    """Return the items that each item is an ingredient of, as dicts, which keep the order."""
    consumers: dict[str, dict[str, None]] = {}
    for output, alternatives in recipes.items():
        for recipe in alternatives:
            for slot in recipe.slots:
                for item in members(slot.ingredient):
                    consumers.setdefault(item, {})[output] = None
    return consumers
