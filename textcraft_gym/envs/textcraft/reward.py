"""What the game pays."""

from __future__ import annotations

from textcraft_gym.envs.textcraft.rules import Inventory


def reward(inventory: Inventory, goal: str) -> float:
    """Return 1 once the goal has been crafted, else 0. A goal cannot be got, so to hold it is to have crafted it."""
    return 1.0 if goal in inventory else 0.0
