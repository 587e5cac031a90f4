"""Rooms: the furniture of a floor plan and its types of objects, drawn from its number alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from textcraft_gym.envs.alfworld.facts import (
    OPENABLE,
    PART_OF,
    ROOM_KINDS,
    STANDS,
    Furniture,
    RoomKind,
)
from textcraft_gym.envs.alfworld.pddl_names import Point, draw_id, draw_location, object_id
from textcraft_gym.envs.alfworld.problem import GameError
from textcraft_gym.envs.shuffle import Uniform, pick, shuffle

MAX_RECEPTACLES = 60
"""Number of receptacles drawn for each room, of which a game uses the first ones."""

FLOOR_PLANS_OF_A_KIND = 30
SHARED_LOCATION = 0.15
"""Probability that an openable receptacle shares the location of the previous one of its type."""


class Receptacle(NamedTuple):
    """A piece of furniture.

    Attributes:
        id: Its id.
        rtype: Its type, ``Cabinet``.
        location: The location that it is reached from.
        centre: Its centre.
    """

    id: str
    rtype: str
    location: str
    centre: Point


class Fixture(NamedTuple):
    """An object that cannot be moved and is in no receptacle, such as a window."""

    id: str
    otype: str
    location: str


class Room(NamedTuple):
    """Everything that the floor plan determines.

    Attributes:
        kind: Properties shared by all rooms of its kind.
        receptacles: All ``MAX_RECEPTACLES`` of them, in the order in which a growing room gets
            them.
        size: Default number of receptacles.
        lamps: Types of its lamps.
        fixtures: Objects outside any receptacle.
        objects: Types of its movable objects that tasks may be about.
        extras: Types of its other movable objects.
        ornaments: Types of objects in receptacles that cannot be moved.
    """

    kind: RoomKind
    receptacles: tuple[Receptacle, ...]
    size: int
    lamps: tuple[str, ...]
    fixtures: tuple[Fixture, ...]
    objects: tuple[str, ...]
    extras: tuple[str, ...]
    ornaments: tuple[str, ...]

    @property
    def default_receptacles(self) -> tuple[Receptacle, ...]:
        """The receptacles of the room at its default size."""
        return self.receptacles[: self.size]


@lru_cache(maxsize=120)
def build_room(plan: int) -> Room:
    """Return the room of a floor plan.

    Raises:
        GameError: If there is no such floor plan; there are 1-30, 201-230, 301-330 and 401-430.
    """
    kind = next((kind for kind in ROOM_KINDS.values() if plan in kind.plans), None)
    if kind is None:
        raise GameError(
            f"expected a floor plan in 1..30, 201..230, 301..330 or 401..430, got {plan}"
        )
    rng = random.Random(f"floor plan {plan}").random
    lamps = _draw_types(rng, kind.lamps)
    rtypes = _draw_furniture(rng, kind, bool(lamps))
    size = len(rtypes)
    # A game may ask for more receptacles than the room has by default: those are of the storage
    # types that it has.
    storage = [rtype for rtype in kind.storage if rtype in rtypes] or list(kind.storage[:1])
    while len(rtypes) < MAX_RECEPTACLES:
        rtypes.append(pick(rng, storage))
    receptacles = _place_receptacles(rng, rtypes)
    return Room(
        kind=kind,
        receptacles=receptacles,
        size=size,
        lamps=lamps,
        fixtures=tuple(_draw_fixtures(rng, kind, receptacles)),
        objects=_draw_types(rng, kind.objects),
        extras=_draw_types(rng, kind.extras),
        ornaments=_draw_types(rng, kind.ornaments),
    )


def _draw_types(rng: Uniform, types: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """Draw the types that a room has, given the number of floor plans that have each."""
    return tuple(name for name, rooms in types if rng() * FLOOR_PLANS_OF_A_KIND < rooms)


def _draw_furniture(
    rng: Uniform,
    kind: RoomKind,
    has_lamps: bool,
) -> list[str]:
    """Draw the types of a room's receptacles, starting with one of each essential type."""
    others: list[str] = []
    for furniture in kind.furniture:
        others += [furniture.name] * _draw_count(rng, furniture)
    # A lamp needs something to stand on.
    if has_lamps and not STANDS.intersection(others):
        others.append("SideTable")
    essentials = list(kind.essentials)
    if has_lamps:
        essentials.append(next(rtype for rtype in others if rtype in STANDS))
    for rtype in essentials:
        others.remove(rtype)
    return essentials + shuffle(rng, others)


def _draw_count(rng: Uniform, furniture: Furniture) -> int:
    """Draw a number of things of a type.

    Half of the non-zero draws are at most the median, and the maximum is rare.
    """
    if rng() * FLOOR_PLANS_OF_A_KIND >= furniture.rooms:
        return 0
    level = 2 * rng()
    if level < 1:
        return furniture.least + int((furniture.usual - furniture.least + 1) * level)
    # A product, not a power: powers may differ in the last bit from machine to machine.
    cubed = (level - 1) * (level - 1) * (level - 1)
    return furniture.usual + int((furniture.most - furniture.usual + 1) * cubed)


def _place_receptacles(rng: Uniform, rtypes: Sequence[str]) -> tuple[Receptacle, ...]:
    """Give each receptacle an id and a location; some share one, as the drawers of a chest do."""
    receptacles: list[Receptacle] = []
    ids: set[str] = set()
    locations: set[str] = set()
    last_location: dict[str, str] = {}
    for rtype in rtypes:
        id, centre = draw_id(rng, rtype, ids)
        shared = None
        if rtype in OPENABLE and rng() < SHARED_LOCATION:
            shared = last_location.get(rtype)
        location = shared or draw_location(rng, locations)
        last_location[rtype] = location
        receptacles.append(Receptacle(id, rtype, location, centre))
    return tuple(receptacles)


def _draw_fixtures(
    rng: Uniform,
    kind: RoomKind,
    receptacles: Sequence[Receptacle],
) -> Iterator[Fixture]:
    locations = {receptacle.location for receptacle in receptacles}
    ids: set[str] = set()
    for furniture in kind.fixtures:
        otype = furniture.name
        if otype in PART_OF:
            yield from _parts(otype, receptacles)
            continue
        for _ in range(_draw_count(rng, furniture)):
            id, _ = draw_id(rng, otype, ids)
            yield Fixture(id, otype, draw_location(rng, locations))


def _parts(otype: str, receptacles: Sequence[Receptacle]) -> Iterator[Fixture]:
    """Yield a fixture for each receptacle that it is a part of."""
    for receptacle in receptacles:
        if receptacle.rtype == PART_OF[otype]:
            yield Fixture(object_id(otype, receptacle.centre), otype, receptacle.location)
