"""Plans as planners write them: numbered steps, and an execution order that joins them by logic.

    # comments are skipped
    Step 1: get 2 oak logs
    Step 2: craft 8 oak planks
    Step 3: find planks elsewhere
    Execution Order: (Step 1 AND (Step 2 OR Step 3))

The order is parsed by recursive descent, and leniently, since models write it:

    any   = all {"OR" all}
    all   = part {("AND" | "," | nothing) part}
    part  = "(" any ")" | ["Step"] number

Brackets may be missing or superfluous. Steps are identified by their printed numbers; unknown
numbers are skipped, and so are bare numbers in an order that writes ``Step`` before others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

MAX_STEPS = 200
MAX_NESTING = 4
"""Depth beyond which brackets are skipped; with ``d_max`` it bounds the depth of the trace."""
MAX_STEP_LENGTH = 1000

_STEP = re.compile(r"^[ \t>*-]*step[ \t]*([0-9]{1,6})[ \t*]*[:.)][ \t*]*(.*)$", re.IGNORECASE)
_NUMBERED = re.compile(r"^[ \t>*-]*([0-9]{1,6})[ \t*]*[.)][ \t*]+(.*)$")
"""A step of a plan none of whose lines says that it is one."""
_ORDER = re.compile(r"^[ \t>*-]*execution[ \t]+order[ \t*]*(?::[ \t*]*(.*)|(\(.*))$", re.IGNORECASE)
_TOKEN = re.compile(
    r"\(|\)|(?<![a-z])(?:and|or)(?![a-z])|(?:(?<![a-z])step[ \t]*)?[0-9]{1,6}",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Group:
    """Parts in order: all must succeed (``all``), or any one suffices (``any``)."""

    logic: Literal["all", "any"]
    parts: tuple[Plan, ...]


Plan: TypeAlias = str | Group
"""The text of a step, or a group of two or more parts."""


def parse_plan(text: str) -> Plan | None:
    """Return the plan in a completion, or None if it has no step.

    Without an order, all steps must succeed. The text after the first order is ignored. Numbered
    lines are steps where no line says ``Step``. Never raises.
    """
    return _parsed(text, _STEP) or _parsed(text, _NUMBERED)


def _parsed(text: str, form: re.Pattern[str]) -> Plan | None:
    """Return the plan whose steps have a form; None if there is no step."""
    lines, order = _split_order(text)
    steps: dict[int, str] = {}
    for line in lines:
        step = form.match(line)
        if step and step[2].strip() and len(steps) < MAX_STEPS:
            # Of equal numbers, the first counts.
            steps.setdefault(int(step[1]), step[2].strip()[:MAX_STEP_LENGTH])
    if not steps:
        return None
    return _Order(order, steps).read() or _group("all", list(steps.values()))


def _split_order(text: str) -> tuple[list[str], str]:
    """Return the lines before the execution order, without comments, and the order itself."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for index, line in enumerate(lines):
        heading = _ORDER.match(line)
        if heading:
            # The order may be on the line after its heading.
            below = "".join(lines[index + 1 : index + 2])
            return lines[:index], heading[1] or heading[2] or below
    return lines, ""


def write_plan(steps: Iterable[Sequence[str]]) -> str:
    """Return a plan as text; all steps must succeed, each by any of its alternatives."""
    lines: list[str] = []
    parts: list[str] = []
    for alternatives in steps:
        labels: list[str] = []
        for step in alternatives:
            labels.append(f"Step {len(lines) + 1}")
            lines.append(f"{labels[-1]}: {step}")
        parts.append(labels[0] if len(labels) == 1 else f"({' OR '.join(labels)})")
    return "\n".join([*lines, f"Execution Order: ({' AND '.join(parts)})"])


class _Order:
    """A parser of the order line; the tokens are reversed, so that the next one is the last."""

    def __init__(
        self,
        line: str,
        steps: dict[int, str],
    ) -> None:
        self.steps = steps
        # A bound, since models may repeat themselves: some brackets and words for each step.
        tokens = [token.upper() for token in _TOKEN.findall(line)][: 8 * MAX_STEPS]
        says_step = any(token.startswith("STEP") for token in tokens)
        if says_step:  # then a bare number is a count, not a step
            tokens = [token for token in tokens if not token.isdigit()]
        self.tokens = [token.removeprefix("STEP").strip() for token in reversed(tokens)]

    def peek(self) -> str:
        return self.tokens[-1] if self.tokens else ""

    def read(self) -> Plan | None:
        parts: list[Plan | None] = []
        while self.tokens:
            parts.append(self.any(0))
            if self.tokens:
                self.tokens.pop()  # a superfluous bracket
        return _group("all", parts)

    def any(self, nesting: int) -> Plan | None:
        # AND binds tighter than OR.
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
    """Return a group of the parts that are not None.

    A single part stands alone; no part is None.
    """
    present = tuple(part for part in parts if part)
    if len(present) < 2:
        return next(iter(present), None)
    return Group(logic, present)
