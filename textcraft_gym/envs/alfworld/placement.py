"""Placement: which receptacles of a room a game uses, and where its objects and the agent start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from textcraft_gym.envs.alfworld.facts import CONTENTS, OPENABLE, STANDS
from textcraft_gym.envs.alfworld.goals import can_start_in
from textcraft_gym.envs.alfworld.pddl_names import bare, draw_id, draw_location
from textcraft_gym.envs.alfworld.problem import Goal
from textcraft_gym.envs.alfworld.rooms import Receptacle, Room
from textcraft_gym.envs.alfworld.task_id import Difficulty
from textcraft_gym.envs.shuffle import Uniform, pick, shuffle

MAX_OF_A_TYPE = 3
"""Number of distractors of one type, as in ALFRED, unless a game asks for more in all."""
SINGLE, AT_MOST_DOUBLE = 0.47, 0.78
"""Share of the types in official games with one object, and of those with one or two."""
MAX_GOAL_OBJECTS = 4


class PlacedObject(NamedTuple):
    """An object: its id, its type (``Book``) and the receptacle that it starts in."""

    id: str
    otype: str
    receptacle: Receptacle


Placement: TypeAlias = tuple[str, Receptacle]
"""An object type and the receptacle in which an object of it starts."""


def choose_receptacles(
    room: Room,
    goal: Goal,
    count: int | None,
) -> tuple[Receptacle, ...]:
    """Choose receptacles of a room, among them all that the task needs.

    Args:
        room: The room.
        goal: The goal of the task.
        count: Number of receptacles; None for the default number.
    """
    if count is None:
        count = room.size
    closed_sources, open_sources = _sources(goal, room.default_receptacles)
    targets = [
        receptacle
        for receptacle in room.default_receptacles
        if receptacle.rtype == bare(goal.target)
    ]
    # The task needs a target, and a closed and an open receptacle to start from, so that ``hidden``
    # can be met.
    needed = [*targets[:1], *closed_sources[:1], *open_sources[:1]]
    chosen = {receptacle.id for receptacle in needed}
    # Essential receptacles such as the microwave come first in a room, so that even the smallest
    # game has them.
    for receptacle in room.receptacles:
        if len(chosen) >= count:
            break
        chosen.add(receptacle.id)
    return tuple(receptacle for receptacle in room.receptacles if receptacle.id in chosen)


def place_objects(
    rng: Uniform,
    room: Room,
    goal: Goal,
    receptacles: Sequence[Receptacle],
    difficulty: Difficulty,
) -> list[PlacedObject]:
    """Draw the objects of a game, sorted by type, with the receptacles that they start in."""
    placements = [
        *_place_standing(rng, room, receptacles),
        *_place_goal_objects(rng, goal, receptacles, difficulty.hidden),
        *_place_distractors(rng, room, goal, receptacles, difficulty.distractors),
    ]
    ids: set[str] = set()
    return [
        PlacedObject(draw_id(rng, otype, ids, receptacle.centre)[0], otype, receptacle)
        for otype, receptacle in sorted(placements, key=itemgetter(0))
    ]


def draw_start(rng: Uniform, room: Room) -> str:
    """Draw the location where the agent starts: at no receptacle of the room, used or not."""
    used = {receptacle.location for receptacle in room.receptacles}
    used.update(fixture.location for fixture in room.fixtures)
    return draw_location(rng, used)


def _sources(
    goal: Goal,
    receptacles: Sequence[Receptacle],
) -> tuple[list[Receptacle], list[Receptacle]]:
    """Return the closed and the open receptacles in which a goal object may start."""
    otype, target = bare(goal.otype), bare(goal.target)
    closed_sources: list[Receptacle] = []
    open_sources: list[Receptacle] = []
    for receptacle in receptacles:
        rtype = receptacle.rtype
        if otype not in CONTENTS[rtype] or not can_start_in(goal.task_type, target, rtype):
            continue
        if rtype in OPENABLE:
            closed_sources.append(receptacle)
        else:
            open_sources.append(receptacle)
    return closed_sources, open_sources


def _place_standing(
    rng: Uniform,
    room: Room,
    receptacles: Sequence[Receptacle],
) -> Iterator[Placement]:
    """Place the lamps and, if there is anything that it may stand on, each ornament."""
    stands = [receptacle for receptacle in receptacles if receptacle.rtype in STANDS]
    otypes = room.lamps
    if stands:
        otypes += room.ornaments
    for otype in otypes:
        yield otype, pick(rng, stands)


def _place_goal_objects(
    rng: Uniform,
    goal: Goal,
    receptacles: Sequence[Receptacle],
    hidden: int,
) -> Iterator[Placement]:
    closed_sources, open_sources = _sources(goal, receptacles)
    least = 2 if goal.task_type == "pick_two_obj_and_place" else 1
    count = least + int((MAX_GOAL_OBJECTS - least + 1) * rng())
    for _ in range(count):
        preferred = closed_sources if rng() * 100 < hidden else open_sources
        yield bare(goal.otype), _draw_receptacle(rng, preferred or closed_sources or open_sources)


def _place_distractors(
    rng: Uniform,
    room: Room,
    goal: Goal,
    receptacles: Sequence[Receptacle],
    count: int | None,
) -> Iterator[Placement]:
    holders = _holders(room, goal, receptacles)
    otypes: list[str] = []
    for otype in holders:
        copies = 1 if otype in room.extras else _draw_copies(rng)
        otypes += [otype] * copies
    otypes = shuffle(rng, otypes)
    if count is None:
        count = len(otypes)
    for otype in islice(chain(otypes, _more(rng, list(holders))), count):
        yield otype, _draw_receptacle(rng, holders[otype])


def _holders(
    room: Room,
    goal: Goal,
    receptacles: Sequence[Receptacle],
) -> dict[str, list[Receptacle]]:
    """Return the receptacles for each type of distractor that has any."""
    holders: dict[str, list[Receptacle]] = {}
    for otype in (*room.objects, *room.extras):
        fitting = [receptacle for receptacle in receptacles if otype in CONTENTS[receptacle.rtype]]
        if fitting and otype != bare(goal.otype):
            holders[otype] = fitting
    return holders


def _more(rng: Uniform, otypes: Sequence[str]) -> Iterator[str]:
    """Yield object types without end, each three times a round."""
    # Lazy: a round is drawn only for a game that needs more distractors than usual.
    while otypes:
        yield from shuffle(rng, [*otypes] * MAX_OF_A_TYPE)


def _draw_copies(rng: Uniform) -> int:
    """Draw the number of objects of a type, as often one, two or three as in official games."""
    share = rng()
    if share < SINGLE:
        return 1
    if share < AT_MOST_DOUBLE:
        return 2
    return MAX_OF_A_TYPE


def _draw_receptacle(rng: Uniform, receptacles: Sequence[Receptacle]) -> Receptacle:
    """Draw a receptacle type, then a receptacle of it."""
    # Drawn at once, nearly all objects would be in cabinets, of which a kitchen has most.
    rtypes = list(dict.fromkeys(receptacle.rtype for receptacle in receptacles))
    rtype = pick(rng, rtypes)
    of_type = [receptacle for receptacle in receptacles if receptacle.rtype == rtype]
    return pick(rng, of_type)
