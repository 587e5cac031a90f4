"""What the programs of AdaPlanner steer in the tech tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textcraft_gym.agents.games.minetechtree.knowledge import read_held
from textcraft_gym.agents.program.avatar import Avatar, Method
from textcraft_gym.goals import has


class TechTreeAvatar(Avatar):
    """Mines, hunts, crafts, smelts and equips, and counts what it holds."""

    methods: ClassVar[Mapping[str, Method]] = {
        "mine": Method("mine {1} {0}"),
        "hunt": Method("hunt {1} {0}"),
        "craft": Method("craft {1} {0} using {2}"),
        "smelt": Method("smelt {1} {0} using {2}"),
        "equip": Method("equip {0}"),
        "count": Method(
            "inventory",
            lambda answer, arguments: has(read_held(answer), arguments[0]),
            1,
        ),
    }
