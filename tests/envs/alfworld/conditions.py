"""What each command asks for, as the rules' table has it, told over the facts of TextWorld and not
of our engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

Facts: TypeAlias = set[tuple[str, ...]]

ASKS = {
    "go to R": ("elsewhere",),
    "open R": ("here", "openable", "closed"),
    "close R": ("here", "openable", "opened"),
    "take O from R": ("empty-handed", "pickupable", "here", "accessible", "inside"),
    "move O to R": ("held", "here", "accessible", "fitting"),
    "clean O with R": ("held", "cleanable", "here", "sink"),
    "heat O with R": ("held", "heatable", "here", "microwave"),
    "cool O with R": ("held", "coolable", "here", "fridge"),
    "use O": ("toggleable", "inside something here"),
    "slice O with K": ("sliceable", "at this location", "knife", "knife held"),
    "examine R": ("here",),
    "examine O": ("held",),
}
"""By command, all that must hold for it to be played; R is a receptacle, O and K are objects."""


class Ask(NamedTuple):
    """A command that names things which there are.

    Attributes:
        command: Its key in ``ASKS``.
        missing: Which of its conditions do not hold.
    """

    command: str
    missing: tuple[str, ...]


def read(facts: Facts, command: str) -> Ask | None:
    """Return what a command asks for; None if it is none of ``ASKS`` or names what there is not."""
    things = {
        "R": _all(facts, "receptacletype"),
        "O": _all(facts, "objecttype"),
        "K": _all(facts, "objecttype"),
    }
    for ask, conditions in ASKS.items():
        match = re.fullmatch(re.sub(r"\b[ROK]\b", r"(?P<\g<0>>.+)", ask), command)
        if match and all(thing in things[letter] for letter, thing in match.groupdict().items()):
            named = [match.groupdict().get(letter, "") for letter in "ORK"]
            return Ask(
                ask,
                tuple(
                    condition
                    for condition in conditions
                    if not CONDITIONS[condition](facts, *named)
                ),
            )
    return None


def _all(facts: Facts, predicate: str) -> set[str]:
    return {fact[1] for fact in facts if fact[0] == predicate}


def _here(facts: Facts, receptacle: str) -> bool:
    return any(("receptacleatlocation", receptacle, at) in facts for at in _locations(facts))


def _locations(facts: Facts) -> set[str]:
    return {fact[2] for fact in facts if fact[0] == "atlocation"}


def _type(facts: Facts, thing: str) -> str:
    return next(
        fact[2]
        for fact in facts
        if fact[0] in ("receptacletype", "objecttype") and fact[1] == thing
    )


def _inside_something_here(facts: Facts, thing: str) -> bool:
    return any(fact[:2] == ("inreceptacle", thing) and _here(facts, fact[2]) for fact in facts)


CONDITIONS: dict[str, Callable[[Facts, str, str, str], bool]] = {
    "here": lambda facts, o, r, k: _here(facts, r),
    "elsewhere": lambda facts, o, r, k: not _here(facts, r),
    "openable": lambda facts, o, r, k: ("openable", r) in facts,
    "opened": lambda facts, o, r, k: ("opened", r) in facts,
    "closed": lambda facts, o, r, k: ("opened", r) not in facts,
    "accessible": lambda facts, o, r, k: ("openable", r) not in facts or ("opened", r) in facts,
    "inside": lambda facts, o, r, k: ("inreceptacle", o, r) in facts,
    "inside something here": lambda facts, o, r, k: _inside_something_here(facts, o),
    "at this location": lambda facts, o, r, k: any(
        ("objectatlocation", o, at) in facts for at in _locations(facts)
    ),
    "fitting": lambda facts, o, r, k: ("cancontain", _type(facts, r), _type(facts, o)) in facts,
    "empty-handed": lambda facts, o, r, k: ("holdsany", "agent1") not in facts,
    "held": lambda facts, o, r, k: ("holds", "agent1", o) in facts,
    "knife held": lambda facts, o, r, k: ("holds", "agent1", k) in facts,
    "knife": lambda facts, o, r, k: _type(facts, k) in ("knifetype", "butterknifetype"),
    "sink": lambda facts, o, r, k: _type(facts, r) in ("sinktype", "sinkbasintype"),
    "microwave": lambda facts, o, r, k: _type(facts, r) == "microwavetype",
    "fridge": lambda facts, o, r, k: _type(facts, r) == "fridgetype",
    "pickupable": lambda facts, o, r, k: ("pickupable", o) in facts,
    "cleanable": lambda facts, o, r, k: ("cleanable", o) in facts,
    "heatable": lambda facts, o, r, k: ("heatable", o) in facts,
    "coolable": lambda facts, o, r, k: ("coolable", o) in facts,
    "toggleable": lambda facts, o, r, k: ("toggleable", o) in facts,
    "sliceable": lambda facts, o, r, k: ("sliceable", o) in facts,
}
"""Each condition over the object O, the receptacle R and the knife K of a command."""
