"""Crafting as one who plays reads it: commands, kinds, and what is held, as TextCraft writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from textcraft_gym.agents.contract.goals import KINDS

MARK = "Crafting commands:\n"

_COMMAND = re.compile(r"(craft|smelt|mine|hunt|equip) ([0-9]{1,9}) (.+?)(?: using (.+?))?(?: with (.+))?")
_PART = re.compile(r"([0-9]{1,9}) ([^,]+)")
_HELD = re.compile(r"\[([^\]]+)\] \(([0-9]{1,9})\)")


class Want(NamedTuple):
    """So many of an item."""

    item: str
    amount: int


class Recipe(NamedTuple):
    """How a thing is come by.

    Attributes:
        makes: What it makes.
        parts: What it uses up.
        verb: What is done, ``craft`` unless it is said.
        tool: What must be held for it, empty for nothing.
    """

    makes: Want
    parts: tuple[Want, ...] = ()
    verb: str = "craft"
    tool: str = ""

    def __str__(self) -> str:
        using = f" using {listed(self.parts)}" if self.parts else ""
        return f"{self.verb} {self.makes.amount} {self.makes.item}{using}" + (f" with {self.tool}" if self.tool else "")

    @property
    def things(self) -> list[str]:
        """All that it names."""
        return [self.makes.item, *([self.tool] if self.tool else []), *(part.item for part in self.parts)]

    def times(self, count: int) -> int:
        """Return how often it must be applied for so many."""
        return max(1, -(-count // self.makes.amount))

    def repeated(self, times: int) -> Recipe:
        """Return what it makes and takes when it is applied so often."""
        makes, *parts = (Want(item, times * amount) for item, amount in (self.makes, *self.parts))
        return self._replace(makes=makes, parts=tuple(parts))


class Crafts(NamedTuple):
    """What the first observation says besides the goal.

    Attributes:
        recipes: The listed commands by what they make.
        kinds: What belongs to a kind, where that is listed.
    """

    recipes: dict[str, list[Recipe]]
    kinds: dict[str, list[str]]

    def members(self, name: str) -> list[str]:
        """Return what fills a part of this name, where it is a kind or names several; empty for an item."""
        if name in self.recipes and name not in self.kinds:
            return []
        members = self.kinds.get(name) or (name.split(" or ") if " or " in name else [])
        if name in KINDS and not members:
            members = [item for item in self.recipes if item.endswith(f" {name}")]
        return members


def read_crafts(text: str) -> Crafts:
    """Return the commands and kinds of a text that begins with them."""
    commands, _, rest = text.removeprefix(MARK).partition("\n\n")
    recipes: dict[str, list[Recipe]] = {}
    for line in commands.splitlines():
        if recipe := read_recipe(line):
            recipes.setdefault(recipe.makes.item, []).append(recipe)
    legends = rest.partition("\n\nGoal:")[0] if not rest.startswith("Goal:") else ""
    pairs = (line.partition(": ") for line in legends.splitlines())
    return Crafts(recipes, {kind: members.split(", ") for kind, _, members in pairs if members})


def read_recipe(line: str) -> Recipe | None:
    """Return the recipe that a line tells; None if it is none."""
    found = _COMMAND.fullmatch(line)
    if found is None:
        return None
    verb, count, item, parts, tool = found.groups(default="")
    return Recipe(Want(item, int(count)), read_parts(parts), verb, tool)


def read_parts(text: str) -> tuple[Want, ...]:
    """Return what ``2 oak logs, 1 stick`` lists."""
    return tuple(Want(item.strip(), int(count)) for count, item in _PART.findall(text))


def read_held(text: str) -> dict[str, int]:
    """Return what an inventory lists."""
    return {item: int(count) for item, count in _HELD.findall(text)}


def listed(parts: Iterable[Want]) -> str:
    """Return ``2 oak logs, 1 stick``."""
    return ", ".join(f"{part.amount} {part.item}" for part in parts)
