"""The goals of a plan as DEPS writes them: calls in the style of Python, read and never executed.

    craft({'stick': 4}, {'planks': 2}, null);  # step 3: sticks from planks
    mine(obj={'iron_ore': 3}, None, 'stone_pickaxe')
    equip('shield')
    hunt({'beef': 1}) or hunt({'porkchop': 1})

A line is a verb, then in brackets the items to have, the materials and the tool; or several such
calls joined by ``or``, each of which suffices. Goals are in the order of their lines; numbers in
comments are ignored. Arguments may be named, ``null`` is ``None``, and a bare name is a string. A
line of any other shape is a comment.
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
"""Kinds of item: a plan may name one, but only its members, such as oak planks, are items."""
EQUIPPED = " (equipped)"
"""Suffix of the second entry that an equipped item has in the inventory."""

Value: TypeAlias = "str | int | dict[str, int] | None"

_CALL = re.compile(
    r"[ \t>*-]*(?:(?:step|#)?[ \t]*[0-9]{1,4}[ \t]*[:.)])?"  # the number of a line
    r"[ \t`]*([A-Za-z_]\w{0,40})[ \t]*\((.*)\)[ \t`;,]*",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"(?<=\))[ \t`;,]*(?:#|//).*")
_OR = re.compile(r"(?<=\))[ \t`;,]*or[ \t]+(?=[A-Za-z_]\w{0,40}[ \t]*\()", re.IGNORECASE)
_PROGRAM = re.compile(r"(\w+)\(['\"](.+)['\"], ([0-9]{1,9})\)")
_COMMAND = re.compile(
    r"(get|craft|mine|hunt|smelt|equip) (?:([0-9]{1,9}) )?([^(){}]+?)(?: (?:using|with) .+)?"
)
_NAMED = re.compile(r"\b[A-Za-z]\w*[ \t]*(?:=[ \t]*|:[ \t]*(?=\{))")


@dataclass(frozen=True)
class Goal:
    """One step of a plan.

    Attributes:
        verb: The plan's verb in lower case: ``mine``, ``craft``, ``smelt`` or any other.
        have: Counts of the items to hold when it is reached.
        uses: Counts of the materials that it uses up.
        tool: The tool or station; empty for none.
        line: The line as it was written.
        others: Alternatives to it.
        choice: The member of a kind to get; empty if a selector chose none.
        unsaid: Counts of further items that must be held, known to the controller but not stated in
            the plan.
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
        """The goal and its alternatives, each of which suffices."""
        return (self, *self.others)

    @property
    def needs(self) -> dict[str, int]:
        """Counts of all that must be held for it, used up or not."""
        tool = {self.tool: 1} if self.tool else {}
        return {**self.unsaid, **tool, **self.uses}

    @property
    def name(self) -> str:
        """The first item to have."""
        return next(iter(self.have))


def has(held: Mapping[str, int], name: str) -> int:
    """Return the number held of an item, or of all members of a kind: oak planks are planks."""
    count = held.get(name, 0)
    if name in KINDS:
        for item, number in held.items():
            if item.endswith(f" {name}"):
                count += number
    return count


def is_reached(goal: Goal, held: Mapping[str, int]) -> bool:
    """Return whether a goal or an alternative is reached.

    Its items must be held, or for ``equip`` equipped.
    """
    return any(_holds_all(alternative, held) for alternative in goal.alternatives)


def _holds_all(goal: Goal, held: Mapping[str, int]) -> bool:
    if not goal.have:  # it would be reached before it is pursued
        return False
    suffix = EQUIPPED if goal.verb == "equip" else ""
    return all(has(held, name + suffix) >= count for name, count in goal.have.items())


def is_held(step: str, held: Mapping[str, int]) -> bool | None:
    """Return whether what a step of a plan is to obtain is held; None if it is to obtain nothing.

    A step is a goal, a call of a program such as ``craft('stick', 4)``, or a command such as
    ``craft 4 stick using 2 planks``.
    """
    line = step.strip()
    if match := _PROGRAM.fullmatch(line):
        verb, name, count = match.groups()
        return _holds_all(Goal(verb, {_plain(name): int(count)}), held)
    goals = parse_goals(line)
    if goals:
        return is_reached(goals[0], held)
    if match := _COMMAND.fullmatch(line):
        verb, count, name = match.groups(default="1")
        return _holds_all(Goal(verb, {_plain(name): int(count)}), held)
    return None


def parse_goals(text: str) -> list[Goal]:
    """Return the goals in a completion, in order; empty if no line is one. Never raises."""
    goals: list[Goal] = []
    for line in text.splitlines():
        goal = _goal(line.strip()) if len(line) <= MAX_LINE else None
        if goal:
            goals.append(goal)
    return goals[:MAX_GOALS]


def _goal(line: str) -> Goal | None:
    first, *others = map(_call, _OR.split(_COMMENT.sub("", line)))
    alternatives = tuple(other for other in others if other)
    # One alternative that cannot be parsed makes the whole line a comment.
    if first is None or len(alternatives) < len(others):
        return None
    return replace(first, line=line, others=alternatives)


def _call(line: str) -> Goal | None:
    match = _CALL.fullmatch(line)
    if match is None:
        return None
    try:
        arguments = _arguments(match[2])
        have, uses, tool = [*arguments, None, None, None][:3]  # omitted arguments are None
        if isinstance(uses, str):  # equip('shield', 'hand')
            uses, tool = None, uses
        items = _counts(have)
        if not items:
            return None
        tool_name = _plain(tool) if isinstance(tool, str) else ""
        return Goal(match[1].lower(), items, _counts(uses), tool_name, line)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _arguments(written: str) -> list[Value]:
    # Names of arguments are dropped, since models write them in many ways: obj={...}, obj: {...}.
    call = ast.parse(f"f({_NAMED.sub('', written)})", mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):  # such as f()(...)
        raise ValueError("expected a single call")
    return [_value(node) for node in call.args]


def _value(node: ast.expr) -> Value:
    """Return the value of a string, an integer, a name or a dictionary of these.

    Raises:
        ValueError: For anything else.
    """
    if isinstance(node, ast.Name):
        return None if node.id.lower() in ("null", "none") else node.id
    if isinstance(node, ast.Constant) and type(node.value) in (str, int, type(None)):
        return node.value  # type: ignore[return-value]
    if isinstance(node, ast.Dict):
        return _dictionary(node)
    raise ValueError(f"expected a string, an integer or a dictionary, got {type(node).__name__}")


def _dictionary(node: ast.Dict) -> dict[str, int]:
    """Return the counts by name; other entries are left out."""
    counts: dict[str, int] = {}
    for key, item in zip(node.keys, node.values, strict=True):
        name = _value(key) if key else None
        count = _value(item)
        if isinstance(name, str) and type(count) is int:
            counts[name] = count
    return counts


def _counts(value: Value) -> dict[str, int]:
    """Return items with their counts; the count of an item that is named alone is 1."""
    items: dict[str, int] = {}
    if isinstance(value, str):
        items = {value: 1}
    elif isinstance(value, dict):
        items = value
    if not all(0 < count <= MAX_COUNT for count in items.values()):
        raise ValueError(f"expected counts of 1 to {MAX_COUNT}")
    return {_plain(name): count for name, count in items.items() if _plain(name)}


def _plain(name: str) -> str:
    """Return an item's name as the game prints it: ``oak log`` for ``minecraft:oak_log``."""
    return " ".join(name.rpartition(":")[2].replace("_", " ").lower().split())
