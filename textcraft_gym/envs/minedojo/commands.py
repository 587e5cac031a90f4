"""The actions of MineDojo's simulator, as its space declares them: eight numbers.

They are forward and back, left and right, jump, sneak and sprint; the pitch and the yaw of the camera, 12 for no turn;
what to do (``FUNCTIONS``); what to make; and a place in the inventory.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

SHAPE = (3, 3, 4, 25, 25, 8, 244, 36)
FUNCTIONS = ("no_op", "use", "drop", "attack", "craft", "equip", "place", "destroy")

Command: TypeAlias = NDArray[np.int64]

_AHEAD = 12


def command(function: str = "no_op", *, makes: int = 0, place: int = 0) -> Command:
    """Return the action that stands still and does one thing."""
    return np.array([0, 0, 0, _AHEAD, _AHEAD, FUNCTIONS.index(function), makes, place], dtype=np.int64)


def held(observation: Any) -> dict[str, int]:
    """Return what an observation says is held, by the ids of Minecraft 1.11."""
    inventory: dict[str, int] = {}
    for name, quantity in zip(observation["inventory"]["name"], observation["inventory"]["quantity"], strict=True):
        if name != "air":
            inventory[_id(name)] = inventory.get(_id(name), 0) + int(quantity)
    return inventory


def place_of(observation: Any, item: str) -> int | None:
    """Return the first place in the inventory that holds an item."""
    names = [_id(name) for name in observation["inventory"]["name"]]
    return names.index(item) if item in names else None


def worn(observation: Any) -> set[str]:
    """Return what an observation says is in hand or worn."""
    return {_id(name) for name in observation["equipment"]["name"]}


def is_near(observation: Any, station: str) -> bool:
    """Return whether a ``table`` or a ``furnace`` stands near."""
    return bool(observation["nearby_tools"][station])


def _id(name: Any) -> str:
    return str(name).replace(" ", "_")
