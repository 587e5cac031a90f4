"""A table, and the state of a game on it."""

from __future__ import annotations

from typing import NamedTuple

KITS = "assembling-kits"
HANOI = "towers-of-hanoi"
BOWLS = "put-block-in-bowl"
PACKING = "packing-shapes"
PYRAMID = "stack-block-pyramid"
KINDS = (KITS, HANOI, BOWLS, PACKING, PYRAMID)
"""The kinds of task, in the order of the paper's table."""

COLOURS = ("blue", "red", "green", "yellow", "gray", "cyan", "orange", "purple", "pink", "white")
"""CLIPort's colours but brown, which the stands and the box have."""

SHAPES = (
    *(f"letter {letter} shape" for letter in "RATGVELM"),
    *("triangle", "square", "plus", "diamond", "pentagon", "rectangle"),
    *("flower", "star", "circle", "ring", "hexagon", "heart"),
)
"""CLIPort's shapes of objects and holes."""

TABLE, BOX, FLOOR = "table", "box", "floor"

LOCATIONS = ("top", "left", "middle", "right", "bottom")
"""Where the holes of a kit are."""

SIDES = ("lighter brown side", "middle of the stand", "darker brown side")
"""The parts of the stand of the rings, which begin on the first and are to be moved to the last."""

FIELDS = ("lightest", "middle", "darkest")
"""The brown fields on which a pyramid stands."""

SUPPORTS = {"left": FIELDS[:2], "right": FIELDS[1:], "peak": ("left", "right")}
"""The places above the lowest row of a pyramid, each with the two that it rests on."""

OUTER = {"left": "lightest", "right": "darkest", "peak": "left"}
"""Of the two places that one above rests on, the one that supports nothing else."""


class Thing(NamedTuple):
    """Something that can be moved; an object to pack has no colour."""

    colour: str
    shape: str

    @property
    def name(self) -> str:
        """Its name: ``red block``."""
        return f"{self.colour} {self.shape}".strip()


class World(NamedTuple):
    """What does not change on a table.

    Attributes:
        kind: One of ``KINDS``.
        things: What can be moved; rings from the smallest to the largest.
        places: The colours of the bowls, or the shapes of the holes in the order of ``LOCATIONS``.
        wanted: Index of the object to pack.
    """

    kind: str
    things: tuple[Thing, ...]
    places: tuple[str, ...] = ()
    wanted: int = 0


class Rates(NamedTuple):
    """How a controller fares with a goal that is possible.

    Attributes:
        hit: Probability that it is reached.
        spoil: Probability that it is missed in a way that costs more than a goal.
    """

    hit: float = 1.0
    spoil: float = 0.0


class Game(NamedTuple):
    """What does not change during an episode.

    Attributes:
        world: The table.
        limit: Maximum number of goals.
        rates: Those of the controller.
        luck: The seed of its misses.
    """

    world: World
    limit: int
    rates: Rates = Rates()
    luck: str = ""


class State(NamedTuple):
    """The state of a game.

    Attributes:
        at: The place of each thing: ``TABLE``, ``BOX``, ``FLOOR``, the colour of a bowl, one of
            ``LOCATIONS``, ``SIDES`` or ``FIELDS``, or a key of ``SUPPORTS``.
        spoilt: Things that cannot be moved any more.
        goals: Number of goals that the controller was given.
        tries: Number of times that each thing was picked.
        best: The largest number of parts of the task that were done at one time.
    """

    at: tuple[str, ...]
    spoilt: frozenset[int] = frozenset()
    goals: int = 0
    tries: tuple[int, ...] = ()
    best: int = 0


def first_state(world: World) -> State:
    """Return the state in which a game begins."""
    start = SIDES[0] if world.kind == HANOI else TABLE
    return State((start,) * len(world.things), tries=(0,) * len(world.things))
