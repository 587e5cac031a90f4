"""Recipe depth: the least number of nested crafts between base items and an item.

A base item has depth 0. A craftable item has the minimum over its recipes of 1 + the maximum over its slots of the
minimum over the members of the slot (ADaPT, section 4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from textcraft_gym.recipes.recipe import Ingredient, Recipe


def recipe_depths(
    recipes: Mapping[str, Iterable[Recipe]], members: Callable[[Ingredient], Iterable[str]]
) -> dict[str, int]:
    """Return the depth of every craftable item that can be derived from base items.

    Args:
        recipes: The recipes of each craftable item. Any other item is a base item.
        members: The items that fill an ingredient.

    Returns:
        The least fixpoint, level by level. A craftable item that is absent can only be made from itself.
    """
    depths: dict[str, int] = {}

    def known(recipe: Recipe) -> bool:
        return all(
            any(item in depths or item not in recipes for item in members(slot.ingredient)) for slot in recipe.slots
        )

    # Level by level, since items of a cycle would recurse without end.
    level = 0
    while True:
        level += 1
        reached = [item for item in recipes if item not in depths and any(map(known, recipes[item]))]
        if not reached:
            return depths
        depths.update(dict.fromkeys(reached, level))
