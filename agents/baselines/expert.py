"""The expert: follows the plan that the environment gives on request."""

from __future__ import annotations

from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Routine


class ExpertAgent:
    """Plays ``info["expert_plan"]``, which environments give when made with ``expert=True``."""

    asks: ClassVar[bool] = False
    env_args: ClassVar[dict[str, Any]] = {"expert": True}

    def episode(self, play: Play) -> Routine:
        """Play the first action of each plan."""
        step = play.first
        while step.info["expert_plan"]:
            step = yield from play.act(step.info["expert_plan"][0])
        return None
