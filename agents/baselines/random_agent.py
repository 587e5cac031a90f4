"""The random agent: a lower bound to compare with."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.contract.draws import pick


class RandomAgent:
    """Plays a random admissible command.

    Environments list them in info if made with ``admissible=True``.
    """

    asks: ClassVar[bool] = False
    env_args: ClassVar[dict[str, Any]] = {"admissible": True}

    def episode(self, play: Play) -> Routine:
        """Play until the episode is over."""
        rng = random.Random(play.seed)
        step = play.first
        while True:
            step = yield from play.act(pick(step.info["admissible_commands"], rng))
