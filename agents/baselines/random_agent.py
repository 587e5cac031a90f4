"""The random agent: a lower bound to compare with."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Routine


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
            commands = step.info["admissible_commands"]
            # random() draws alike in every version of Python, which choice() need not.
            step = yield from play.act(commands[int(rng.random() * len(commands))])
