"""Households and tasks out of nothing but an id: the same id is the same game, byte for byte, on every machine.

An id reads as in ALFWorld, ``pick_heat_then_place_in_recep-Egg-None-Fridge-12/trial_00042``: what to do with what
and where, the floor plan, and the trial. The floor plan alone fixes the room: its receptacles, where they stand,
its lamps. The whole id fixes the rest. A difficulty other than the default stands at the end,
``trial_00042_receptacles12_distractors5_hidden100``.

Every game can be won from every state that play leads to: the target, the appliance and the lamp are there, nothing is
locked or used up, and what has been taken can go back to where it was. None is won at the start.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from textcraft_gym.envs.alfworld.facts import (
    APPLIANCES,
    CONTENTS,
    HOLDS_ONE,
    INNER_CONTENTS,
    OPENABLE,
    OTYPES,
    PROPERTIES,
    ROOM_KINDS,
    RTYPES,
    STANDS,
    TASK_ROOMS,
    Furniture,
    RoomKind,
)
from textcraft_gym.envs.alfworld.problem import TASK_TYPES, GameError, Goal, Problem
from textcraft_gym.envs.shuffle import Number, shuffle
from textcraft_gym.errors import UnknownName

Fact = tuple[str, ...]

RECEPTACLES = (8, 60)
"""The fewest receptacles, in which still every task fits, and the most that a room is made for."""
DISTRACTORS = (0, 100)
HIDDEN = (0, 100)

SPLITS = {"train": 3600, "valid_seen": 140, "valid_unseen": 134}
"""How many tasks a split has; the two that are held out are as large as the official ones."""
UNSEEN_PLANS = range(26, 30)
"""Which of its 30 floor plans every kind of room keeps for ``valid_unseen``: the last four, as 27, 28, 29 and 30."""

PLACED_ALREADY = ("pick_and_place_simple", "pick_two_obj_and_place")
"""Where an object that begins in a receptacle of the target's type would do a part of the task, or all of it."""

SENTENCES = {
    "pick_and_place_simple": ("put a {object} in {target}.", "put some {object} on {target}."),
    "look_at_obj_in_light": ("look at {object} under the {target}.", "examine the {object} with the {target}."),
    "pick_clean_then_place_in_recep": (
        "put a clean {object} in {target}.",
        "clean some {object} and put it in {target}.",
    ),
    "pick_heat_then_place_in_recep": ("put a hot {object} in {target}.", "heat some {object} and put it in {target}."),
    "pick_cool_then_place_in_recep": ("put a cool {object} in {target}.", "cool some {object} and put it in {target}."),
    "pick_two_obj_and_place": ("put two {object} in {target}.", "find two {object} and put them in {target}."),
}

_ID = re.compile(
    r"(?P<task_type>[a-z_]+)-(?P<otype>[A-Za-z]+)-None-(?P<target>[A-Za-z]+)-(?P<plan>[1-9]\d{0,2})/trial_(?P<trial>\d{5})"
    r"(?:_receptacles(?P<receptacles>\d{1,3}))?(?:_distractors(?P<distractors>\d{1,3}))?(?:_hidden(?P<hidden>\d{1,3}))?",
    re.ASCII,
)


class Difficulty(NamedTuple):
    """How hard a game is to search.

    Attributes:
        receptacles: How many there are, 8 to 60; by default as many as such a floor plan has.
        distractors: How many objects there are besides those of the task, 0 to 100; by default about as in ALFRED.
        hidden: How likely each object of the task begins in something closed, 0 to 100 per cent; what fits into nothing
            closed lies open all the same.
    """

    receptacles: int | None = None
    distractors: int | None = None
    hidden: int = 40


class Order(NamedTuple):
    """What an id says: the goal, the floor plan, the trial and the difficulty."""

    goal: Goal
    plan: int
    trial: int
    difficulty: Difficulty = Difficulty()

    @property
    def id(self) -> str:
        """The id in ALFWorld's form; what is usual of the difficulty is left out."""
        task_type, otype, target = self.goal
        knobs = [
            f"_{knob}{value}"
            for knob, value, usual in zip(Difficulty._fields, self.difficulty, Difficulty(), strict=True)
            if value != usual
        ]
        folder = f"{task_type}-{_bare(otype)}-None-{_bare(target)}-{self.plan}"
        return f"{folder}/trial_{self.trial:05d}{''.join(knobs)}"


