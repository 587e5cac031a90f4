"""Goals, their bounds, their weights and their order."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from tests.envs.webshop.shelf import product
from textcraft_gym.envs.webshop.goals import (
    SPLITS,
    Wish,
    price_upper,
    shuffled,
    split_range,
    weights,
)
from textcraft_gym.errors import UnknownName

LAMP = product(
    "B0LAMP0001",
    "Lamp",
    options={"size": ("s", "l"), "color": ("red", "blue", "tan"), "fit": ("wide",)},
)


def test_price_upper__is_the_larger_of_two_of_the_next_four_tens():
    draw = random.Random(0)
    drawn = Counter(price_upper(25.0, draw) for _ in range(6000))
    assert set(drawn) == {40.0, 50.0, 60.0}
    assert [drawn[bound] / 6000 for bound in (40.0, 50.0, 60.0)] == pytest.approx(
        [1 / 6, 2 / 6, 3 / 6], abs=0.03
    )


@pytest.mark.parametrize(
    ("price", "bounds"),
    [
        (0.5, {20, 30, 40}),
        (10.0, {30, 40, 50}),  # above the price, not at it
        (969.0, {980, 990}),
        (970.0, {990}),
        (979.99, {990}),
        (980.0, {math.inf}),
        (5000.0, {math.inf}),
    ],
)
def test_price_upper__of_a_price(price, bounds):
    draw = random.Random(1)
    assert {price_upper(price, draw) for _ in range(200)} == bounds


def test_wish__of_a_person_makes_one_goal():
    wish = Wish("i want a lamp", ("bright",), ("red",), 30.0)
    assert wish.goal_count(LAMP) == 1
    goal = wish.goal(LAMP, 0)
    assert goal.instruction == "i want a lamp, and price lower than 30.00 dollars"
    assert (goal.product, goal.attributes, goal.options, goal.price_upper, goal.weight) == (
        *(LAMP, ("bright",), ("red",)),
        *(30.0, 1.0),
    )


def test_wish__without_a_bound_does_not_speak_of_one():
    assert (
        Wish("i want a lamp", ("bright",), (), math.inf).goal(LAMP, 0).instruction
        == "i want a lamp"
    )


def test_wish__for_every_combination_makes_a_goal_of_each():
    wish = Wish("find a lamp", ("bright",), None, 40.0)
    goals = [wish.goal(LAMP, number, 0.5) for number in range(wish.goal_count(LAMP))]
    assert [goal.options for goal in goals] == [
        (("color", color), ("fit", "wide"), ("size", size))
        for color in ("red", "blue", "tan")
        for size in ("s", "l")
    ]
    assert goals[0].instruction == (
        "find a lamp with color: red, and fit: wide, and size: s, and price lower than 40.00 dollars"
    )
    assert {goal.weight for goal in goals} == {0.5}


def test_wish__for_every_combination_of_none_makes_one_goal():
    wish = Wish("find a lamp", ("bright",), None, math.inf)
    plain = product("B0LAMP0002", "Lamp")
    assert wish.goal_count(plain) == 1
    assert wish.goal(plain, 0).instruction == "find a lamp"
    assert (
        wish.goal_count(product("B0LAMP0003", "Lamp", options={"size": (), "color": ("red",)})) == 0
    )


def test_weights__are_the_mean_rarity_of_attributes():
    # led is in 2 + 3 goals, warm in 2.
    assert weights([("led", "warm"), ("led",), None], [2, 3, 5]) == pytest.approx(
        [(1 / 5 + 1 / 2) / 2, 1 / 5, 1.0]
    )


def test_shuffled__is_the_order_of_the_original():
    goals = list(range(20))
    random.Random(233).shuffle(goals)
    assert shuffled(range(20)) == goals
    assert shuffled(range(10)) == [5, 9, 0, 1, 4, 7, 6, 3, 8, 2]


@pytest.mark.parametrize(
    ("split", "goals", "numbers"),
    [
        ("test", 2000, range(500)),
        ("dev", 2000, range(500, 1500)),
        ("train", 2000, range(1500, 2000)),
        ("all", 2000, range(2000)),
        ("adapt_test", 2000, range(100)),
        ("adapt_dev", 2000, range(100, 140)),
        ("test", 3, range(3)),
        ("dev", 3, range(3, 3)),
        ("train", 0, range(0)),
    ],
)
def test_split_range__table(split, goals, numbers):
    assert split_range(split, goals) == numbers


def test_split_range__lists_the_splits_for_an_unknown_one():
    with pytest.raises(UnknownName, match=r"unknown split 'tset'\. Did you mean test") as error:
        split_range("tset", 10)
    assert all(split in str(error.value) for split in SPLITS)
