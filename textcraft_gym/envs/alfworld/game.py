"""A game made ready to play: tables that never change, shared by every environment that plays it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from textcraft_gym.envs.alfworld import text
from textcraft_gym.envs.alfworld.problem import TREATED, GameError, Goal, Problem

NOWHERE = -1
NOTHING = -1
CLEAN, HOT, COOL, TOGGLED, SLICED = (1 << bit for bit in range(5))
STATES = {"isClean": CLEAN, "isHot": HOT, "isCool": COOL, "isToggled": TOGGLED, "isSliced": SLICED}
ALWAYS = ("help", "inventory", "look")
SINKS = ("SinkType", "SinkBasinType")
MAX_PLACES = 1 << 14
"""So many states of places a game keeps; then it forgets them all."""


Dialect: TypeAlias = Literal["move", "put"]


class Content(NamedTuple):
    """The changing part of a place; all numbers are of receptacles and objects.

    Attributes:
        opened: For each receptacle here, whether it is open.
        contents: For each receptacle here, the objects in it, in order.
        lying: The objects that are at this location, in order.
        taken: Objects that were taken from a receptacle here and not put back, with that receptacle.
    """

    opened: tuple[bool, ...]
    contents: tuple[tuple[int, ...], ...]
    lying: tuple[int, ...]
    taken: tuple[tuple[int, int], ...]


@dataclass(eq=False)
class Place:
    """A location in one state, and what is worked out about it, once.

    Attributes:
        location: Its number; ``NOWHERE`` for the middle of the room.
        content: Its state.
        moves: By what is held, what every command that can be played here does (see ``rules``).
        seen: What is seen in or on its receptacles, by receptacle.
    """

    location: int
    content: Content
    moves: dict[int, object] = field(default_factory=dict)
    seen: dict[int, str] = field(default_factory=dict)


class State(NamedTuple):
    """Where a game stands.

    Attributes:
        location: Where the agent is; ``NOWHERE`` in the middle of the room.
        held: The object in its hand, or ``NOTHING``.
        places: Every location's place, by number.
        flags: What became of objects: ``CLEAN``, ``HOT``, ``COOL``, ``TOGGLED`` and ``SLICED``, by object.
        won: Whether the goal holds.
    """

    location: int
    held: int
    places: tuple[Place, ...]
    flags: tuple[int, ...]
    won: bool


class Game:
    """Tables of one household.

    Receptacles and objects are numbered in the order of their ids, which is the order of every list that is printed.

    Args:
        problem: What the game says.
        dialect: How to say that something is put somewhere: ``move`` as now, ``put`` as before version 0.4.

    Raises:
        GameError: If a receptacle has no type or no location or two of them, or the goal holds at the beginning.
    """

    def __init__(self, problem: Problem, dialect: Dialect = "move") -> None:
        self.put, self.put_answer = text.PUTTING[dialect]
        self.help = text.help_text(dialect)
        self.goal: Goal = problem.goal
        self.task = problem.task
        facts: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for fact in dict.fromkeys(problem.facts):
            facts[fact[0]].append(fact[1:])
        names = _names({thing for fact in problem.facts for thing in fact[1:]})
        receptacles = _order(ids[0] for ids in facts["receptacleType"])
        objects = _order(ids[0] for ids in facts["objectType"])
        self.receptacles = [names[one] for one in receptacles]
        self.objects = [names[one] for one in objects]
        number = _Numbers({one: place for order in (receptacles, objects) for place, one in enumerate(order)})

        def numbers(predicate: str) -> frozenset[int]:
            return frozenset(number[one] for (one,) in facts[predicate] if one in number)

        self.openable = numbers("openable")
        self.pickupable = numbers("pickupable")
        self.cleanable = numbers("cleanable")
        self.heatable = numbers("heatable")
        self.coolable = numbers("coolable")
        self.sliceable = numbers("sliceable")
        self.toggleable = numbers("toggleable")
        self.receptacle_type = _single(facts["receptacleType"], receptacles, "type")
        self.object_type = _single(facts["objectType"], objects, "type")
        self.fits = frozenset(facts["canContain"])
        inner: defaultdict[int, list[int]] = defaultdict(list)
        for inside, outer in facts["inReceptacleObject"]:
            inner[number[outer]].append(number[inside])
        self.inner = {one: sorted(inner[one]) for one in numbers("isReceptacleObject")}

        where = _single(facts["receptacleAtLocation"], receptacles, "location")
        self.locations = list(dict.fromkeys(where))
        self.here = [[r for r, at in enumerate(where) if at == location] for location in self.locations]
        self.location_of = [self.locations.index(at) for at in where]
        self.go_to = {f"go to {name}": r for r, name in enumerate(self.receptacles)}
        self._common: dict[int, list[str]] = {}
        self.places: dict[tuple[int, Content], Place] = {}
        self._aim(problem.goal)
        self.first = self._first(facts, number)

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of all that is played by, the same on every machine."""
        able = (self.openable, self.pickupable, self.cleanable, self.heatable, self.coolable, self.sliceable)
        sets = [sorted(one) for one in (*able, self.toggleable, self.fits)]
        things = list(zip(self.receptacles, self.receptacle_type, self.location_of, strict=True))
        objects = list(zip(self.objects, self.object_type, self.first.flags, strict=True))
        contents = [place.content for place in self.first.places]
        told = (self.task, self.goal, self.put, things, objects, self.inner, sets, self.first.location, contents)
        return hashlib.sha256(repr(told).encode()).hexdigest()

    def place(self, location: int, content: Content) -> Place:
        """Return the one place of this location in this state."""
        key = location, content
        place = self.places.get(key)
        if place is None:
            if len(self.places) >= MAX_PLACES:
                self.places.clear()
            place = self.places[key] = Place(location, content)
        return place

    def common_commands(self, location: int) -> list[str]:
        """Return the commands that can be played at a location whatever its state, in order."""
        found = self._common.get(location)
        if found is None:
            going = [command for command, r in self.go_to.items() if self.location_of[r] != location]
            found = self._common[location] = sorted([*going, *ALWAYS])
        return found

    def _aim(self, goal: Goal) -> None:
        """Note which objects the goal asks for, in what state, where, or under which lamps."""
        able, state = TREATED.get(goal.task_type, (None, None))
        self.required = STATES[state] if state else 0
        self.wanted = frozenset(
            one
            for one, kind in enumerate(self.object_type)
            if kind == goal.otype and (able is None or one in getattr(self, able))
        )
        self.lamps = frozenset(one for one in self.toggleable if self.object_type[one] == goal.target)
        self.targets = [
            (self.location_of[r], number)
            for here in self.here
            for number, r in enumerate(here)
            if self.receptacle_type[r] == goal.target
        ]

    def _first(self, facts: dict[str, list[tuple[str, ...]]], number: dict[str, int]) -> State:
        inside: defaultdict[int, list[int]] = defaultdict(list)
        lying: defaultdict[str, list[int]] = defaultdict(list)
        for one, receptacle in facts["inReceptacle"]:
            inside[number[receptacle]].append(number[one])
        for one, where in facts["objectAtLocation"]:
            lying[where].append(number[one])
        opened = {number[one] for (one,) in facts["opened"]}
        places = []
        for location, (name, here) in enumerate(zip(self.locations, self.here, strict=True)):
            contents = tuple(tuple(sorted(inside[r])) for r in here)
            content = Content(tuple(r in opened for r in here), contents, tuple(sorted(lying[name])), ())
            places.append(self.place(location, content))
        flags = [0] * len(self.objects)
        for predicate, flag in STATES.items():
            for (one,) in facts[predicate]:
                flags[number[one]] |= flag
        if len(facts["atLocation"]) != 1:
            raise GameError(f"expected the agent to be at one location, got {len(facts['atLocation'])}")
        begins = facts["atLocation"][0][1]
        at = self.locations.index(begins) if begins in self.locations else NOWHERE
        return State(at, NOTHING, tuple(places), tuple(flags), False)


