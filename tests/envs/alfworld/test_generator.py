"""Generated households, judged from their facts alone: that they are the same everywhere, well made
and can be won."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hash_seeds import printed
from textcraft_gym.envs.alfworld import facts
from textcraft_gym.envs.alfworld.export import write_problem
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.problem import TASK_TYPES, GameError, Problem, parse_problem
from textcraft_gym.envs.alfworld.rooms import build_room
from textcraft_gym.envs.alfworld.splits import SPLITS, split_ids
from textcraft_gym.envs.alfworld.task_id import Difficulty, make_id, parse_id
from textcraft_gym.errors import UnknownName

GOLDEN = {
    # A new digest is a new version of the environment.
    "train": "6b3ef88fd055ca5d2d9446ddde880bb17286e7cb782fc7f3f0f30972967bdea3",
    "valid_seen": "6b4b923af882a8ac09e31d2965e9191001ae0ef6efcd466d730925c4ab58effa",
    "valid_unseen": "a1cc607b2e7626c0d854cba112bc20177d58c1500c52db07d7c062a015b220ef",
}
DIGEST = """
import hashlib, sys
from textcraft_gym.envs.alfworld.export import write_problem
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.splits import split_ids
ids = split_ids(sys.argv[1])
texts = [write_problem(problem, "p") + problem.task for problem in map(generate, ids[-60:])]
print(hashlib.sha256("\\n".join([*ids, *texts]).encode()).hexdigest())
"""
PLANS = [*range(1, 31), *range(201, 231), *range(301, 331), *range(401, 431)]
ABLE = {
    "pick_clean_then_place_in_recep": ("cleanable", "isClean", "SinkBasinType"),
    "pick_heat_then_place_in_recep": ("heatable", "isHot", "MicrowaveType"),
    "pick_cool_then_place_in_recep": ("coolable", "isCool", "FridgeType"),
}
SAMPLE = [task_id for split in SPLITS for task_id in split_ids(split)[::7]]


class Household(NamedTuple):
    """A problem's facts, sorted by predicate."""

    problem: Problem
    by_predicate: dict[str, list[tuple[str, ...]]]

    @property
    def otype(self) -> dict[str, str]:
        return dict(self.by_predicate["objectType"])

    @property
    def rtype(self) -> dict[str, str]:
        return dict(self.by_predicate["receptacleType"])

    @property
    def goal_objects(self) -> list[str]:
        return [
            thing
            for thing, otype in self.by_predicate["objectType"]
            if otype == self.problem.goal.otype
        ]

    @property
    def inside(self) -> dict[str, str]:
        return dict(self.by_predicate["inReceptacle"])

    def all(self, predicate: str) -> set[str]:
        return {fact[0] for fact in self.by_predicate[predicate]}


def household(task_id: str) -> Household:
    problem = generate(task_id)
    facts_of: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for predicate, *ids in problem.facts:
        facts_of[predicate].append(tuple(ids))
    return Household(problem, facts_of)


@st.composite
def made_ids(draw) -> str:
    """Any task on any floor plan, at any difficulty."""
    task_type = draw(st.sampled_from(TASK_TYPES))
    plan = draw(
        st.sampled_from(
            [plan for kind in facts.TASK_ROOMS[task_type] for plan in facts.ROOM_KINDS[kind].plans]
        )
    )
    difficulty = Difficulty(
        draw(st.none() | st.integers(8, 60)),
        draw(st.none() | st.integers(0, 100)),
        draw(st.integers(0, 100)),
    )
    return make_id(task_type, plan, draw(st.integers(0, 99999)), difficulty)


def check(house: Household) -> None:
    """Check that a household is well made, is not won, and can be."""
    problem = house.problem
    assert parse_problem(write_problem(problem, "p"), problem.task) == problem
    assert list(parse_problem(write_problem(problem, "p"), problem.task).things) == list(
        problem.things
    )
    assert len(set(problem.facts)) == len(problem.facts)
    check_places(house)
    check_objects(house)
    check_goal(house)


