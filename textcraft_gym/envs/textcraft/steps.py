"""Whether a step of a plan holds: its item is held."""

from __future__ import annotations

from textcraft_gym.goals import is_held
from textcraft_gym.recipes.book import RecipeBook


def holds(book: RecipeBook, inventory: dict[str, int], step: str) -> bool | None:
    """Return whether what a step is to get or craft is held; None if the step names no item."""
    return is_held(step, {book.names[item]: count for item, count in inventory.items()})
