"""The goals of a plan as DEPS writes them: calls in the style of Python, read and never executed.

    craft({'stick': 4}, {'planks': 2}, null);  # step 3: sticks from planks
    mine(obj={'iron_ore': 3}, None, 'stone_pickaxe')
    equip('shield')
    hunt({'beef': 1}) or hunt({'porkchop': 1})

A line is a word, then in brackets what to have, of what, and with which tool; or several of these joined by ``or``, of
which one will do. The order is that of the lines, whatever numbers their comments carry. Arguments may be named,
``null`` is ``None``, and a bare name is a text. A line of any other shape is a comment.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

MAX_LINE, MAX_GOALS = 500, 100
MAX_COUNT = 10_000
KINDS = ("log", "logs", "planks", "wool")
"""What a person who knows the game knows without being told: these are kinds of which there is no plain item."""
EQUIPPED = " (equipped)"
"""Ends the name of what is held and worn."""

Value: TypeAlias = "str | int | dict[str, int] | None"

_CALL = re.compile(
    r"[ \t>*-]*(?:(?:step|#)?[ \t]*[0-9]{1,4}[ \t]*[:.)])?[ \t`]*([A-Za-z_]\w{0,40})[ \t]*\((.*)\)[ \t`;,]*",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"(?<=\))[ \t`;,]*(?:#|//).*")
_OR = re.compile(r"(?<=\))[ \t`;,]*or[ \t]+(?=[A-Za-z_]\w{0,40}[ \t]*\()", re.IGNORECASE)
_NAMED = re.compile(r"\b[A-Za-z]\w*[ \t]*(?:=[ \t]*|:[ \t]*(?=\{))")


@dataclass(frozen=True)
class Goal:
    """One step of a plan.

    Attributes:
        verb: How to get it: ``mine``, ``craft``, ``smelt``, whatever the plan says, in lower case.
        have: What to hold when it is done, and how many.
        uses: Of what, and how many.
        tool: With what; empty for nothing.
        line: The line as it was written.
        others: What will do as well.
        choice: Which thing to take of a kind; empty where a selector chose none.
        unsaid: What must be held besides, as a controller knows and the plan does not say.
    """

    verb: str
    have: dict[str, int]
    uses: dict[str, int] = field(default_factory=dict)
    tool: str = ""
    line: str = ""
    others: tuple[Goal, ...] = ()
    choice: str = ""
    unsaid: dict[str, int] = field(default_factory=dict)

    @property
    def alternatives(self) -> tuple[Goal, ...]:
        """The goal and the others, of which one will do."""
        return (self, *self.others)

    @property
    def needs(self) -> dict[str, int]:
        """What must be held for it, used up or not."""
        return {**self.unsaid, **({self.tool: 1} if self.tool else {}), **self.uses}

    @property
    def name(self) -> str:
        """What it is about: the first thing to have."""
        return next(iter(self.have))


def has(held: Mapping[str, int], name: str) -> int:
    """Return how many of a thing are held, or of all things of a kind: oak planks are planks."""
    members = [thing for thing in held if thing.endswith(f" {name}")] if name in KINDS else []
    return held.get(name, 0) + sum(held[thing] for thing in members)


def is_reached(goal: Goal, held: Mapping[str, int]) -> bool:
    """Return whether all that a goal asks for, or one of the others does, is held; or worn, if it is to be equipped."""
    return any(
        bool(one.have)
        and all(has(held, name + EQUIPPED * (one.verb == "equip")) >= count for name, count in one.have.items())
        for one in goal.alternatives
    )


def parse_goals(text: str) -> list[Goal]:
    """Return the goals in a completion, in order; none if no line is one. Never raises."""
    lines = (line.strip() for line in text.splitlines() if len(line) <= MAX_LINE)
    return [goal for goal in map(_goal, lines) if goal][:MAX_GOALS]


def _goal(line: str) -> Goal | None:
    first, *others = map(_call, _OR.split(_COMMENT.sub("", line)))
    found = tuple(other for other in others if other)
    if first is None or len(found) < len(others):
        return None
    return replace(first, line=line, others=found)


def _call(line: str) -> Goal | None:
    found = _CALL.fullmatch(line)
    try:
        arguments = _arguments(found[2]) if found else []
        have, uses, tool = [*arguments, None, None, None][:3]
        if isinstance(uses, str):  # equip('shield', 'hand')
            uses, tool = None, uses
        wanted = _counts(have)
        if not found or not wanted:
            return None
        return Goal(found[1].lower(), wanted, _counts(uses), _plain(tool) if isinstance(tool, str) else "", line)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _arguments(written: str) -> list[Value]:
    call = ast.parse(f"f({_NAMED.sub('', written)})", mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):  # f()(...), which is no one call
        raise ValueError("not one call")
    return [_value(node) for node in call.args]


def _value(node: ast.expr) -> Value:
    """Return what a text, a number, a name or a dictionary of these is; ValueError for anything else."""
    if isinstance(node, ast.Name):
        return None if node.id.lower() in ("null", "none") else node.id
    if isinstance(node, ast.Constant) and (node.value is None or type(node.value) in (str, int)):
        return node.value  # type: ignore[return-value]
    if isinstance(node, ast.Dict):
        keys = [_value(key) if key else None for key in node.keys]
        return {
            key: value
            for key, value in zip(keys, map(_value, node.values), strict=True)
            if isinstance(key, str) and type(value) is int
        }
    raise ValueError(f"expected a text, a number or a dictionary, got {type(node).__name__}")


def _counts(value: Value) -> dict[str, int]:
    """Return things with their counts; one of a thing that is named alone."""
    things = {value: 1} if isinstance(value, str) else value if isinstance(value, dict) else {}
    if not all(0 < count <= MAX_COUNT for count in things.values()):
        raise ValueError(f"expected counts of 1 to {MAX_COUNT}")
    return {_plain(name): count for name, count in things.items() if _plain(name)}


def _plain(name: str) -> str:
    """Return a thing's name as the game prints it: ``minecraft:oak_log`` is ``oak log``."""
    return " ".join(name.rpartition(":")[2].replace("_", " ").lower().split())
