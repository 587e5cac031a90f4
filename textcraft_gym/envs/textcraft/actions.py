"""The actions of a player, parsed without knowing any recipe. See ``text`` for the answers."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

# A count of thousands of digits crashed the published game.
MAX_COUNT = 999_999
# The published game takes all three.
_LOOKS = {"inventory", "inventory:", "inventory."}


class Get(NamedTuple):
    """Get ``amount`` of an item, or 0 if the number is out of range; ``typed`` is as written."""

    name: str
    amount: int
    typed: str


class Craft(NamedTuple):
    """Craft an item from counted ingredients.

    A requested count is not kept, since one recipe is applied once.
    """

    output: str
    ingredients: tuple[tuple[str, int], ...]


class Look(NamedTuple):
    """Look at the inventory."""


class WrongItem(NamedTuple):
    """A craft with an ingredient that is not a count and a name."""

    typed: str


class Unknown(NamedTuple):
    """Anything else."""

    typed: str


Action: TypeAlias = "Get | Craft | Look | WrongItem | Unknown"


def parse(text: str) -> Action:
    """Read one action. Any string will do."""
    line = text.strip()
    verb, _, rest = line.partition(" ")
    if line in _LOOKS:
        return Look()
    # The whole action must match: a second line makes it none.
    if "\n" in line:
        return Unknown(line)
    if verb == "get":
        amount, name = _counted(rest)
        if name:
            return Get(_name(name), amount, name)
    if verb == "craft":
        wanted, using, ingredients = rest.partition(" using ")
        output = _output(wanted)
        if using and output:
            return _parse_ingredients(_name(output), ingredients)
    return Unknown(line)


def _output(wanted: str) -> str:
    """Return the item to craft, ``stick`` in ``4 stick``; empty if the count is out of range."""
    count, name = _counted(wanted)
    if name:
        return name if count else ""
    # Names begin with a letter: what begins with a digit or a sign is a count that went wrong.
    return wanted if wanted[:1].isalpha() else ""


def _parse_ingredients(output: str, ingredients: str) -> Craft | WrongItem:
    counts: list[tuple[str, int]] = []
    for part in map(str.strip, ingredients.split(",")):
        count, name = _counted(part)
        if not count or not name:
            return WrongItem(part)
        counts.append((_name(name), count))
    return Craft(output, tuple(counts))


def _counted(text: str) -> tuple[int, str]:
    """Return the count and the name in ``4 oak planks``; the name is empty if one is missing."""
    # Faster than a regular expression; a new action is read once for each of its items.
    digits, _, name = text.partition(" ")
    if digits.isdigit() and digits.isascii():
        return (_count(digits), name)
    return (0, "")


def _name(typed: str) -> str:
    # Ids have underscores: accept a name copied from an answer.
    return typed.replace("_", " ")


def _count(digits: str) -> int:
    """Return the number, or 0 if it is not in 1..999999."""
    # Check the length first: int() of thousands of digits is slow or raises.
    digits = digits.lstrip("0")
    return int(digits) if len(digits) <= len(str(MAX_COUNT)) and digits else 0