class Receptacle(NamedTuple):
    """A piece of furniture: its id, its type (``Cabinet``), where one stands at it, and its middle in centimetres."""

    id: str
    rtype: str
    location: str
    middle: tuple[int, int, int]


class Fixture(NamedTuple):
    """A thing that stays where it is, such as a window."""

    id: str
    otype: str
    location: str


class Room(NamedTuple):
    """What a floor plan fixes.

    Attributes:
        kind: What is common to all rooms of its kind.
        receptacles: All that there could be, in the order in which a growing room gets them.
        size: How many of them there are by default.
        lamps: The types of its lamps.
        fixtures: What is in no receptacle.
    """

    kind: RoomKind
    receptacles: tuple[Receptacle, ...]
    size: int
    lamps: tuple[str, ...]
    fixtures: tuple[Fixture, ...]

    @property
    def usual(self) -> tuple[Receptacle, ...]:
        """The receptacles of the room at its default size."""
        return self.receptacles[: self.size]


class Thing(NamedTuple):
    """An object: its id, its type (``Book``) and the receptacle that it begins in."""

    id: str
    otype: str
    receptacle: Receptacle


Placement = tuple[str, Receptacle]
"""A type of object and the receptacle that one of it begins in."""


@lru_cache(maxsize=8)
def split_ids(split: str) -> tuple[str, ...]:
    """Return the ids of ``train``, ``valid_seen`` or ``valid_unseen``; no goal stands twice in one room.

    Raises:
        UnknownName: If there is no such split.
    """
    if split not in SPLITS:
        raise UnknownName("split", split, list(SPLITS))
    if split == "train":
        return _seen_ids()[0]
    return _seen_ids()[1] if split == "valid_seen" else _split_by_type(split, SPLITS[split])


def make_id(task_type: str, plan: int, trial: int, difficulty: Difficulty = Difficulty()) -> str:  # noqa: B008 a value
    """Return the id of a task of a type on a floor plan; which object and which target follows from the trial.

    Raises:
        GameError: If such a task does not belong in such a room, or the difficulty is out of bounds.
    """
    if task_type not in TASK_TYPES:
        raise UnknownName("task type", task_type, TASK_TYPES)
    if not 0 <= trial <= 99999:
        raise GameError(f"expected a trial in 0..99999, got {trial}")
    check_difficulty(difficulty)
    options = _options(task_type, plan)
    if not options:
        kinds = ", ".join(f"{ROOM_KINDS[kind].plans[0]}-{ROOM_KINDS[kind].plans[-1]}" for kind in TASK_ROOMS[task_type])
        raise GameError(f"{task_type} does not fit on floor plan {plan}; it is set on {kinds}")
    goal = _draw_goal(random.Random(f"{task_type}/{plan}/{trial}").random, task_type, options)
    return Order(goal, plan, trial, difficulty).id


def read_id(task_id: str) -> Order:
    """Read an id.

    Raises:
        GameError: If it is not one, or names a task that its room does not offer.
    """
    matched = _ID.fullmatch(task_id)
    if not matched:
        raise GameError(f"expected <task type>-<Object>-None-<Target>-<floor plan>/trial_<5 digits>, got {task_id!r}")
    goal = Goal(matched["task_type"], f"{matched['otype']}Type", f"{matched['target']}Type")
    knobs = {knob: int(matched[knob]) for knob in Difficulty._fields if matched[knob]}
    order = Order(goal, int(matched["plan"]), int(matched["trial"]), Difficulty()._replace(**knobs))
    check_difficulty(order.difficulty)
    if matched["target"] not in dict(_options(goal.task_type, order.plan)).get(matched["otype"], ()):
        raise GameError(f"{task_id}: there is no such task on floor plan {order.plan}")
    if order.id != task_id:
        raise GameError(f"{task_id} is written {order.id}")
    return order


