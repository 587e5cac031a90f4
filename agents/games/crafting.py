"""Readers of crafting commands, kinds and inventories, for TextCraft and the tech tree."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from textcraft_gym.goals import KINDS

MARK = "Crafting commands:\n"

_COMMAND = re.compile(
    r"(craft|smelt|mine|hunt|equip) ([0-9]{1,9}) (.+?)(?: using (.+?))?(?: with (.+))?"
)
_PART = re.compile(r"([0-9]{1,9}) ([^,]+)")
_HELD = re.compile(r"\[([^\]]+)\] \(([0-9]{1,9})\)")


class Want(NamedTuple):
    """An item and its amount."""

    item: str
    amount: int


class Recipe(NamedTuple):
    """One way to get or make an item.

    Attributes:
        makes: The item that it makes.
        parts: The items that it uses up.
        verb: The verb of its command.
        tool: The tool or station that must be held; empty for none.
    """

    makes: Want
    parts: tuple[Want, ...] = ()
    verb: str = "craft"
    tool: str = ""

    def __str__(self) -> str:
        command = f"{self.verb} {self.makes.amount} {self.makes.item}"
        if self.parts:
            command += f" using {listed(self.parts)}"
        if self.tool:
            command += f" with {self.tool}"
        return command

    @property
    def things(self) -> list[str]:
        """The item, the tool and the parts."""
        things = [self.makes.item]
        if self.tool:
            things.append(self.tool)
        return things + [part.item for part in self.parts]

    def times(self, count: int) -> int:
        """Return the number of applications that make ``count`` items or more; at least 1."""
        return max(1, ceil_div(count, self.makes.amount))

    def repeated(self, times: int) -> Recipe:
        """Return the recipe with its amounts times ``times``."""
        makes, *parts = (Want(item, times * amount) for item, amount in (self.makes, *self.parts))
        return self._replace(makes=makes, parts=tuple(parts))


class Crafts(NamedTuple):
    """The first observation without the goal.

    Attributes:
        recipes: The listed commands, by the item that they make.
        kinds: The members of each kind for which they are listed.
    """

    recipes: dict[str, list[Recipe]]
    kinds: dict[str, list[str]]

    def members(self, name: str) -> list[str]:
        """Return the items that a part may be: members of a kind, or of ``a or b``; else none."""
        if name in self.recipes and name not in self.kinds:
            return []
        if name in self.kinds:
            return self.kinds[name]
        if " or " in name:
            return name.split(" or ")
        if name not in KINDS:
            return []
        # A kind without a legend, as in worlds that do not list them: its members are named after
        # it.
        return [item for item in self.recipes if item.endswith(f" {name}")]


def read_crafts(text: str) -> Crafts:
    """Return the commands and kinds with which a text begins."""
    commands, _, rest = text.removeprefix(MARK).partition("\n\n")
    recipes: dict[str, list[Recipe]] = {}
    for line in commands.splitlines():
        recipe = read_recipe(line)
        if recipe:
            recipes.setdefault(recipe.makes.item, []).append(recipe)
    # Worlds that do not list kinds go on with the goal.
    kinds: dict[str, list[str]] = {}
    if not rest.startswith("Goal:"):
        legends, _, _ = rest.partition("\n\nGoal:")
        for line in legends.splitlines():
            kind, _, members = line.partition(": ")
            if members:
                kinds[kind] = members.split(", ")
    return Crafts(recipes, kinds)


def read_recipe(line: str) -> Recipe | None:
    """Return the recipe of a line; None if the line is no command."""
    match = _COMMAND.fullmatch(line)
    if match is None:
        return None
    verb, count, item, parts, tool = match.groups(default="")
    return Recipe(Want(item, int(count)), read_parts(parts), verb, tool)


def read_parts(text: str) -> tuple[Want, ...]:
    """Return the items of a list such as ``2 oak logs, 1 stick``."""
    return tuple(Want(item.strip(), int(count)) for count, item in _PART.findall(text))


def read_held(text: str) -> dict[str, int]:
    """Return the counts of an inventory."""
    return {item: int(count) for item, count in _HELD.findall(text)}


def listed(parts: Iterable[Want]) -> str:
    """Return items as a list in words, such as ``2 oak logs, 1 stick``."""
    return ", ".join(f"{part.amount} {part.item}" for part in parts)


def ceil_div(number: int, divisor: int) -> int:
    """Return ``number / divisor``, rounded up."""
    return -(-number // divisor)
