"""Placement: which receptacles of a room a game uses, and where its objects and the agent start."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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
"""Number of distractors of one type, as in ALFRED; more only if the game asks for more distractors than that allows."""
SINGLE, AT_MOST_DOUBLE = 0.47, 0.78
"""Share of the types in official games of which there is one object, and of those with one or two."""
MAX_GOAL_OBJECTS = 4


class PlacedObject(NamedTuple):
    """An object: its id, its type (``Book``) and the receptacle that it starts in."""

    id: str
    otype: str
    receptacle: Receptacle


Placement: TypeAlias = tuple[str, Receptacle]
"""An object type and the receptacle in which an object of it starts."""


def choose_receptacles(room: Room, goal: Goal, count: int | None) -> tuple[Receptacle, ...]:
    """Choose receptacles of a room, among them all that the task needs; None for the default number."""
    sources = _sources(goal, room.default_receptacles)
    open_sources = [receptacle for receptacle in sources if receptacle.rtype not in OPENABLE]
    # The task needs a target, and a closed and an open receptacle to start from, so that ``hidden``
    # can be met.
    needed = [
        _first(room.default_receptacles, {bare(goal.target)}),
        _first(sources, OPENABLE),
        *open_sources[:1],
    ]
    chosen = {receptacle.id for receptacle in needed if receptacle}
    # Essential receptacles such as the microwave come first in a room, so that even the smallest
    # game has them.
    free = (room.size if count is None else count) - len(chosen)
    others = [receptacle.id for receptacle in room.receptacles if receptacle.id not in chosen]
    chosen.update(others[: max(free, 0)])
    return tuple(receptacle for receptacle in room.receptacles if receptacle.id in chosen)


def place_objects(
    rng: Uniform, room: Room, goal: Goal, receptacles: Sequence[Receptacle], difficulty: Difficulty
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
    """Draw the location where the agent starts: at no receptacle of the room, not even at an unused one."""
    used = {receptacle.location for receptacle in room.receptacles}
    return draw_location(rng, used.union(fixture.location for fixture in room.fixtures))


def _sources(goal: Goal, receptacles: Sequence[Receptacle]) -> list[Receptacle]:
    """Return the receptacles in which a goal object may start."""
    otype, target = bare(goal.otype), bare(goal.target)
    return [
        receptacle
        for receptacle in receptacles
        if otype in CONTENTS[receptacle.rtype]
        and can_start_in(goal.task_type, target, receptacle.rtype)
    ]


def _first(receptacles: Sequence[Receptacle], rtypes: Collection[str]) -> Receptacle | None:
    return next((receptacle for receptacle in receptacles if receptacle.rtype in rtypes), None)


def _place_standing(
    rng: Uniform, room: Room, receptacles: Sequence[Receptacle]
) -> Iterator[Placement]:
    """Place the lamps and, if there is anything that it may stand on, each ornament."""
    stands = [receptacle for receptacle in receptacles if receptacle.rtype in STANDS]
    for otype in (*room.lamps, *(room.ornaments if stands else ())):
        yield otype, pick(rng, stands)


def _place_goal_objects(
    rng: Uniform, goal: Goal, receptacles: Sequence[Receptacle], hidden: int
) -> Iterator[Placement]:
    sources = _sources(goal, receptacles)
    closed_sources = [receptacle for receptacle in sources if receptacle.rtype in OPENABLE]
    open_sources = [receptacle for receptacle in sources if receptacle.rtype not in OPENABLE]
    least = 2 if goal.task_type == "pick_two_obj_and_place" else 1
    for _ in range(least + int((MAX_GOAL_OBJECTS - least + 1) * rng())):
        preferred = closed_sources if rng() * 100 < hidden else open_sources
        yield bare(goal.otype), _draw_receptacle(rng, preferred or closed_sources or open_sources)


def _place_distractors(
    rng: Uniform, room: Room, goal: Goal, receptacles: Sequence[Receptacle], count: int | None
) -> Iterator[Placement]:
    holders = {
        otype: [receptacle for receptacle in receptacles if otype in CONTENTS[receptacle.rtype]]
        for otype in (*room.objects, *room.extras)
        if otype != bare(goal.otype)
    }
    fitting = [otype for otype, some in holders.items() if some]
    copies = {otype: 1 if otype in room.extras else _draw_copies(rng) for otype in fitting}
    usual = shuffle(rng, [otype for otype in fitting for _ in range(copies[otype])])
    if count is None:
        count = len(usual)
    # Each round of the generator offers every type three times; a game takes one only if it needs
    # more than usual.
    more = (otype for _ in range(count) for otype in shuffle(rng, fitting * MAX_OF_A_TYPE))
    for otype in islice(chain(usual, more), count):
        yield otype, _draw_receptacle(rng, holders[otype])


def _draw_copies(rng: Uniform) -> int:
    """Draw the number of objects of a type, as often one, two or three as in official games."""
    share = rng()
    return 1 if share < SINGLE else 2 if share < AT_MOST_DOUBLE else MAX_OF_A_TYPE


def _draw_receptacle(rng: Uniform, receptacles: Sequence[Receptacle]) -> Receptacle:
    """Draw a receptacle type, then a receptacle of it."""
    # Drawn at once, nearly all objects would be in cabinets, of which a kitchen has most.
    rtypes = list(dict.fromkeys(receptacle.rtype for receptacle in receptacles))
    rtype = pick(rng, rtypes)
    of_type = [receptacle for receptacle in receptacles if receptacle.rtype == rtype]
    return pick(rng, of_type)