def generate(task_id: str) -> Problem:
    """Return the game of an id.

    Raises:
        GameError: If there is no such task.
    """
    order = read_id(task_id)
    goal, difficulty = order.goal, order.difficulty
    number = random.Random(order.id).random
    room = build_room(order.plan)
    receptacles = _kept(room, goal, difficulty.receptacles)
    placements = [
        *_lamps(number, room, receptacles),
        *_goal_objects(number, goal, receptacles, difficulty.hidden),
        *_distractors(number, room, goal, receptacles, difficulty.distractors),
    ]
    things = _with_ids(number, placements)
    start = _start(number, room)
    sentences = SENTENCES[goal.task_type]
    sentence = sentences[int(number() * len(sentences))]
    facts = _facts(number, goal, room, receptacles, things, start)
    task = sentence.format(object=_bare(goal.otype).lower(), target=_bare(goal.target).lower())
    return Problem(_declared(room, receptacles, things, start), tuple(facts), goal, task)


@lru_cache(maxsize=120)
def build_room(plan: int) -> Room:
    """Return the room of a floor plan.

    Raises:
        GameError: If there is no such plan; there are 1-30, 201-230, 301-330 and 401-430.
    """
    kind = next((kind for kind in ROOM_KINDS.values() if plan in kind.plans), None)
    if kind is None:
        raise GameError(f"expected a floor plan in 1..30, 201..230, 301..330 or 401..430, got {plan}")
    number = random.Random(f"floor plan {plan}").random
    lamps = tuple(lamp for lamp, rooms in kind.lamps if number() * 30 < rooms)
    rtypes = _draw_furniture(number, kind, bool(lamps))
    size = len(rtypes)
    present = [rtype for rtype in kind.storage if rtype in rtypes] or list(kind.storage[:1])
    rtypes += [present[int(number() * len(present))] for _ in range(RECEPTACLES[1] - size)]
    receptacles = _put_up(number, rtypes)
    used = {receptacle.location for receptacle in receptacles}
    return Room(kind, receptacles, size, lamps, _fixtures(number, kind, receptacles, used))


def _draw_furniture(number: Number, kind: RoomKind, lamps: bool) -> list[str]:
    """Draw the types of a room's receptacles, first one of each that it cannot do without."""
    rest = [furniture.rtype for furniture in kind.furniture for _ in range(_draw_count(number, furniture))]
    if lamps and not STANDS.intersection(rest):
        rest.append("SideTable")
    first = list(kind.essentials)
    first += [rtype for rtype in rest if rtype in STANDS][:1] if lamps else []
    for rtype in first:
        rest.remove(rtype)
    return first + shuffle(number, rest)


def _draw_count(number: Number, furniture: Furniture) -> int:
    """Draw how many there are; half of the rooms that have any have no more than usual, and few have very many."""
    if number() * 30 >= furniture.rooms:
        return 0
    place = 2 * number()
    if place < 1:
        return furniture.least + int((furniture.usual - furniture.least + 1) * place)
    rare = (place - 1) * (place - 1) * (place - 1)
    return furniture.usual + int((furniture.most - furniture.usual + 1) * rare)


def _put_up(number: Number, rtypes: Sequence[str]) -> tuple[Receptacle, ...]:
    """Give each receptacle a place; now and then one reaches two from one location, as the drawers of a chest."""
    receptacles: list[Receptacle] = []
    ids: set[str] = set()
    locations: set[str] = set()
    last_of: dict[str, str] = {}
    for rtype in rtypes:
        thing, middle = _new_id(number, rtype, ids)
        shared = last_of.get(rtype) if rtype in OPENABLE and number() < 0.15 else None
        location = shared or _new_location(number, locations)
        last_of[rtype] = location
        receptacles.append(Receptacle(thing, rtype, location, middle))
    return tuple(receptacles)


def _fixtures(number: Number, kind: RoomKind, receptacles: Sequence[Receptacle], used: set[str]) -> tuple[Fixture, ...]:
    ids: set[str] = set()
    fixtures: list[Fixture] = []
    for otype in kind.fixtures:
        if otype == "Sink":
            basin = next(receptacle for receptacle in receptacles if receptacle.rtype == "SinkBasin")
            fixtures.append(Fixture(_written("Sink", basin.middle), otype, basin.location))
        else:
            thing, _ = _new_id(number, otype, ids)
            fixtures.append(Fixture(thing, otype, _new_location(number, used)))
    return tuple(fixtures)


