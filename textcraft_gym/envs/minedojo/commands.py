"""The actions of MineDojo's simulator, as its action space declares them: eight integers.

They are forward and back, left and right, jump, sneak and sprint; the pitch and the yaw of the
camera, 12 for no turn; the function (``FUNCTIONS``); the item to make; and an inventory slot.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

SHAPE = (3, 3, 4, 25, 25, 8, 244, 36)
FUNCTIONS = ("no_op", "use", "drop", "attack", "craft", "equip", "place", "destroy")

Command: TypeAlias = NDArray[np.int64]

_AHEAD = 12


def command(
    function: str = "no_op",
    *,
    makes: int = 0,
    place: int = 0,
) -> Command:
    """Return the action that calls one function without moving; ``place`` is an inventory slot."""
    movement = [0, 0, 0, _AHEAD, _AHEAD]
    return np.array([*movement, FUNCTIONS.index(function), makes, place], dtype=np.int64)


def held(observation: Any) -> dict[str, int]:
    """Return the inventory in an observation, by the ids of Minecraft 1.11."""
    slots = observation["inventory"]
    inventory: dict[str, int] = {}
    for name, quantity in zip(slots["name"], slots["quantity"], strict=True):
        if name != "air":
            inventory[_id(name)] = inventory.get(_id(name), 0) + int(quantity)
    return inventory


def place_of(observation: Any, item: str) -> int | None:
    """Return the first inventory slot that holds an item; None if none does."""
    names = [_id(name) for name in observation["inventory"]["name"]]
    return names.index(item) if item in names else None


def worn(observation: Any) -> set[str]:
    """Return the items that are in hand or worn, by an observation."""
    return {_id(name) for name in observation["equipment"]["name"]}


def is_near(observation: Any, station: str) -> bool:
    """Return whether a ``table`` or a ``furnace`` is near."""
    return bool(observation["nearby_tools"][station])


def _id(name: Any) -> str:
    return str(name).replace(" ", "_")
