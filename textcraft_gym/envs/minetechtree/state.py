"""A world, and the state of a game in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

from textcraft_gym.envs.minetechtree.facts import WORN, Source

Inventory: TypeAlias = dict[str, int]
"""Item ids and counts, in the order in which items were first held; replaced, never changed."""


class Point(NamedTuple):
    """Steps to the east, to the south and down."""

    east: int
    south: int
    down: int = 0

    def distance(self, other: Point) -> int:
        """Return the number of steps between two points."""
        return (
            abs(self.east - other.east)
            + abs(self.south - other.south)
            + abs(self.down - other.down)
        )


class Place(NamedTuple):
    """A source and its position."""

    source: Source
    at: Point


class World(NamedTuple):
    """The sources and biomes of an episode. Nothing runs out, so that it never changes.

    Attributes:
        places: Of each source, at least one.
        centres: The middle of each biome.
    """

    places: tuple[Place, ...]
    centres: tuple[tuple[str, Point], ...]

    def sources(self) -> dict[str, Source]:
        """Return the kinds of sources by name, in the order of their places."""
        return {place.source.name: place.source for place in self.places}

    def biome(self, at: Point) -> str:
        """Return the biome at a point, or above it: the one whose middle is nearest."""
        above = Point(at.east, at.south)
        return min(self.centres, key=lambda centre: centre[1].distance(above))[0]


class Aim(NamedTuple):
    """An item to obtain; ``worn`` if it counts only once it is equipped."""

    item: str
    worn: bool = False


class Game(NamedTuple):
    """What does not change during an episode.

    Attributes:
        world: Its world.
        aims: The items to obtain.
        limit: The limit of ticks.
        around: How distances are told, one of ``text.AROUND``.
        durability: Whether tools wear out and break.
        reliability: The probability of success by kind of action; one without any never misses.
        luck: The seed of the misses.
    """

    world: World
    aims: tuple[Aim, ...]
    limit: int
    around: str = "exact"
    durability: bool = False
    reliability: Mapping[str, float] = {}
    luck: str = ""


class State(NamedTuple):
    """The state of a game.

    Attributes:
        inventory: The items that are held, worn ones among them.
        equipped: The item worn or in hand, by slot.
        at: Position of the player.
        ticks: Number of ticks that have passed.
        obtained: The items aimed at that were obtained, whether or not they are still held.
        wear: The number of uses behind each kind of tool: of the one in use, where several are
            held.
        tries: The number of tries for each item that can be missed.
    """

    inventory: Inventory
    equipped: dict[str, str]
    at: Point
    ticks: int
    obtained: frozenset[str]
    wear: dict[str, int] = {}
    tries: dict[str, int] = {}


FIRST = State({}, {}, Point(0, 0), 0, frozenset())


@cache
def slot(item: str) -> str:
    """Return the slot that an item takes when it is equipped."""
    return next((worn for ending, worn in WORN.items() if item.endswith(ending)), "hand")


def is_won(game: Game, state: State) -> bool:
    """Return whether everything aimed at was obtained."""
    return all(aim.item in state.obtained for aim in game.aims)