@lru_cache(maxsize=720)
def _options(task_type: str, plan: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return each type of object that the room offers for a task, and its targets."""
    room = build_room(plan)
    if not any(room.kind is ROOM_KINDS[kind] for kind in TASK_ROOMS.get(task_type, ())):
        return ()
    rtypes = dict.fromkeys(receptacle.rtype for receptacle in room.usual)
    able = _able(task_type)
    options = []
    for otype in room.kind.objects:
        if able is None or otype in able:
            holding = [rtype for rtype in rtypes if otype in CONTENTS[rtype]]
            targets = tuple(
                target for target in _targets(task_type, room, holding) if _has_source(task_type, target, holding)
            )
            if targets:
                options.append((otype, targets))
    return tuple(options)


def _able(task_type: str) -> frozenset[str] | None:
    predicates = {"SinkBasin": "cleanable", "Microwave": "heatable", "Fridge": "coolable"}
    appliance = APPLIANCES.get(task_type)
    return PROPERTIES[predicates[appliance]] if appliance else None


def _targets(task_type: str, room: Room, holding: Sequence[str]) -> Sequence[str]:
    if task_type == "look_at_obj_in_light":
        return room.lamps
    unfit = HOLDS_ONE if task_type == "pick_two_obj_and_place" else frozenset({APPLIANCES.get(task_type)})
    return [rtype for rtype in holding if rtype not in unfit]


def _has_source(task_type: str, target: str, holding: Sequence[str]) -> bool:
    return any(_may_begin(task_type, target, rtype) for rtype in holding)


def _may_begin(task_type: str, target: str, rtype: str) -> bool:
    """Say whether what the task asks for may begin in a receptacle of this type, with something left to do."""
    if task_type in PLACED_ALREADY:
        return rtype != target
    return task_type != "pick_cool_then_place_in_recep" or rtype != "Fridge"


def _draw_goal(number: Number, task_type: str, options: Sequence[tuple[str, tuple[str, ...]]]) -> Goal:
    otype, targets = options[int(number() * len(options))]
    target = targets[int(number() * len(targets))]
    return Goal(task_type, f"{otype}Type", f"{target}Type")


def _kept(room: Room, goal: Goal, receptacles: int | None) -> tuple[Receptacle, ...]:
    """Choose as many receptacles as asked for, and among them all that the task needs."""
    otype, target = _bare(goal.otype), _bare(goal.target)
    sources = [
        one for one in room.usual if otype in CONTENTS[one.rtype] and _may_begin(goal.task_type, target, one.rtype)
    ]
    open_sources = [one for one in sources if one.rtype not in OPENABLE]
    needed = [_first(room.usual, {target}), _first(sources, OPENABLE), *open_sources[:1]]
    wanted = {one.id for one in needed if one}
    # What the room cannot do without comes first in it, so that it is among what fills up the rest.
    free = (room.size if receptacles is None else receptacles) - len(wanted)
    wanted.update([one.id for one in room.receptacles if one.id not in wanted][: max(free, 0)])
    return tuple(one for one in room.receptacles if one.id in wanted)


def _first(receptacles: Sequence[Receptacle], rtypes: Collection[str]) -> Receptacle | None:
    return next((receptacle for receptacle in receptacles if receptacle.rtype in rtypes), None)


def _lamps(number: Number, room: Room, receptacles: Sequence[Receptacle]) -> Iterator[Placement]:
    stands = [receptacle for receptacle in receptacles if receptacle.rtype in STANDS]
    for lamp in room.lamps:
        yield (lamp, stands[int(number() * len(stands))])


def _goal_objects(number: Number, goal: Goal, receptacles: Sequence[Receptacle], hidden: int) -> Iterator[Placement]:
    otype = _bare(goal.otype)
    holding = [one for one in receptacles if otype in CONTENTS[one.rtype]]
    sources = [one for one in holding if _may_begin(goal.task_type, _bare(goal.target), one.rtype)]
    closed = [one for one in sources if one.rtype in OPENABLE]
    opened = [one for one in sources if one.rtype not in OPENABLE]
    fewest = 2 if goal.task_type == "pick_two_obj_and_place" else 1
    for _ in range(fewest + int(3 * number())):
        places = closed if number() * 100 < hidden else opened
        yield (otype, _draw_place(number, places or closed or opened))


def _distractors(
    number: Number, room: Room, goal: Goal, receptacles: Sequence[Receptacle], count: int | None
) -> Iterator[Placement]:
    least, most = room.kind.distractors
    count = least + int((most - least + 1) * number()) if count is None else count
    holding = {
        otype: [receptacle for receptacle in receptacles if otype in CONTENTS[receptacle.rtype]]
        for otype in room.kind.objects
        if otype != _bare(goal.otype)
    }
    otypes = [otype for otype, places in holding.items() if places]
    # Up to three of a type, as in ALFRED; more only where so many are asked for that it takes them.
    drawn = (otype for _ in range(count) for otype in shuffle(number, otypes * 3))
    for otype in islice(drawn, count):
        yield (otype, _draw_place(number, holding[otype]))


def _draw_place(number: Number, places: Sequence[Receptacle]) -> Receptacle:
    """Draw a type first, so that things are not nearly all in cabinets only because there are so many."""
    rtypes = list(dict.fromkeys(place.rtype for place in places))
    rtype = rtypes[int(number() * len(rtypes))]
    alike = [place for place in places if place.rtype == rtype]
    return alike[int(number() * len(alike))]


def _with_ids(number: Number, placements: Sequence[Placement]) -> list[Thing]:
    ids: set[str] = set()
    return [
        Thing(_new_id(number, otype, ids, receptacle.middle)[0], otype, receptacle)
        for otype, receptacle in sorted(placements, key=itemgetter(0))
    ]


def _start(number: Number, room: Room) -> str:
    """Draw where the agent begins: at no receptacle of the room, not even at one that is left out."""
    used = {one.location for one in room.receptacles}
    return _new_location(number, used.union(one.location for one in room.fixtures))


def _declared(room: Room, receptacles: Sequence[Receptacle], things: Sequence[Thing], start: str) -> dict[str, str]:
    declared = dict(_COMMON)
    declared.update(dict.fromkeys([one.id for one in things], "object"))
    declared.update(dict.fromkeys([one.id for one in room.fixtures], "object"))
    declared.update(dict.fromkeys([one.id for one in receptacles], "receptacle"))
    declared.update(dict.fromkeys([one.location for one in receptacles], "location"))
    declared.update(dict.fromkeys([one.location for one in room.fixtures], "location"))
    declared[start] = "location"
    return declared


_COMMON = {
    "agent1": "agent",
    **dict.fromkeys(OTYPES, "object"),
    **{f"{otype}Type": "otype" for otype in OTYPES},
    **{f"{rtype}Type": "rtype" for rtype in RTYPES},
}
"""What every game declares; the bare names of the types are things that are nowhere, as in the official games."""


def _facts(
    number: Number,
    goal: Goal,
    room: Room,
    receptacles: Sequence[Receptacle],
    things: Sequence[Thing],
    start: str,
) -> Iterator[Fact]:
    present = dict.fromkeys(thing.otype for thing in things)
    yield from [("receptacleType", one.id, f"{one.rtype}Type") for one in receptacles]
    yield from [("objectType", thing.id, f"{thing.otype}Type") for thing in things]
    yield from [("objectType", fixture.id, f"{fixture.otype}Type") for fixture in room.fixtures]
    for rtype in dict.fromkeys(one.rtype for one in receptacles):
        holds = CONTENTS[rtype]
        yield from [("canContain", f"{rtype}Type", f"{otype}Type") for otype in present if otype in holds]
    yield from [("pickupable", thing.id) for thing in things if thing.otype not in PROPERTIES["toggleable"]]
    for predicate, otypes in PROPERTIES.items():
        yield from [(predicate, thing.id) for thing in things if thing.otype in otypes]
    yield from _cool(goal, things)
    yield from [("openable", one.id) for one in receptacles if one.rtype in OPENABLE]
    yield ("atLocation", "agent1", start)
    yield from _inner(number, things)
    yield from [("inReceptacle", thing.id, thing.receptacle.id) for thing in things]
    yield from [("receptacleAtLocation", one.id, one.location) for one in receptacles]
    yield from [("objectAtLocation", thing.id, thing.receptacle.location) for thing in things]
    yield from [("objectAtLocation", fixture.id, fixture.location) for fixture in room.fixtures]


def _cool(goal: Goal, things: Sequence[Thing]) -> Iterator[Fact]:
    """As in ALFRED, what the task asks for is cool if it begins in the fridge; if the task is to cool it, none does."""
    if _bare(goal.otype) in PROPERTIES["coolable"]:
        for thing in things:
            if thing.receptacle.rtype == "Fridge" and f"{thing.otype}Type" == goal.otype:
                yield ("isCool", thing.id)


def _inner(number: Number, things: Sequence[Thing]) -> Iterator[Fact]:
    """Now and then, let a thing lie in a bowl or the like that stands in the same receptacle; it is in both."""
    inside: set[str] = set()
    for outer in things:
        holds = INNER_CONTENTS.get(outer.otype)
        if holds and outer.id not in inside and number() < 0.15:
            near = [one for one in things if one.receptacle is outer.receptacle and one.otype in holds]
            free = [one for one in near if one.id not in inside and one.otype not in INNER_CONTENTS]
            if free:
                inner = free[int(number() * len(free))]
                inside.add(inner.id)
                yield ("inReceptacleObject", inner.id, outer.id)


def _new_id(
    number: Number, name: str, used: set[str], near: tuple[int, int, int] | None = None
) -> tuple[str, tuple[int, int, int]]:
    """Draw an id and its place in centimetres, and put the id into ``used``, in which it was not."""
    while True:
        if near is None:
            place = (int(800 * number()) - 400, int(200 * number()), int(800 * number()) - 400)
        else:
            place = (near[0] + int(80 * number()) - 40, near[1] + int(10 * number()), near[2] + int(80 * number()) - 40)
        thing = _written(name, place)
        if thing not in used:
            used.add(thing)
            return thing, place


def _written(name: str, place: tuple[int, int, int]) -> str:
    base = name.removesuffix("Basin")
    part = f"_bar_{name}" if base != name else ""
    return f"{base}_bar_{'_bar_'.join(map(_coordinate, place))}{part}"


@lru_cache(maxsize=1024)
def _coordinate(centimetres: int) -> str:
    metres, rest = divmod(abs(centimetres), 100)
    return f"_{'minus' if centimetres < 0 else 'plus'}_{metres:02d}_dot_{rest:02d}"


def _new_location(number: Number, used: set[str]) -> str:
    """Draw a location (quarters of a metre, quarter turns, degrees downward) and put it into ``used``."""
    while True:
        x, z = int(25 * number()) - 12, int(25 * number()) - 12
        turn, horizon = int(4 * number()), (0, 30, 45, 60)[int(4 * number())]
        written = (str(part).replace("-", "_minus_") for part in (x, z, turn, horizon))
        location = f"loc_bar_{'_bar_'.join(written)}"
        if location not in used:
            used.add(location)
            return location


def check_difficulty(difficulty: Difficulty) -> None:
    """Raise GameError if a number is out of its bounds."""
    bounds = (RECEPTACLES, DISTRACTORS, HIDDEN)
    for knob, value, (least, most) in zip(Difficulty._fields, difficulty, bounds, strict=True):
        if value is not None and not least <= value <= most:
            raise GameError(f"expected {knob} in {least}..{most}, got {value}")


def _bare(type_name: str) -> str:
    return type_name.removesuffix("Type")


@lru_cache(maxsize=1)
def _seen_ids() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return ``train`` and ``valid_seen``: the same rooms, but no goal in the same room."""
    train, held_out = SPLITS["train"], SPLITS["valid_seen"]
    ids = _split_by_type("seen", train + held_out)
    return ids[:train], ids[train:]


def _split_by_type(split: str, count: int) -> tuple[str, ...]:
    """Return ``count`` ids, the types of tasks and then the floor plans of each in turn."""
    drawn = [_tasks(split, task_type) for task_type in TASK_TYPES]
    turns = (next(tasks) for _ in range(count) for tasks in drawn)
    return tuple(order.id for order in islice(turns, count))


def _tasks(split: str, task_type: str) -> Iterator[Order]:
    """Draw tasks of a type without end, each goal at most once in a room; the trials are numbered."""
    plans = [
        plan
        for kind in TASK_ROOMS[task_type]
        for place, plan in enumerate(ROOM_KINDS[kind].plans)
        if (place in UNSEEN_PLANS) is (split == "valid_unseen")
    ]
    number = random.Random(f"{split}/{task_type}").random
    drawn: set[tuple[Goal, int]] = set()
    while True:
        for plan in shuffle(number, plans):
            goal = _draw_goal(number, task_type, _options(task_type, plan))
            if (goal, plan) not in drawn:
                drawn.add((goal, plan))
                yield Order(goal, plan, len(drawn))
