"""The rules as the specification tells them, on a household small enough to read."""

from __future__ import annotations

import pytest

from textcraft_gym.envs.alfworld.expert import expert_plan
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.problem import GameError, Goal, Problem
from textcraft_gym.envs.alfworld.reasons import REASONS, reason
from textcraft_gym.envs.alfworld.rules import apply, is_won, moves, opening
from textcraft_gym.envs.alfworld.text import NOTHING_HAPPENS

FRIDGE, MICROWAVE, SINK, TABLE = (
    "Fridge_bar_1",
    "Microwave_bar_1",
    "Sink_bar_1_bar_SinkBasin",
    "CounterTop_bar_1",
)
APPLE, BREAD, KNIFE, LAMP, BOWL = (
    "Apple_bar_1",
    "Bread_bar_1",
    "Knife_bar_1",
    "DeskLamp_bar_1",
    "Bowl_bar_1",
)


HOT_APPLE = Goal("pick_heat_then_place_in_recep", "AppleType", "FridgeType")


def problem(goal: Goal = HOT_APPLE, *more: tuple) -> Problem:
    receptacles = {
        FRIDGE: "FridgeType",
        MICROWAVE: "MicrowaveType",
        SINK: "SinkBasinType",
        TABLE: "CounterTopType",
    }
    objects = {
        APPLE: "AppleType",
        BREAD: "BreadType",
        KNIFE: "KnifeType",
        LAMP: "DeskLampType",
        BOWL: "BowlType",
    }
    facts: list[tuple[str, ...]] = [("atLocation", "agent1", "loc_bar_0")]
    for number, (id, kind) in enumerate(receptacles.items(), 1):
        facts += [("receptacleType", id, kind), ("receptacleAtLocation", id, f"loc_bar_{number}")]
        facts += [
            ("canContain", kind, otype)
            for otype in ("AppleType", "BreadType", "KnifeType", "BowlType")
        ]
    for id, kind in objects.items():
        facts += [
            ("objectType", id, kind),
            ("inReceptacle", id, TABLE),
            ("objectAtLocation", id, "loc_bar_4"),
        ]
    facts += [
        ("openable", FRIDGE),
        ("openable", MICROWAVE),
        ("toggleable", LAMP),
        ("sliceable", BREAD),
    ]
    facts += [("pickupable", id) for id in (APPLE, BREAD, KNIFE, BOWL)]
    facts += [(able, APPLE) for able in ("cleanable", "heatable", "coolable")]
    facts += [("isReceptacleObject", BOWL), ("sliceable", APPLE)]
    return Problem({}, (*facts, *more), goal, "put a hot apple in fridge.")


def play(game: Game, *commands: str):
    state, answer = game.first, ""
    for command in commands:
        assert command in moves(game, state).commands, (command, moves(game, state).commands)
        state, answer, *_ = apply(game, state, command)
    return state, answer


def test_opening__lists_what_there_is_and_the_task():
    assert opening(Game(problem())) == (
        "-= Welcome to TextWorld, ALFRED! =-\n\n"
        "You are in the middle of a room. Looking quickly around you, you see "
        "a countertop 1, a fridge 1, a microwave 1, and a sinkbasin 1.\n\nYour task is to: put a hot apple in fridge."
    )


AT_TABLE = (
    "On the countertop 1, you see a apple 1, a bowl 1, a bread 1, a desklamp 1, and a knife 1."
)


@pytest.mark.parametrize(
    ("commands", "answer"),
    [
        (["go to countertop 1"], f"You arrive at countertop 1. {AT_TABLE}"),
        (["go to countertop 1", "examine countertop 1"], AT_TABLE),
        (["go to fridge 1"], "You arrive at fridge 1. The fridge 1 is closed."),
        (
            ["go to fridge 1", "open fridge 1"],
            "You open the fridge 1. The fridge 1 is open. In it, you see nothing.",
        ),
        (["go to fridge 1", "open fridge 1", "close fridge 1"], "You close the fridge 1."),
        (
            ["go to countertop 1", "take apple 1 from countertop 1"],
            "You pick up the apple 1 from the countertop 1.",
        ),
        (["go to countertop 1", "use desklamp 1", "use desklamp 1"], "You turn on the desklamp 1."),
        (
            ["go to countertop 1", "look"],
            "You are facing the countertop 1. Next to it, you see nothing.",
        ),
        (["inventory"], "You are not carrying anything."),
        (
            ["go to countertop 1", "take bowl 1 from countertop 1", "inventory"],
            "You are carrying: a bowl 1.",
        ),
        (
            ["go to countertop 1", "take bowl 1 from countertop 1", "examine bowl 1"],
            "This is a normal bowl 1. In it, you see nothing.",
        ),
        (
            ["go to countertop 1", "take knife 1 from countertop 1", "slice bread 1 with knife 1"],
            "You sliced the bread 1 with the knife 1.",
        ),
    ],
)
def test_apply__answers_as_the_grammar_says(commands: list[str], answer: str):
    assert play(Game(problem()), *commands)[1] == answer


