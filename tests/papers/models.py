"""Models by their names, as the command line takes them."""

from __future__ import annotations

from typing import Any

from textcraft_gym.agents.contract.model import Completion


class Inventory:
    """Asks for the inventory for ever, at a price.

    Args:
        cost: What each answer costs.
        again: Tells one model from another.
    """

    def __init__(self, cost: float = 0.0, again: int = 0) -> None:
        self.cost = cost

    def complete(self, prompt: Any, **how: Any) -> Completion:
        """Return always the same."""
        return Completion("inventory", {"prompt_tokens": 1, "completion_tokens": 1}, cost=self.cost)