def check_places(house: Household) -> None:
    [(agent, start)] = house.by_predicate["atLocation"]
    at = house.by_predicate["receptacleAtLocation"]
    assert agent == "agent1"
    assert start not in {location for _, location in at}
    assert sorted(receptacle for receptacle, _ in at) == sorted(house.rtype)
    assert house.all("openable") == {
        receptacle
        for receptacle, rtype in house.rtype.items()
        if rtype.removesuffix("Type") in facts.OPENABLE
    }
    assert not {"opened", "isToggled", "isOn", "isHot", "isClean", "isSliced"} & set(
        house.by_predicate
    )
    for receptacle, rtype in house.rtype.items():
        name = receptacle.split("_bar_")[0].lower() + (
            "basin" if "basin" in receptacle.lower() else ""
        )
        assert name == rtype.removesuffix("Type").lower()


def check_objects(house: Household) -> None:
    holds = set(house.by_predicate["canContain"])
    stationary = {
        object_id
        for object_id, otype in house.otype.items()
        if otype.removesuffix("Type") in facts.STATIONARY
    }
    location = dict(house.by_predicate["receptacleAtLocation"])
    where = dict(house.by_predicate["objectAtLocation"])
    assert len(where) == len(house.by_predicate["objectAtLocation"]) == len(house.otype)
    assert len(house.inside) == len(house.by_predicate["inReceptacle"])
    assert {rtype for rtype, _ in holds} <= set(house.rtype.values())
    for thing, receptacle in house.inside.items():
        assert where[thing] == location[receptacle]
        if thing in stationary:
            assert receptacle not in house.all("openable")
        else:
            assert (house.rtype[receptacle], house.otype[thing]) in holds
    assert house.all("pickupable") == set(house.inside) - stationary
    for predicate, otypes in facts.PROPERTIES.items():
        marked = {
            thing for thing in house.inside if house.otype[thing].removesuffix("Type") in otypes
        }
        assert house.all(predicate) == marked
    for inner, outer in house.by_predicate["inReceptacleObject"]:
        assert house.inside[inner] == house.inside[outer]
        assert outer in house.all("isReceptacleObject")
        assert inner not in house.all("isReceptacleObject")


def check_goal(house: Household) -> None:
    task_type, otype, target = house.problem.goal
    objects, inside, rtype = house.goal_objects, house.inside, house.rtype
    assert set(objects) <= house.all("pickupable")
    assert len(objects) >= (2 if task_type == "pick_two_obj_and_place" else 1)
    assert house.problem.task.endswith(".")
    assert otype.removesuffix("Type").lower() in house.problem.task.split()
    assert target.removesuffix("Type").lower() in house.problem.task.removesuffix(".").split()
    if task_type == "look_at_obj_in_light":
        lamps = [thing for thing in inside if house.otype[thing] == target]
        assert lamps
        assert set(lamps) <= house.all("toggleable")
        return
    assert (target, otype) in house.by_predicate["canContain"]
    assert target in rtype.values()
    if task_type in ABLE:
        able, state, appliance = ABLE[task_type]
        assert set(objects) <= house.all(able)
        assert not set(objects) & house.all(state)
        assert appliance in rtype.values()
        assert appliance != target
    else:
        assert target not in {rtype[inside[thing]] for thing in objects}


@pytest.mark.parametrize("split", SPLITS)
def test_generate__is_the_same_in_another_process_and_as_ever(split):
    for seed in (0, 4711):
        assert printed(seed, DIGEST, split) == GOLDEN[split]


def test_generate__does_not_depend_on_what_came_before():
    forwards = [generate(task_id) for task_id in SAMPLE[:100]]
    build_room.cache_clear()
    backwards = [generate(task_id) for task_id in reversed(SAMPLE[:100])]
    assert forwards == backwards[::-1]
    assert [list(problem.things) for problem in forwards] == [
        list(problem.things) for problem in backwards[::-1]
    ]


@pytest.mark.parametrize("split", SPLITS)
def test_generate__makes_households_that_are_well_made_and_not_won(split):
    for task_id in split_ids(split)[::7]:
        check(household(task_id))


