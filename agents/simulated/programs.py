"""The simulated model and the functions of AdaPlanner: how it lays them out, and its answers that need no game.

It writes a function in steps whose assertions say what should be so. Questions of such a function, and those about two
versions of it, it answers from their text; it names no more kinds of places than it can keep in mind.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import NamedTuple

from textcraft_gym.agents.games.alfworld.household import USUAL_PLACES, kind, likely
from textcraft_gym.agents.simulated.cues import Cue
from textcraft_gym.agents.simulated.faults import Draws

HEAD = "def solution(agent, start_from=1):"
PLACES = "Which of these places may have a {thing}, the likeliest first: {{agent.receptacles}}? Write a Python list."
NUMBER = "What is the number of the {thing} in this text: {{observation}} Answer with a number."

_PLACES = re.compile(r"may have an? (\w+), the likeliest first: (\[.*?\])\?")
_NUMBER = re.compile(r"number of the (\w+) in this text: (.*) Answer with a number", re.DOTALL)
_STEP = re.compile(r"^    if start_from <= (\d+):\n((?:        .*\n?|\s*\n)*)", re.MULTILINE)


class Stage(NamedTuple):
    """A step of a function.

    Attributes:
        title: What it does.
        lines: Its lines before the assertion.
        holds: The condition that it asserts.
        complaint: What is wrong if that does not hold, as the text of an f-string.
    """

    title: str
    lines: list[str]
    holds: str
    complaint: str


def write(stages: Iterable[Stage]) -> str:
    """Return the function of some steps."""
    lines = [HEAD]
    for number, stage in enumerate(stages, 1):
        label = f"[Step {number}]"
        lines += [f"    if start_from <= {number}:", f"        print('{label} {stage.title}')"]
        lines += [f"        {line}" for line in stage.lines]
        lines.append(f"        assert {stage.holds}, f'Error in {label}: {stage.complaint}. {{agent.report()}}'")
    return "\n".join(lines)


def answer(prompt: str, cue: Cue, span: int, draws: Draws) -> str:
    """Return the answer to a question that needs no game."""
    match cue:
        case Cue.SYNTAX:
            return _check(prompt.rpartition("\n\n")[0])
        case Cue.FIRST_CHANGE:
            first, _, second = prompt.rpartition("\n\nThe second program:\n")
            return _first_change(first, second.rpartition("\n\n")[0], draws)
        case _:
            return _ask(prompt, span)


def _check(source: str) -> str:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return "yes"  # and it knows no better way to write it
    return "no"


def _first_change(first: str, second: str, draws: Draws) -> str:
    """Return the number of the first step that differs."""
    before, after = (dict(_STEP.findall(f"{source}\n")) for source in (first, second))
    changed = next((number for number in after if after[number].strip() != before.get(number, "").strip()), "1")
    others = [number for number in after if number != changed]
    return draws.pick(others) if others and draws.errs("misjudge", "change") else changed


def _ask(question: str, span: int) -> str:
    if asked := _PLACES.search(question):
        thing, places = asked[1], re.findall(r"'([^']+)'", asked[2])
        usual = [place for place in likely(thing, places) if kind(place) in USUAL_PLACES.get(thing, places)]
        kinds = list(dict.fromkeys(map(kind, usual)))[:span]
        return repr([place for place in usual if kind(place) in kinds])
    if asked := _NUMBER.search(question):
        numbers = re.findall(rf"\b{asked[1]} (\d+)", asked[2])
        return numbers[0] if numbers else "none"
    return "I do not know."
