"""A game ready to play: lookup tables, which all environments that play it share, and states."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from textcraft_gym.envs.alfworld.problem import TREATED, GameError, Goal, Problem
from textcraft_gym.envs.alfworld.text import WORDINGS, Dialect

Facts: TypeAlias = Mapping[str, Sequence[tuple[str, ...]]]
"""The arguments of facts by predicate."""

NOWHERE = -1
NOTHING = -1
CLEAN, HOT, COOL, TOGGLED, SLICED = (1 << bit for bit in range(5))
STATES = {"isClean": CLEAN, "isHot": HOT, "isCool": COOL, "isToggled": TOGGLED, "isSliced": SLICED}
SINKS = ("SinkType", "SinkBasinType")
MAX_PLACES = 1 << 14
"""Number of ``Place`` objects that a game caches; when they are more, the cache is cleared."""


class Content(NamedTuple):
    """The state of a location; receptacles and objects are given by index.

    Attributes:
        opened: Whether each receptacle here is open.
        contents: The sorted objects in each receptacle here.
        lying: The sorted objects that are at this location.
        taken: Pairs of an object and the receptacle here that it was taken from, until it is put
            back there.
    """

    opened: tuple[bool, ...]
    contents: tuple[tuple[int, ...], ...]
    lying: tuple[int, ...]
    taken: tuple[tuple[int, int], ...]


@dataclass(eq=False)
class Place:
    """A location in one state, with a cache of everything that was computed about it.

    Attributes:
        location: Its index; ``NOWHERE`` for the middle of the room.
        content: Its state.
        moves: The effects of all commands that can be played here, by the object held (see
            ``rules``).
        seen: The descriptions of its receptacles.
    """

    location: int
    content: Content
    moves: dict[int, object] = field(default_factory=dict)
    seen: dict[int, str] = field(default_factory=dict)


class State(NamedTuple):
    """A state of a game.

    Attributes:
        location: Index of the agent's location; ``NOWHERE`` for the middle of the room.
        held: Index of the object in its hand, or ``NOTHING``.
        places: The state of every location.
        flags: For each object, a bit set of ``CLEAN``, ``HOT``, ``COOL``, ``TOGGLED`` and
            ``SLICED``.
        won: Whether the goal holds.
    """

    location: int
    held: int
    places: tuple[Place, ...]
    flags: tuple[int, ...]
    won: bool


class Game:
    """Lookup tables of one household.

    Receptacles and objects are given by index, in the order of their ids, which is the order of
    every list that is printed.

    Args:
        problem: Declarations, facts and goal.
        dialect: The dialect of its commands and texts, whatever that of its file.

    Attributes:
        wording: The wording of its dialect.
        receptacles, objects: Their names, ``fridge 1``.
        arrivals: For each receptacle, where ``go to`` says that the agent arrives.
        fits: Pairs of a receptacle type and an object type that it can hold.
        inner: For each object that can hold others, the objects in it.
        here: For each location, its receptacles.
        go_to: The receptacle that each ``go to`` command leads to.
        wanted: Objects that the goal is about.
        required: Flags that such an object must have in the end.
        targets: Receptacles to put it in, each as a location and an index into the receptacles
            there.
        lamps: Lamps to hold it under.
        first: The state at the start.

    Raises:
        GameError: If a receptacle or object has no type or two, or a receptacle has no location or
            two.
    """

    def __init__(self, problem: Problem, dialect: Dialect = "0.4") -> None:
        self.wording = WORDINGS[dialect]
        self.goal: Goal = problem.goal
        self.task = problem.task
        facts = problem.arguments
        receptacles = _sorted_ids(facts["receptacleType"])
        objects = _sorted_ids(facts["objectType"])
        # Names are numbered over all ids in the facts, as in the real engine, not only over
        # receptacles and objects.
        names = _names(set(chain.from_iterable(chain.from_iterable(facts.values()))))
        self.receptacles = [names[receptacle] for receptacle in receptacles]
        self.objects = [names[obj] for obj in objects]
        index = _Indices(receptacles, objects)
        self.openable = index.known(facts["openable"])
        self.pickupable = index.known(facts["pickupable"])
        self.cleanable = index.known(facts["cleanable"])
        self.heatable = index.known(facts["heatable"])
        self.coolable = index.known(facts["coolable"])
        self.sliceable = index.known(facts["sliceable"])
        self.toggleable = index.known(facts["toggleable"])
        self.receptacle_type = _only_values(facts["receptacleType"], receptacles, "type")
        self.object_type = _only_values(facts["objectType"], objects, "type")
        self.fits = frozenset(facts["canContain"])
        inner: defaultdict[int, list[int]] = defaultdict(list)
        for inside, outer in facts["inReceptacleObject"]:
            inner[index[outer]].append(index[inside])
        self.inner = {obj: sorted(inner[obj]) for obj in index.known(facts["isReceptacleObject"])}
        locations = _only_values(facts["receptacleAtLocation"], receptacles, "location")
        self.arrivals = self.receptacles
        if self.wording.arrives_at_locations:
            self.arrivals = [names[location] for location in locations]
        self._set_locations(locations)
        self._common: dict[int, list[str]] = {}
        self.places: dict[tuple[int, Content], Place] = {}
        self._set_goal(problem.goal)
        self.first = self._first_state(facts, index)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that decides how the game plays, the same on every machine."""
        sets: tuple[frozenset[Any], ...] = (
            self.openable,
            self.pickupable,
            self.cleanable,
            self.heatable,
            self.coolable,
            self.sliceable,
            self.toggleable,
            self.fits,
        )
        receptacles = list(
            zip(self.receptacles, self.receptacle_type, self.location_of, strict=True)
        )
        objects = list(zip(self.objects, self.object_type, self.first.flags, strict=True))
        contents = [place.content for place in self.first.places]
        start = self.first.location
        parts = (
            self.task,
            self.wording,
            self.arrivals,
            self.goal,
            receptacles,
            objects,
            self.inner,
            [sorted(members) for members in sets],
            start,
            contents,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all receptacles and objects."""
        return frozenset([*self.receptacles, *self.objects])

    def place(self, location: int, content: Content) -> Place:
        """Return the one ``Place`` object of this location in this state."""
        key = location, content
        place = self.places.get(key)
        if place is None:
            # A long walk would fill the memory; what is cleared is made again when it is needed.
            if len(self.places) >= MAX_PLACES:
                self.places.clear()
            place = self.places[key] = Place(location, content)
        return place

    def contents(
        self,
        state: State,
        receptacle: int,
    ) -> tuple[int, ...]:
        """Return the objects in a receptacle."""
        location = self.location_of[receptacle]
        return state.places[location].content.contents[self.here[location].index(receptacle)]

    def is_closed(self, state: State, receptacle: int) -> bool:
        """Return whether a receptacle can be opened now."""
        location = self.location_of[receptacle]
        is_open = state.places[location].content.opened[self.here[location].index(receptacle)]
        return receptacle in self.openable and not is_open

    def common_commands(self, location: int) -> list[str]:
        """Return the sorted commands that can be played at a location in all of its states."""
        commands = self._common.get(location)
        if commands is None:
            commands = self._common[location] = [
                command for command, leads_to in self._going if leads_to != location
            ]
        return commands

    def _set_locations(self, location_ids: list[str]) -> None:
        """Index the locations, given that of each receptacle."""
        self.locations = list(dict.fromkeys(location_ids))
        index = {location_id: index for index, location_id in enumerate(self.locations)}
        self.location_of = [index[location_id] for location_id in location_ids]
        self.here: list[list[int]] = [[] for _ in self.locations]
        for receptacle, location in enumerate(self.location_of):
            self.here[location].append(receptacle)
        self.go_to: dict[str, int] = {}
        leads_to: dict[str, int | None] = {"inventory": None, "look": None}
        if self.wording.help:
            leads_to["help"] = None
        for receptacle, name in enumerate(self.receptacles):
            command = f"go to {name}"
            self.go_to[command] = receptacle
            leads_to[command] = self.location_of[receptacle]
        # Sorted once here, so that the commands of each location are, too.
        self._going = sorted(leads_to.items())

    def _set_goal(self, goal: Goal) -> None:
        self.required = 0
        wanted = {obj for obj, otype in enumerate(self.object_type) if otype == goal.otype}
        if goal.task_type in TREATED:
            # Of a type some objects may be clean, but only those that can be cleaned count.
            able, state = TREATED[goal.task_type]
            self.required = STATES[state]
            wanted &= getattr(self, able)
        self.wanted = frozenset(wanted)
        self.lamps = frozenset(
            lamp for lamp in self.toggleable if self.object_type[lamp] == goal.target
        )
        self.targets: list[tuple[int, int]] = []
        for location, here in enumerate(self.here):
            for position, receptacle in enumerate(here):
                if self.receptacle_type[receptacle] == goal.target:
                    self.targets.append((location, position))

    def _first_state(self, facts: Facts, index: _Indices) -> State:
        places = tuple(self._first_places(facts, index))
        flags = [0] * len(self.objects)
        for predicate, flag in STATES.items():
            for (obj,) in facts[predicate]:
                flags[index[obj]] |= flag
        if len(facts["atLocation"]) != 1:
            count = len(facts["atLocation"])
            raise GameError(f"expected the agent to be at one location, got {count}")
        start = facts["atLocation"][0][1]
        location = self.locations.index(start) if start in self.locations else NOWHERE
        return State(location, NOTHING, places, tuple(flags), False)

    def _first_places(self, facts: Facts, index: _Indices) -> Iterator[Place]:
        """Yield the state of each location at the start."""
        inside: defaultdict[int, list[int]] = defaultdict(list)
        for obj, receptacle in facts["inReceptacle"]:
            inside[index[receptacle]].append(index[obj])
        lying: defaultdict[str, list[int]] = defaultdict(list)
        for obj, location_id in facts["objectAtLocation"]:
            lying[location_id].append(index[obj])
        opened = {index[receptacle] for (receptacle,) in facts["opened"]}
        for location, location_id in enumerate(self.locations):
            here = self.here[location]
            # Sorted, so that play comes back to equal contents, and thus to the same place.
            content = Content(
                opened=tuple([receptacle in opened for receptacle in here]),
                contents=tuple([tuple(sorted(inside[receptacle])) for receptacle in here]),
                lying=tuple(sorted(lying[location_id])),
                taken=(),
            )
            yield self.place(location, content)


class _Indices(dict[str, int]):
    """The index of each receptacle among the receptacles, and of each object among the objects."""

    def __init__(
        self,
        receptacles: Iterable[str],
        objects: Iterable[str],
    ) -> None:
        for ids in (receptacles, objects):
            for index, id in enumerate(ids):
                self[id] = index

    def __missing__(self, id: str) -> int:
        raise GameError(f"{id} has no type")

    def known(self, arguments: Iterable[tuple[str, ...]]) -> frozenset[int]:
        """Return the indices of the ids in facts of one argument; ids without a type have none."""
        return frozenset(self[id] for (id,) in arguments if id in self)


def _names(ids: set[str]) -> dict[str, str]:
    """Return the name of each id: its class in lower case and a number.

    The first in order has the highest number.
    """
    classes: defaultdict[str, list[str]] = defaultdict(list)
    names = {}
    for id in sorted(ids, key=str.lower):
        lowered = id.lower()
        head, bar, _ = lowered.partition("_bar_")
        name = head if bar else ""
        # As in the real engine, anywhere in the id: some bathtubs have ``SinkBasin`` at its end.
        if bar and "basin" in lowered:
            name = f"{head}basin"
        if name:
            classes[name].append(id)
        else:
            # As in the real engine, a blank stands for the number of an id without coordinates.
            names[id] = f"{lowered} "
    for name, members in classes.items():
        for number, id in enumerate(reversed(members), 1):
            names[id] = f"{name} {number}"
    return names


def _sorted_ids(arguments: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the first arguments of facts: the ids that the facts are about."""
    return sorted({id for id, *_ in arguments}, key=str.lower)


def _only_values(
    pairs: Sequence[tuple[str, ...]],
    ids: list[str],
    relation: str,
) -> list[str]:
    """Return the value of each id, of which it must have exactly one."""
    values: dict[str, str] = {}
    for id, value in pairs:
        if values.setdefault(id, value) != value:
            raise GameError(f"{id} has two {relation}s, {values[id]} and {value}")
    for id in ids:
        if id not in values:
            raise GameError(f"{id} has no {relation}")
    return [values[id] for id in ids]