@given(made_ids())
@settings(max_examples=300, deadline=None)
def test_generate__makes_them_at_any_difficulty(task_id):
    assert parse_id(task_id).id == task_id
    check(household(task_id))


@given(made_ids())
@settings(max_examples=200, deadline=None)
def test_generate__does_what_the_knobs_say(task_id):
    house = household(task_id)
    spec = parse_id(task_id)
    room = build_room(spec.plan)
    receptacles, distractors, hidden = spec.difficulty
    others = house.all("pickupable") - set(house.goal_objects)
    if receptacles is not None:
        assert len(house.rtype) == receptacles
    else:
        assert set(house.rtype) == {receptacle.id for receptacle in room.default_receptacles}
    if distractors is not None:
        assert len(others) == distractors
    else:
        assert all(
            1 <= count <= 3 for count in Counter(house.otype[thing] for thing in others).values()
        )
    if hidden in (0, 100):
        check_hidden(house, hidden)


def check_hidden(house: Household, hidden: int) -> None:
    """Check that everything wanted lies in the open, or that nothing does, as far as there is such
    a place for it."""
    openable = house.all("openable")
    wrong = [
        thing
        for thing in house.goal_objects
        if (house.inside[thing] in openable) is not (hidden == 100)
    ]
    task_type, otype, target = house.problem.goal
    places = {
        receptacle
        for receptacle, rtype in house.rtype.items()
        if (rtype, otype) in house.by_predicate["canContain"]
    }
    if task_type in ("pick_and_place_simple", "pick_two_obj_and_place"):
        places -= {receptacle for receptacle, rtype in house.rtype.items() if rtype == target}
    if task_type == "pick_cool_then_place_in_recep":
        places -= {receptacle for receptacle, rtype in house.rtype.items() if rtype == "FridgeType"}
    assert not wrong or not [
        receptacle for receptacle in places if (receptacle in openable) is (hidden == 100)
    ]


@pytest.mark.parametrize(
    ("hidden", "least", "most"), [(0, 0.0, 0.02), (40, 0.3, 0.5), (100, 0.9, 1.0)]
)
def test_generate__hides_as_large_a_share_as_asked(hidden, least, most):
    closed = number = 0
    for trial in range(150):
        house = household(
            make_id(
                "pick_heat_then_place_in_recep", 1 + trial % 30, trial, Difficulty(hidden=hidden)
            )
        )
        number += len(house.goal_objects)
        closed += sum(house.inside[thing] in house.all("openable") for thing in house.goal_objects)
    assert least <= closed / number <= most


def test_generate__keeps_a_room_when_it_grows():
    """More receptacles are the same ones and others; the room itself hangs on the floor plan
    alone."""
    for plan in PLANS:
        sizes = [
            set(
                household(
                    make_id("pick_and_place_simple", plan, 5, Difficulty(receptacles=count))
                ).rtype
            )
            for count in (8, 15, 30, 60)
        ]
        assert all(smaller < larger for smaller, larger in pairwise(sizes))


def test_generate__cools_only_what_is_in_the_fridge():
    cool = 0
    for task_id in SAMPLE:
        house = household(task_id)
        for (thing,) in house.by_predicate["isCool"]:
            assert house.rtype[house.inside[thing]] == "FridgeType"
            assert thing in house.all("coolable")
            cool += 1
    assert cool > 10


def test_generate__has_things_inside_things_and_two_receptacles_at_one_location():
    houses = [household(task_id) for task_id in SAMPLE]
    shared = [
        len(set(dict(house.by_predicate["receptacleAtLocation"]).values())) < len(house.rtype)
        for house in houses
    ]
    assert sum(shared) > len(houses) / 5
    assert sum("inReceptacleObject" in house.by_predicate for house in houses) > len(houses) / 20


# Of seven official kitchens and five bedrooms: the objects that can be picked up in receptacles,
# their types, the share of the types of which there is one object, two or three, and the objects in
# all.
OFFICIAL = {
    "Kitchen": (41.6, 23.3, (0.47, 0.31, 0.22), 55.0),
    "Bedroom": (22.6, 11.6, (0.45, 0.28, 0.26), 35.0),
}


