"""Households: the receptacles, objects and start of one game, and their PDDL facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from textcraft_gym.envs.alfworld.facts import (
    CONTENTS,
    INNER_CONTENTS,
    OPENABLE,
    OTYPES,
    PROPERTIES,
    RTYPES,
    STATIONARY,
)
from textcraft_gym.envs.alfworld.pddl_names import bare
from textcraft_gym.envs.alfworld.placement import PlacedObject
from textcraft_gym.envs.alfworld.problem import Goal
from textcraft_gym.envs.alfworld.rooms import Fixture, Receptacle
from textcraft_gym.envs.shuffle import Uniform, pick

Fact: TypeAlias = tuple[str, ...]
"""A predicate and its arguments."""

NESTED = 0.06
"""Probability that an object such as a bowl holds another, about that of official games."""


class Household(NamedTuple):
    """The contents of a game.

    Attributes:
        goal: The goal of the task.
        receptacles: Its receptacles.
        fixtures: Objects outside any receptacle.
        objects: Objects inside receptacles, sorted by type.
        start: Location where the agent starts.
    """

    goal: Goal
    receptacles: Sequence[Receptacle]
    fixtures: Sequence[Fixture]
    objects: Sequence[PlacedObject]
    start: str


def declarations(household: Household) -> dict[str, str]:
    """Return the sort of each id that the problem declares, in order."""
    return {
        **_COMMON,
        **{obj.id: "object" for obj in household.objects},
        **{fixture.id: "object" for fixture in household.fixtures},
        **{receptacle.id: "receptacle" for receptacle in household.receptacles},
        **{receptacle.location: "location" for receptacle in household.receptacles},
        **{fixture.location: "location" for fixture in household.fixtures},
        household.start: "location",
    }


_COMMON = {
    "agent1": "agent",
    **dict.fromkeys(OTYPES, "object"),
    **{f"{otype}Type": "otype" for otype in OTYPES},
    **{f"{rtype}Type": "rtype" for rtype in RTYPES},
}
"""Declarations of every game.

The bare names of the types are objects without facts, as in the official games.
"""


def initial_facts(rng: Uniform, household: Household) -> Iterator[Fact]:
    """Yield the facts that hold at the start, in the order of the official games."""
    yield from _types(household)
    yield from _abilities(household)
    yield ("atLocation", "agent1", household.start)
    yield from _draw_nesting(rng, household.objects)
    yield from _positions(household)


def _types(household: Household) -> Iterator[Fact]:
    """Yield the type of each receptacle and object, and which types fit into which."""
    for receptacle in household.receptacles:
        yield "receptacleType", receptacle.id, f"{receptacle.rtype}Type"
    for obj in household.objects:
        yield "objectType", obj.id, f"{obj.otype}Type"
    for fixture in household.fixtures:
        yield "objectType", fixture.id, f"{fixture.otype}Type"
    otypes = dict.fromkeys(obj.otype for obj in household.objects)
    for rtype in dict.fromkeys(receptacle.rtype for receptacle in household.receptacles):
        for otype in otypes:
            if otype in CONTENTS[rtype]:
                yield "canContain", f"{rtype}Type", f"{otype}Type"


def _abilities(household: Household) -> Iterator[Fact]:
    """Yield the abilities of each object and receptacle, and the objects that start cool."""
    for obj in household.objects:
        if obj.otype not in STATIONARY:
            yield "pickupable", obj.id
    for predicate, otypes in PROPERTIES.items():
        for obj in household.objects:
            if obj.otype in otypes:
                yield predicate, obj.id
    for obj in household.objects:
        if _starts_cool(obj, household.goal):
            yield "isCool", obj.id
    for receptacle in household.receptacles:
        if receptacle.rtype in OPENABLE:
            yield "openable", receptacle.id


def _starts_cool(obj: PlacedObject, goal: Goal) -> bool:
    """Return whether an object starts cool: as in ALFRED, a goal object in the fridge.

    If the task is to cool it, no goal object starts there.
    """
    return (
        obj.otype == bare(goal.otype)
        and obj.otype in PROPERTIES["coolable"]
        and obj.receptacle.rtype == "Fridge"
    )


def _draw_nesting(rng: Uniform, objects: Sequence[PlacedObject]) -> Iterator[Fact]:
    """Put some objects into a bowl or the like in the same receptacle; they are then in both."""
    nested: set[str] = set()
    for outer in objects:
        # ``rng`` is called last, so that only objects that can hold others use up a draw.
        if outer.otype in INNER_CONTENTS and outer.id not in nested and rng() < NESTED:
            fitting = _fitting(objects, outer)
            candidates = [obj for obj in fitting if obj.id not in nested]
            if candidates:
                inner = pick(rng, candidates)
                nested.add(inner.id)
                yield "inReceptacleObject", inner.id, outer.id


def _fitting(objects: Sequence[PlacedObject], outer: PlacedObject) -> Iterator[PlacedObject]:
    """Yield the objects beside another one that fit into it."""
    # One level of nesting only.
    otypes = INNER_CONTENTS[outer.otype] - INNER_CONTENTS.keys()
    for obj in objects:
        if obj.receptacle is outer.receptacle and obj.otype in otypes:
            yield obj


def _positions(household: Household) -> Iterator[Fact]:
    for obj in household.objects:
        yield "inReceptacle", obj.id, obj.receptacle.id
    for receptacle in household.receptacles:
        yield "receptacleAtLocation", receptacle.id, receptacle.location
    for obj in household.objects:
        yield "objectAtLocation", obj.id, obj.receptacle.location
    for fixture in household.fixtures:
        yield "objectAtLocation", fixture.id, fixture.location
