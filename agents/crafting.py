"""Crafting as one who plays reads it: commands, kinds, and what is held, as TextCraft writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

MARK = "Crafting commands:\n"
KINDS = ("planks", "wool")
"""What a person who knows the game knows without being told: these are kinds of which there is no plain item."""

_COMMAND = re.compile(r"^craft ([0-9]{1,9}) (.+?) using (.+)$")
_PART = re.compile(r"([0-9]{1,9}) ([^,]+)")
_HELD = re.compile(r"\[([^\]]+)\] \(([0-9]{1,9})\)")


class Want(NamedTuple):
    """So many of an item."""

    item: str
    amount: int


class Recipe(NamedTuple):
    """A command: what it makes, and of what."""

    makes: Want
    parts: tuple[Want, ...]

    def __str__(self) -> str:
        return f"craft {self.makes.amount} {self.makes.item} using {listed(self.parts)}"

    def times(self, count: int) -> int:
        """Return how often it must be applied for so many."""
        return max(1, -(-count // self.makes.amount))


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
    found = _COMMAND.match(line)
    return Recipe(Want(found[2], int(found[1])), read_parts(found[3])) if found else None


def read_parts(text: str) -> tuple[Want, ...]:
    """Return what ``2 oak logs, 1 stick`` lists."""
    return tuple(Want(item.strip(), int(count)) for count, item in _PART.findall(text))


def read_held(text: str) -> dict[str, int]:
    """Return what an inventory lists."""
    return {item: int(count) for item, count in _HELD.findall(text)}


def listed(parts: Iterable[Want]) -> str:
    """Return ``2 oak logs, 1 stick``."""
    return ", ".join(f"{part.amount} {part.item}" for part in parts)


def told(held: Mapping[str, int]) -> str:
    """Say what is held, as the game does."""
    return f"Inventory: {''.join(f'[{name}] ({count}) ' for name, count in held.items()) or 'nothing'}".rstrip()