@pytest.mark.parametrize("kind", OFFICIAL)
def test_generate__makes_households_as_full_as_official_ones(kind: str):
    plans = facts.ROOM_KINDS[kind].plans
    task_ids = [
        make_id("pick_and_place_simple", plan, trial) for plan in plans for trial in range(5)
    ]
    movable, types, everything = 0, 0, 0
    copies: Counter[int] = Counter()
    for house in map(household, task_ids):
        counts = Counter(house.otype[thing] for thing in house.all("pickupable"))
        movable += counts.total()
        types += len(counts)
        everything += len(house.otype)
        copies.update(count for otype, count in counts.items() if otype != house.problem.goal.otype)
    objects, kinds, shares, in_all = OFFICIAL[kind]
    assert movable / len(task_ids) == pytest.approx(objects, rel=0.1)
    assert types / len(task_ids) == pytest.approx(kinds, rel=0.2)
    assert everything / len(task_ids) == pytest.approx(in_all, rel=0.1)
    assert [copies[n] / copies.total() for n in (1, 2, 3)] == pytest.approx(shares, abs=0.07)
    assert set(copies) == {1, 2, 3}


def test_generate__makes_every_type_of_the_floor_plans():
    """All that games declare but for the two types that are in no floor plan."""
    made = {
        otype.removesuffix("Type")
        for task_id in SAMPLE
        for otype in household(task_id).otype.values()
    }
    assert set(facts.OTYPES) - made == {"PaperTowel", "ToiletPaperRoll"}


@pytest.mark.parametrize("split", SPLITS)
def test_split_ids__are_distinct_goals_in_their_shares(split):
    ids = split_ids(split)
    specs = [parse_id(task_id) for task_id in ids]
    assert len(ids) == SPLITS[split] == len(set(ids))
    assert len({(spec.goal, spec.plan) for spec in specs}) == len(specs)
    shares = Counter(spec.goal.task_type for spec in specs)
    assert set(shares) == set(TASK_TYPES)
    if split == "valid_unseen":  # by the percentages of ADaPT's table 1
        assert [shares[task_type] for task_type in TASK_TYPES] == [24, 18, 31, 23, 21, 17]
    else:
        assert max(shares.values()) - min(shares.values()) <= 1
    if split != "valid_seen":
        assert {spec.plan for spec in specs} == {
            plan for plan in PLANS if (plan % 100 > 26) is (split != "train")
        }


def test_split_ids__share_no_room_with_what_is_unseen_and_no_goal_of_a_room_otherwise():
    plans = {split: {parse_id(task_id).plan for task_id in split_ids(split)} for split in SPLITS}
    tasks = {split: {task_id.split("/")[0] for task_id in split_ids(split)} for split in SPLITS}
    assert plans["valid_seen"] <= plans["train"]
    assert not plans["valid_unseen"] & plans["train"]
    assert not tasks["valid_seen"] & tasks["train"]


def test_split_ids__are_no_twins():
    """Games of a split differ in what is said, what is there and where it is."""
    games = {(problem.task, problem.facts) for problem in map(generate, SAMPLE)}
    assert len(games) == len(SAMPLE)


