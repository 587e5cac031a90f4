"""Models that answer at once, or after a delay, and always the same."""

from __future__ import annotations

import time
from typing import Any

from textcraft_gym.agents.contract.model import Completion

PLAN = "Step 1: get 1 oak log\nStep 2: craft 4 oak planks\nExecution Order: (Step 1 AND Step 2)"


class ConstantModel:
    """A model with a constant answer after a delay."""

    def __init__(self, text: str = "inventory", seconds: float = 0.0) -> None:
        self.text, self.seconds = text, seconds

    def complete(self, prompt: Any, **how: Any) -> Completion:
        """Return the answer after the delay."""
        if self.seconds:
            time.sleep(self.seconds)
        return Completion(self.text, {"prompt_tokens": 1, "completion_tokens": 1})


def models(seconds: float = 0.0) -> dict[str, ConstantModel]:
    """Return an executor that never gets anywhere, and a planner of two steps."""
    return {"executor": ConstantModel(seconds=seconds), "planner": ConstantModel(PLAN, seconds)}
