"""The goals that the controller is given in words, parsed without knowing what is on the table."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

MAX_LENGTH = 200
"""Maximum number of characters of a goal."""


class PutInBowl(NamedTuple):
    """Put one of the blocks of a colour in a bowl of a colour."""

    colour: str
    bowl: str


class PutOnField(NamedTuple):
    """Put a block on a brown field of the stand."""

    colour: str
    field: str


class PutOnBlocks(NamedTuple):
    """Put a block on two others."""

    colour: str
    first: str
    second: str


class MoveRing(NamedTuple):
    """Move a ring to a part of the stand."""

    colour: str
    side: str


class Pack(NamedTuple):
    """Pack an object in the box."""

    shape: str


class PutInHole(NamedTuple):
    """Put an object in a hole; the location is empty where it is not named."""

    colour: str
    shape: str
    location: str
    hole: str


class Look(NamedTuple):
    """Look at the table."""


class Unknown(NamedTuple):
    """Anything else."""

    typed: str


Goal: TypeAlias = "PutInBowl | PutOnField | PutOnBlocks | MoveRing | Pack | PutInHole"
Action: TypeAlias = "Goal | Look | Unknown"

_FORMS: tuple[tuple[re.Pattern[str], type[Goal]], ...] = (
    (re.compile("put the ([a-z]+) blocks in a ([a-z]+) bowl"), PutInBowl),
    (re.compile("put the ([a-z]+) block on the (lightest|middle|darkest) brown block"), PutOnField),
    (re.compile("put the ([a-z]+) block on the ([a-z]+) and ([a-z]+) blocks"), PutOnBlocks),
    (
        re.compile(
            "move the ([a-z]+) ring to the "
            "(lighter brown side|middle of the stand|darker brown side)"
        ),
        MoveRing,
    ),
    (re.compile("pack the ([A-Za-z ]+) in the brown box"), Pack),
    (
        re.compile(
            "put the ([a-z]+) ([A-Za-z ]+) in the "
            "(?:(top|left|middle|right|bottom) )?([A-Za-z ]+) hole"
        ),
        PutInHole,
    ),
)


def parse(action: str) -> Action:
    """Read one action. Any string will do."""
    line = action.strip()
    if line == "look":
        return Look()
    if len(line) > MAX_LENGTH:
        return Unknown(line)
    for pattern, form in _FORMS:
        match = pattern.fullmatch(line)
        if match:
            return form(*match.groups(default=""))
    return Unknown(line)
