"""The actions of a player, parsed without knowing any recipe. See ``text`` for the answers."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

MAX_COUNT = 999_999

_COUNTED = re.compile("([0-9]+) (.+)")


class Gather(NamedTuple):
    """Mine or hunt ``amount`` of an item with the named tool; if empty, with the best held one."""

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
    if line == "look":
        return Look()
    if line == "inventory":
        return CheckInventory()
    verb, _, rest = line.partition(" ")
    parsed: Action | None = None
    if "\n" not in line and rest:
        if verb == "equip":
            parsed = Equip(player_name(rest))
        elif verb in ("mine", "hunt"):
            parsed = _parse_gather(verb, rest)
        elif verb in ("craft", "smelt"):
            parsed = _parse_make(verb, rest)
    return parsed or Unknown(line)


def _parse_gather(verb: str, rest: str) -> Gather | None:
    wanted, tool = rest, ""
    if verb == "mine":
        wanted, _, tool = rest.partition(" with ")
    count, item = _counted(wanted)
    if not count:
        return None
    return Gather(verb, item, count, player_name(tool))


def _parse_make(verb: str, rest: str) -> Make | WrongItem | None:
    wanted, preposition, ingredients = rest.partition(" using ")
    count, item = _counted(wanted)
    if not count:
        return None
    if not preposition:
        return Make(verb, item, count)
    using: list[tuple[str, int]] = []
    for part in map(str.strip, ingredients.split(",")):
        amount, name = _counted(part)
        if not amount:
            return WrongItem(part)
        using.append((name, amount))
    return Make(verb, item, count, tuple(using))


def _counted(text: str) -> tuple[int, str]:
    """Return the count and the item in ``4 oak planks``; the count is 0 if it is none."""
    match = _COUNTED.fullmatch(text)
    if not match:
        return 0, ""
    return _count(match[1]), player_name(match[2])


def player_name(typed: str) -> str:
    """Return the player's name of an item: ``oak log`` for ``minecraft:oak_log``."""
    return typed.strip().removeprefix("minecraft:").replace("_", " ")


def _count(digits: str) -> int:
    """Return the number, or 0 if it is not in 1..999999."""
    # Check the length first: int() of thousands of digits is slow or raises.
    digits = digits.lstrip("0")
    return int(digits) if len(digits) <= len(str(MAX_COUNT)) and digits else 0
