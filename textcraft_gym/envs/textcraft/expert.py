"""The expert: a shortest sequence of actions that wins, from any inventory."""

from __future__ import annotations

from collections.abc import Mapping

from textcraft_gym.envs.textcraft import text
from textcraft_gym.recipes.book import Offer, RecipeBook
from textcraft_gym.recipes.solver import shortest_plan


def expert_plan(book: RecipeBook, goal: str, inventory: Mapping[str, int], useful: Offer = ()) -> list[str]:
    """Return a shortest plan that crafts ``goal`` from ``inventory``; the solver says when it is proven shortest.

    Args:
        book: The recipes.
        goal: The item to craft.
        inventory: The held items.
        useful: The counts in which items are got: the least of them that is enough is taken, if there is one.
    """
    plan = shortest_plan(book, goal, inventory)
    gets = [text.get(book, item, _enough(item, count, useful)) for item, count in plan.gets]
    return gets + [text.craft(book, craft.recipe, craft.using) for craft in plan.crafts]


def _enough(item: str, count: int, useful: Offer) -> int:
    return min((other for name, other in useful if name == item and other >= count), default=count)