class _Numbers(dict[str, int]):
    """The number of each receptacle and object by its id."""

    def __missing__(self, one: str) -> int:
        raise GameError(f"{one} has no type")


def _names(ids: set[str]) -> dict[str, str]:
    """Return how ids are called: their class in lower case and a number, the highest for the first in order."""
    classes: defaultdict[str, list[str]] = defaultdict(list)
    for one in sorted(ids, key=str.lower):
        name = one.lower()
        head, bar, _ = name.partition("_bar_")
        classes[head + ("basin" if "basin" in name else "") if bar else ""].append(one)
    return {
        one: f"{name} {len(members) - place}" if name else f"{one.lower()} "
        for name, members in classes.items()
        for place, one in enumerate(members)
    }


def _order(ids: Iterable[str]) -> list[str]:
    return sorted(set(ids), key=str.lower)


def _single(pairs: list[tuple[str, ...]], things: list[str], what: str) -> list[str]:
    """Return the one value that each thing has."""
    found: dict[str, str] = {}
    for thing, value in pairs:
        if found.setdefault(thing, value) != value:
            raise GameError(f"{thing} has two {what}s, {found[thing]} and {value}")
    for thing in things:
        if thing not in found:
            raise GameError(f"{thing} has no {what}")
    return [found[thing] for thing in things]
