"""Whether steps of plans hold in a household small enough to read."""

from __future__ import annotations

import pytest

from tests.envs.alfworld.test_rules import play, problem
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.steps import holds

TAKE = ("go to countertop 1", "take apple 1 from countertop 1")
CLEAN = (*TAKE, "go to sinkbasin 1", "clean apple 1 with sinkbasin 1")
COOL = (*TAKE, "go to fridge 1", "open fridge 1", "cool apple 1 with fridge 1")
HEAT = (*TAKE, "go to microwave 1", "heat apple 1 with microwave 1")
PUT = (*COOL, "move apple 1 to fridge 1")
LIT = (*TAKE, "use desklamp 1")


@pytest.mark.parametrize(
    ("commands", "step", "held"),
    [
        ((), "find and take an apple", False),
        (TAKE[:1], "find and take an apple from countertop, fridge", False),
        (TAKE, "find and take an apple from countertop, fridge", True),
        (TAKE, "find and take another apple", True),
        (TAKE, "find and take a bread", False),
        (TAKE, "pick a apple at countertop 1", True),
        (TAKE, "clean the apple with sinkbasin 1", False),
        (CLEAN, "clean the apple with sinkbasin 1", True),
        (CLEAN, "cool the apple with fridge 1", False),
        (COOL, "cool the apple with fridge 1", True),
        (HEAT, "heat the apple with microwave 1", True),
        (HEAT, "cool the apple with fridge 1", False),
        (COOL, "put the apple in fridge 1", False),
        (PUT, "put the apple in fridge 1", True),
        (PUT, "put the apple on fridge", True),
        (PUT, "put the apple in microwave 1", False),
        (PUT, "find and take an apple", False),
        ((), "put the bread on the countertop 1", True),
        (TAKE, "look at the apple under the desklamp", False),
        (LIT, "look at the apple under the desklamp", True),
        (LIT, "examine the apple with the desklamp 1", True),
        (LIT, "look at the bread under the desklamp", False),
        ((*LIT, "go to fridge 1"), "look at the apple under the desklamp", False),
        (TAKE, "heat some apple and put it in fridge", None),
        (TAKE, "be done", None),
    ],
)
def test_holds__asks_the_household(commands: tuple[str, ...], step: str, held: bool | None):
    game = Game(problem())
    state, _ = play(game, *commands)
    assert holds(game, state, step) is held
