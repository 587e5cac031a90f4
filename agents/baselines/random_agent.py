"""The random agent: a lower bound to compare with."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Routine


class RandomAgent:
    """Plays any of ``info["admissible_commands"]``, which environments give when made with ``admissible=True``."""

    asks: ClassVar[bool] = False
    env_args: ClassVar[dict[str, Any]] = {"admissible": True}

    def episode(self, play: Play) -> Routine:
        """Play until the episode is over."""
        rng = random.Random(play.seed)
        step = play.first
        while True:
            commands = step.info["admissible_commands"]
            step = yield from play.act(commands[int(rng.random() * len(commands))])
