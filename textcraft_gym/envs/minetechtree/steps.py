"""Whether a step of a plan holds: its items are held, or equipped."""

from __future__ import annotations

from textcraft_gym.envs.minetechtree.state import State
from textcraft_gym.goals import EQUIPPED, is_held
from textcraft_gym.recipes.recipe import name_of


def holds(state: State, step: str) -> bool | None:
    """Return whether what a step is to obtain is held; None if the step names no item."""
    held = {name_of(item): count for item, count in state.inventory.items()}
    held |= {name_of(item) + EQUIPPED: 1 for item in state.equipped.values()}
    return is_held(step, held)