def test_split_ids__refuses_what_is_no_split():
    with pytest.raises(UnknownName, match="valid_unseen"):
        split_ids("test")


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        ("", "expected <task type>"),
        ("pick_and_place_simple-Book-None-Desk-302", "expected <task type>"),
        ("pick_and_place_simple-Book-None-Desk-302/trial_1", "expected <task type>"),
        ("pick_and_place_simple-Book-None-Desk-302/trial_00001\n", "expected <task type>"),
        ("pick_and_place_simple-Egg-None-Desk-302/trial_00001", "no such task on floor plan 302"),
        (
            "pick_dry_then_place_in_recep-Egg-None-Shelf-3/trial_00001",
            "no such task on floor plan 3",
        ),
        ("pick_heat_then_place_in_recep-Egg-None-Microwave-3/trial_00001", "no such task"),
        (
            "pick_heat_then_place_in_recep-Egg-None-Fridge-31/trial_00001",
            "expected a floor plan in 1..30",
        ),
        (
            "pick_heat_then_place_in_recep-Egg-None-Fridge-3/trial_00001_receptacles7",
            "receptacles in 8..60, got 7",
        ),
        (
            "pick_heat_then_place_in_recep-Egg-None-Fridge-3/trial_00001_hidden101",
            "hidden in 0..100, got 101",
        ),
        ("pick_heat_then_place_in_recep-Egg-None-Fridge-3/trial_00001_hidden40", "expected the id"),
        (
            "pick_heat_then_place_in_recep-Egg-None-Fridge-3/trial_00001_distractors05",
            "expected the id",
        ),
    ],
)
def test_generate__refuses_what_is_no_id(task_id, message):
    with pytest.raises(GameError, match=message):
        generate(task_id)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pick_heat_then_place_in_recep", 301, 1), "set on floor plans 1-30, not on 301"),
        (("pick_heat_then_place_in_recep", 1, 100000), "0..99999"),
        (
            ("pick_heat_then_place_in_recep", 1, 1, Difficulty(distractors=-1)),
            "distractors in 0..100, got -1",
        ),
        (("pick_a_fight", 1, 1), "unknown task type"),
    ],
)
def test_make_id__refuses_what_cannot_be(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_id(*arguments)


def test_build_room__follows_the_counts_of_the_floor_plans():
    for kind in facts.ROOM_KINDS.values():
        rooms = [
            Counter(receptacle.rtype for receptacle in build_room(plan).default_receptacles)
            for plan in kind.plans
        ]
        for rtype, among, least, _, most in kind.furniture:
            counts = [room[rtype] for room in rooms if room[rtype]]
            assert all(least <= count <= most for count in counts)
            assert among < 30 or len(counts) == 30
        assert set().union(*rooms) <= {furniture.name for furniture in kind.furniture}


def test_build_room__has_the_types_of_its_floor_plans():
    """Those of all 30 plans are in every room, others in about as many rooms as plans; parts are
    where the whole is."""
    for kind in facts.ROOM_KINDS.values():
        rooms = [build_room(plan) for plan in kind.plans]
        for types in ("objects", "extras", "ornaments", "lamps"):
            for name, among in getattr(kind, types):
                count = sum(name in getattr(room, types) for room in rooms)
                assert abs(count - among) <= 9 if among < 30 else count == 30
        for room in rooms:
            counts = Counter(fixture.otype for fixture in room.fixtures)
            for name, among, least, _, most in kind.fixtures:
                if name in facts.PART_OF:
                    wholes = [
                        receptacle.location
                        for receptacle in room.receptacles
                        if receptacle.rtype == facts.PART_OF[name]
                    ]
                    assert sorted(wholes) == sorted(
                        receptacle.location
                        for receptacle in room.fixtures
                        if receptacle.otype == name
                    )
                else:
                    assert least <= counts[name] <= most if among == 30 else counts[name] <= most


def test_facts__name_only_types_that_games_declare():
    otypes, rtypes = set(facts.OTYPES), set(facts.RTYPES)
    assert (len(otypes), len(rtypes)) == (len(facts.OTYPES), 30)
    assert (
        set().union(
            *facts.CONTENTS.values(), *facts.INNER_CONTENTS.values(), *facts.PROPERTIES.values()
        )
        <= otypes
    )
    assert rtypes >= facts.OPENABLE | facts.HOLDS_ONE | facts.STANDS
    for kind in facts.ROOM_KINDS.values():
        counted = (*kind.objects, *kind.extras, *kind.ornaments, *kind.lamps)
        assert {
            *(name for name, _ in counted),
            *(fixture.name for fixture in kind.fixtures),
        } <= otypes
        assert {*kind.essentials, *kind.storage} <= {furniture.name for furniture in kind.furniture}
    assert {
        name for kind in facts.ROOM_KINDS.values() for name, _ in kind.ornaments
    } < facts.STATIONARY
