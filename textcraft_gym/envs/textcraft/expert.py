"""The expert: a shortest sequence of actions that wins, from any inventory."""

from __future__ import annotations

from collections.abc import Mapping

from textcraft_gym.envs.textcraft import text
from textcraft_gym.recipes.book import RecipeBook
from textcraft_gym.recipes.solver import shortest_plan


def expert_plan(book: RecipeBook, goal: str, inventory: Mapping[str, int]) -> list[str]:
    """Return a shortest plan that crafts ``goal`` from ``inventory``; the solver says when it is proven shortest."""
    plan = shortest_plan(book, goal, inventory)
    gets = [text.get(book, item, count) for item, count in plan.gets]
    return gets + [text.craft(book, craft.recipe, craft.using) for craft in plan.crafts]
