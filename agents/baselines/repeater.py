"""A scripted player that repeats each goal until the world says it is reached; never replans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Routine


class RepeaterAgent:
    """Plays the expert's first plan, each action until it neither misses nor is invalid.

    In the tabletop it is the policy with the oracle's termination of the DEPS paper (Wang et al.
    2023): the goals are the task's own, and no planner sees what has become of the table.
    """

    asks: ClassVar[bool] = False
    env_args: ClassVar[Mapping[str, Any]] = {"expert": True}

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        for action in play.first.info["expert_plan"]:
            info: Mapping[str, Any] = {"missed": True}  # so that it is played once
            while info.get("missed") or "invalid_reason" in info:
                info = (yield from play.act(action)).info
        return None
