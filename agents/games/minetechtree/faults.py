"""What was wrong with a lost attempt in the tech tree, from the game's answers."""

from __future__ import annotations

import re

from textcraft_gym.agents.contract.attempt import Attempt, Fault
from textcraft_gym.goals import KINDS

_MISSED = re.compile(r"Failed to \w+ (?P<item>[^:\n]+)")
_DONE = re.compile(r"(?:Mined|Crafted|Smelted|Hunted) (?P<items>[^\n]+)")
_REQUIRES = re.compile(r"requires ([^\n]+)")
_COUNTED = re.compile(r"(?:[0-9]+ )?(?P<item>.+?)(?P<held> \([0-9]+ held\))?")


def fault(attempt: Attempt) -> Fault | None:
    """Return whether something missed was never gained after all, or what was lacking at the end.

    Of a kind, such as planks, any item counts.
    """
    gained: list[str] = []
    missed: dict[str, None] = {}
    for _, answer in attempt.turns:
        if miss := _MISSED.match(answer):
            missed[_kind(miss["item"])] = None
        elif done := _DONE.match(answer):
            items = [_kind(item.partition(" ")[2]) for item in done["items"].split(", ")]
            gained += items
            for item in items:
                missed.pop(item, None)
    if missed:
        return "miss"
    if attempt.refused is None:
        return None
    requires = _REQUIRES.search(attempt.refused[1])
    if requires is None:
        return "wrong thing"
    lacking = [match for match in map(_COUNTED.fullmatch, requires[1].split(", ")) if match]
    if all(need["held"] or _kind(need["item"]) in gained for need in lacking):
        return "wrong count"
    return "missing part"


def _kind(item: str) -> str:
    last = item.rpartition(" ")[2]
    return last if last in KINDS else item
