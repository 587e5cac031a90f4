"""What the programs of AdaPlanner steer in TextCraft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textcraft_gym.agents.games.crafting import read_held
from textcraft_gym.agents.program.avatar import Avatar, Method
from textcraft_gym.goals import has


class CraftingAvatar(Avatar):
    """Gets and crafts, and counts what it holds."""

    methods: ClassVar[Mapping[str, Method]] = {
        "get": Method("get {1} {0}"),
        "craft": Method("craft {1} {0} using {2}"),
        "inventory": Method("inventory"),
        "has": Method(
            "inventory",
            lambda answer, arguments: has(read_held(answer), arguments[0]),
            1,
        ),
    }