TAKE = ("go to countertop 1", "take apple 1 from countertop 1")
HEAT = ("go to microwave 1", "heat apple 1 with microwave 1")
COOL = ("go to fridge 1", "cool apple 1 with fridge 1")
CLEAN = ("go to sinkbasin 1", "clean apple 1 with sinkbasin 1")
SLICE = (
    "go to countertop 1",
    "take knife 1 from countertop 1",
    "slice apple 1 with knife 1",
    "move knife 1 to countertop 1",
)


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (TAKE, "There's nothing special about apple 1."),
        ((*TAKE, *HEAT), "This is a hot apple 1."),
        ((*TAKE, *COOL), "This is a cold apple 1."),
        ((*TAKE, *HEAT, *COOL), "This is a cold apple 1."),
        ((*TAKE, *COOL, *HEAT), "This is a hot apple 1."),
        ((*TAKE, *CLEAN), "This is a clean apple 1."),
        ((*TAKE, *CLEAN, *HEAT), "This is a hot and clean apple 1."),
        ((*TAKE, *CLEAN, *COOL), "This is a cool and clean apple 1."),
        ((*SLICE, TAKE[1]), "This is a sliced apple 1."),
        ((*SLICE, TAKE[1], *CLEAN), "This is a clean sliced apple 1."),
        ((*SLICE, TAKE[1], *COOL), "This is a cool sliced apple 1."),
        ((*SLICE, TAKE[1], *CLEAN, *HEAT), "This is a hot and clean sliced apple 1."),
    ],
)
def test_apply__tells_what_became_of_a_thing(commands: tuple[str, ...], said: str):
    assert play(Game(problem()), *commands, "examine apple 1")[1] == said


def test_apply__wins_and_unwins():
    game = Game(problem())
    state, _ = play(
        game, *TAKE, *HEAT, "go to fridge 1", "open fridge 1", "move apple 1 to fridge 1"
    )
    assert state.won
    assert is_won(game, state)
    state, *_ = apply(game, state, "take apple 1 from fridge 1")
    assert not state.won


def test_look__lists_what_was_taken_here_and_put_elsewhere_at_the_same_place():
    shelf = "Shelf_bar_1"
    more = [
        ("receptacleType", shelf, "ShelfType"),
        ("receptacleAtLocation", shelf, "loc_bar_4"),
        ("canContain", "ShelfType", "AppleType"),
    ]
    game = Game(problem(Goal("pick_and_place_simple", "AppleType", "FridgeType"), *more))
    _, seen = play(game, *TAKE, "move apple 1 to shelf 1", "look")
    assert seen == "You are facing the countertop 1, and shelf 1. Next to it, you see a apple 1."


@pytest.mark.parametrize(
    "goal",
    ["pick_and_place_simple", "pick_clean_then_place_in_recep", "pick_cool_then_place_in_recep"],
)
def test_expert__wins_from_anywhere_on_its_way(goal: str):
    game = Game(problem(Goal(goal, "AppleType", "MicrowaveType")))
    for begin in (
        (),
        TAKE,
        (*TAKE, *HEAT),
        ("go to countertop 1", "take knife 1 from countertop 1"),
        (*TAKE, *COOL),
    ):
        state, _ = play(game, *begin)
        plan = expert_plan(game, state)
        assert plan
        for command in plan:
            assert command in moves(game, state).commands
            state, *_ = apply(game, state, command)
        assert state.won


def test_dialect__of_before_names_locations_puts_and_has_no_help():
    game = Game(problem(), "0.3")
    state, answer = play(game, *TAKE, "go to sinkbasin 1")
    assert answer == "You arrive at loc 2. On the sinkbasin 1, you see nothing."
    state, answer = play(game, *TAKE, "go to sinkbasin 1", "put apple 1 in/on sinkbasin 1")
    assert answer == "You put the apple 1 in/on the sinkbasin 1."
    for command in ("move apple 1 to sinkbasin 1", "help"):
        assert apply(game, state, command) == (state, NOTHING_HAPPENS, "unknown_command", "")
        assert command not in moves(game, state).commands
    assert expert_plan(game, state)[-1] == "put apple 1 in/on fridge 1"


@pytest.mark.parametrize(
    ("begin", "command", "code"),
    [
        ((), "fly", "unknown_command"),
        ((), "go to fridge", "missing_index"),
        ((), "go to sofa 1", "no_such_thing"),
        ((), "take apple 1 from countertop 1", "wrong_location"),
        (("go to fridge 1",), "go to fridge 1", "already_there"),
        (("go to countertop 1",), "open countertop 1", "not_openable"),
        (("go to fridge 1", "open fridge 1"), "open fridge 1", "already_open"),
        (("go to fridge 1",), "close fridge 1", "already_closed"),
        ((*TAKE, "go to fridge 1"), "move apple 1 to fridge 1", "closed"),
        (TAKE, "take bread 1 from countertop 1", "hands_full"),
        (("go to sinkbasin 1",), "move apple 1 to sinkbasin 1", "not_carrying"),
        (("go to sinkbasin 1",), "take apple 1 from sinkbasin 1", "not_in_receptacle"),
        ((*TAKE, "go to fridge 1"), "heat apple 1 with fridge 1", "wrong_appliance"),
        (("go to countertop 1",), "take desklamp 1 from countertop 1", "not_possible"),
        (("go to countertop 1",), "slice bread 1 with knife 1", "not_carrying"),
        ((), "use desklamp 1", "wrong_location"),
        ((), "examine apple 1", "wrong_location"),
    ],
)
def test_reason__says_why_nothing_happened(begin: tuple[str, ...], command: str, code: str):
    game = Game(problem())
    state, _ = play(game, *begin)
    assert apply(game, state, command)[:2] == (state, NOTHING_HAPPENS)
    assert reason(game, state, command) == code
    assert code in REASONS


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ([("receptacleAtLocation", FRIDGE, "loc_bar_9")], "two locations"),
        ([("receptacleType", FRIDGE, "ShelfType")], "two types"),
        ([("receptacleType", "Shelf_bar_1", "ShelfType")], "has no location"),
        ([("atLocation", "agent1", "loc_bar_9")], "at one location"),
    ],
)
def test_game__refuses_what_makes_no_household(facts: list[tuple[str, ...]], message: str):
    with pytest.raises(GameError, match=message):
        Game(problem(Goal("pick_and_place_simple", "AppleType", "FridgeType"), *facts))
