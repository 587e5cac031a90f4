"""Recipe depth: the least number of nested crafts between base items and an item.

A base item has depth 0. A craftable item has the minimum over its recipes of 1 + the maximum over
its slots of the minimum over the members of the slot (ADaPT, section 4.1).
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
        The least fixpoint, level by level. A craftable item that is absent can only be made from
        itself.
    """
    depths: dict[str, int] = {}

    def known(recipe: Recipe) -> bool:
        return all(
            any(item in depths or item not in recipes for item in members(slot.ingredient))
            for slot in recipe.slots
        )

    users: dict[str, dict[str, None]] = {}
    for output, some in recipes.items():
        for item in (
            item for recipe in some for slot in recipe.slots for item in members(slot.ingredient)
        ):
            users.setdefault(item, {})[output] = None
    # Level by level, since items of a cycle would recurse without end. An item can only be reached
    # just after another one that it takes.
    level, candidates = 1, dict.fromkeys(recipes)
    while reached := [
        item for item in candidates if item not in depths and any(map(known, recipes[item]))
    ]:
        depths.update(dict.fromkeys(reached, level))
        level += 1
        candidates = dict.fromkeys(user for item in reached for user in users.get(item, ()))
    return depths
