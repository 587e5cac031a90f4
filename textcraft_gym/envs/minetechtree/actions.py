"""The actions of a player, parsed without knowing any recipe. See ``text`` for the answers."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

MAX_COUNT = 999_999

_COUNTED = re.compile("([0-9]+) (.+)")
_PREPOSITION = {"mine": "with", "hunt": "", "craft": "using", "smelt": "using"}


class Gather(NamedTuple):
    """Mine or hunt ``amount`` of an item, with the named tool; with an empty name, the best that is held."""

    verb: str
    item: str
    amount: int
    tool: str = ""


class Make(NamedTuple):
    """Craft or smelt ``amount`` of an item from counted ingredients; None if none are named."""

    verb: str
    item: str
    amount: int
    using: tuple[tuple[str, int], ...] | None = None


class Equip(NamedTuple):
    """Wear an item, or take it in hand."""

    item: str


class Look(NamedTuple):
    """Look around."""


class CheckInventory(NamedTuple):
    """Look at the inventory."""


class WrongItem(NamedTuple):
    """An ingredient that is not a count and a name."""

    typed: str


class Unknown(NamedTuple):
    """Anything else."""

    typed: str


Action: TypeAlias = "Gather | Make | Equip | Look | CheckInventory | WrongItem | Unknown"


def parse(action: str) -> Action:
    """Read one action. Any string will do."""
    line = action.strip()
    verb, _, rest = line.partition(" ")
    if line in ("inventory", "look"):
        return Look() if line == "look" else CheckInventory()
    if "\n" in line or not rest:
        return Unknown(line)
    if verb == "equip":
        return Equip(player_name(rest))
    if verb not in _PREPOSITION:
        return Unknown(line)
    wanted, preposition, by = rest, "", ""
    if _PREPOSITION[verb]:
        wanted, preposition, by = rest.partition(f" {_PREPOSITION[verb]} ")
    counted = _COUNTED.fullmatch(wanted)
    count = _count(counted[1]) if counted else 0
    if not counted or not count:
        return Unknown(line)
    if verb in ("mine", "hunt"):
        return Gather(verb, player_name(counted[2]), count, player_name(by))
    item = player_name(counted[2])
    return _make(verb, item, count, by) if preposition else Make(verb, item, count)


def _make(verb: str, item: str, count: int, by: str) -> Make | WrongItem:
    using: list[tuple[str, int]] = []
    for part in map(str.strip, by.split(",")):
        counted = _COUNTED.fullmatch(part)
        amount = _count(counted[1]) if counted else 0
        if not counted or not amount:
            return WrongItem(part)
        using.append((player_name(counted[2]), amount))
    return Make(verb, item, count, tuple(using))


def player_name(typed: str) -> str:
    """Return the player's name of an item that is given by name or id: ``oak log`` for ``minecraft:oak_log``."""
    return typed.strip().removeprefix("minecraft:").replace("_", " ")


def _count(digits: str) -> int:
    """Return the number, or 0 if it is not in 1..999999."""
    # Check the length first: int() of thousands of digits is slow or raises.
    digits = digits.lstrip("0")
    return int(digits) if len(digits) <= len(str(MAX_COUNT)) and digits else 0
