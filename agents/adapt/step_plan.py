"""The plan that a planner writes: numbered steps, and the logic that joins them.

    # comments are passed over
    Step 1: get 2 oak logs
    Step 2: craft 8 oak planks
    Step 3: find planks elsewhere
    Execution Order: (Step 1 AND (Step 2 OR Step 3))

The order is read by recursive descent, and forgives what models write:

    any   = all {"OR" all}
    all   = part {("AND" | "," | nothing) part}
    part  = "(" any ")" | ["Step"] number

Brackets may be missing or too many; steps go by their printed numbers, and a number that no step has is
passed over, as is one without the word where others have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

MAX_STEPS = 200
MAX_NESTING = 4
"""Brackets deeper than this are passed over; with the deepest level of decomposition it bounds the tree."""
MAX_STEP_LENGTH = 1000

_STEP = re.compile(r"^[ \t>*-]*step[ \t]*([0-9]{1,6})[ \t*]*[:.)][ \t*]*(.*)$", re.IGNORECASE)
_ORDER = re.compile(r"^[ \t>*-]*execution[ \t]+order[ \t*]*(?::[ \t*]*(.*)|(\(.*))$", re.IGNORECASE)
_TOKEN = re.compile(r"\(|\)|(?<![a-z])(?:and|or)(?![a-z])|(?:(?<![a-z])step[ \t]*)?[0-9]{1,6}", re.IGNORECASE)


@dataclass(frozen=True)
class Group:
    """Parts that must all succeed, or of which one must (``all``, ``any``), in their order."""

    logic: Literal["all", "any"]
    parts: tuple[Plan, ...]


Plan: TypeAlias = str | Group
"""The text of one step, or a group of two parts or more."""


def parse_plan(text: str) -> Plan | None:
    """Return the plan in a completion, or None if it has no step.

    Without an order, all steps must succeed. What follows the first order is cut off. Never raises.
    """
    steps: dict[int, str] = {}
    order = None
    lines = iter(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in lines:
        if found := _ORDER.match(line):
            order = found[1] or found[2] or next(lines, "")
            break
        if (step := _STEP.match(line)) and step[2].strip() and len(steps) < MAX_STEPS:
            steps.setdefault(int(step[1]), step[2].strip()[:MAX_STEP_LENGTH])
    if not steps:
        return None
    ordered = _Order(order, steps).read() if order is not None else None
    return ordered or _group("all", list(steps.values()))


def write_plan(steps: Iterable[Sequence[str]]) -> str:
    """Return a plan as text: of each step, all of which must succeed, the ways to do it, of which one must."""
    lines: list[str] = []
    parts: list[str] = []
    for ways in steps:
        numbers = [f"Step {len(lines) + place}" for place in range(1, len(ways) + 1)]
        lines += [f"{number}: {way}" for number, way in zip(numbers, ways, strict=True)]
        parts.append(numbers[0] if len(ways) == 1 else f"({' OR '.join(numbers)})")
    return "\n".join([*lines, f"Execution Order: ({' AND '.join(parts)})"])


class _Order:
    """The order line as tokens, read from the left."""

    def __init__(self, line: str, steps: dict[int, str]) -> None:
        self.steps = steps
        words = [word.upper() for word in _TOKEN.findall(line)][: 8 * MAX_STEPS]
        if any(word.startswith("STEP") for word in words):  # then a bare number is none of a step
            words = [word for word in words if not word.isdigit()]
        self.tokens = [word.removeprefix("STEP").strip() for word in reversed(words)]

    def peek(self) -> str:
        return self.tokens[-1] if self.tokens else ""

    def read(self) -> Plan | None:
        parts: list[Plan | None] = []
        while self.tokens:
            parts.append(self.any(0))
            if self.tokens:
                self.tokens.pop()  # a bracket too many
        return _group("all", parts)

    def any(self, nesting: int) -> Plan | None:
        parts = [self.all(nesting)]
        while self.peek() == "OR":
            self.tokens.pop()
            parts.append(self.all(nesting))
        return _group("any", parts)

    def all(self, nesting: int) -> Plan | None:
        parts: list[Plan | None] = []
        while self.tokens and self.peek() not in ("OR", ")"):
            part = self.tokens.pop()
            if part == "(" and nesting < MAX_NESTING:
                parts.append(self.any(nesting + 1))
                if self.peek() == ")":
                    self.tokens.pop()
            elif part.isdigit():
                parts.append(self.steps.get(int(part)))
        return _group("all", parts)


def _group(logic: Literal["all", "any"], parts: list[Plan | None]) -> Plan | None:
    """Join parts; what is missing is left out, and a group of one is that one."""
    present = tuple(part for part in parts if part)
    if len(present) < 2:
        return present[0] if present else None
    return Group(logic, present)
