"""The reward and its parts, on purchases that differ in one thing."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.envs.webshop.product import Goal, Product
from textcraft_gym.envs.webshop.reward import (
    COLOURS,
    alike,
    default_nouns,
    fits,
    has_attribute,
    main_colour,
    match_types,
    reward,
    written,
)

LAMP = Product(
    asin="B0LAMP0001",
    title="Brightly Tall Reading Lamp for Bedroom, 12W LED",
    description="It folds Flat.",
    bullets=("Dims in ten steps", "Warm light"),
    prices=(19.99, 27.5),
    price=25.0,
    options={"color": ("red", "dark blue"), "size": ("small", "large")},
    attributes=("energy efficient", "easy clean"),
    category="garden",
    query="floor lamps",
    product_category="Home \u203a Lighting \u203a Lamps",
)
GOAL = Goal(
    "", LAMP, ("energy efficient", "warm light", "folds flat"), ("dark blue", "small"), 30.0
)
CHOSEN = {"color": "dark blue", "size": "small"}


def other(**parts) -> Product:
    return replace(LAMP, asin="B0OTHER002", **parts)


def test_reward__is_1_for_all_that_was_asked_for():
    assert reward(GOAL, LAMP, CHOSEN)[:5] == (1.0, 1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("product", "chosen", "expected"),
    [
        (LAMP, {}, (1.0, 1.0, 0.0, 1.0, 4 / 6)),
        (LAMP, {"size": "small"}, (1.0, 1.0, 0.5, 1.0, 5 / 6)),
        (LAMP, {"size": "large", "color": "dark blue"}, (1.0, 1.0, 0.5, 1.0, 5 / 6)),
        (LAMP, {"size": "small", "color": "red"}, (1.0, 1.0, 0.5, 1.0, 5 / 6)),
        (other(price=30.0), CHOSEN, (1.0, 1.0, 1.0, 1.0, 1.0)),
        (other(price=30.01), CHOSEN, (1.0, 1.0, 1.0, 0.0, 5 / 6)),
        (other(prices=(99.0,)), CHOSEN, (1.0, 1.0, 1.0, 1.0, 1.0)),  # price is what counts
        (other(attributes=()), CHOSEN, (1.0, 2 / 3, 1.0, 1.0, 5 / 6)),
        (other(attributes=(), bullets=(), description=""), CHOSEN, (1.0, 0.0, 1.0, 1.0, 3 / 6)),
        (other(query="desk lamps", product_category="Office"), CHOSEN, (1.0, 1.0, 1.0, 1.0, 1.0)),
        (other(title="Mug"), CHOSEN, (0.0, 1.0, 1.0, 1.0, 0.0)),
    ],
)
def test_reward__of_a_purchase_that_differs(product, chosen, expected):
    assert reward(GOAL, product, chosen)[:5] == expected


def test_reward__without_a_bound_or_wishes():
    goal = replace(GOAL, price_upper=math.inf, options=(), attributes=("easy clean",))
    assert reward(goal, other(price=1e9), {})[:5] == (1.0, 1.0, None, 1.0, 1.0)
    assert reward(replace(goal, attributes=()), LAMP, {})[:5] == (1.0, None, None, 1.0, 1.0)


def test_reward__reports_the_weights_and_what_the_type_follows_from():
    near = other(
        title="Reading Chair", query="chairs", product_category="Home \u203a Lighting \u203a Chairs"
    )
    earned = reward(GOAL, near, {"size": "small"})
    assert (earned.w_att, earned.w_option, earned.w_price) == (3 / 6, 2 / 6, 1 / 6)
    assert earned.r_att is not None
    assert earned.r_option is not None
    parts = (
        earned.r_att * earned.w_att
        + earned.r_option * earned.w_option
        + earned.r_price * earned.w_price
    )
    assert earned.score == pytest.approx(earned.r_type * parts)
    assert (earned.query_match, earned.category_match, earned.title_score) == (False, True, 1 / 6)
    assert reward(replace(GOAL, options=()), LAMP, {}).w_option == 0.0
    assert match_types(LAMP, replace(LAMP, product_category="Home")) == (1.0, True, False, 1.0)


def test_reward__asks_the_given_tagger():
    lamps = other(title="Lamps", query="", product_category="")
    assert reward(GOAL, lamps, CHOSEN).r_type == 0.0
    assert reward(GOAL, lamps, CHOSEN, nouns=lambda title: title[:3]).r_type == 0.0
    assert reward(GOAL, lamps, CHOSEN, nouns=lambda title: ["lamp"]).r_type == 1.0


TEN = "alpha bravo charlie delta echo foxtrot golf hotel india juliet"


@pytest.mark.parametrize(
    ("wanted", "bought", "query", "departments", "expected"),
    [
        (TEN, "alpha bravo charlie", "else", "Else", 1.0),  # 0.3 of the nouns
        (TEN, "alpha bravo", "else", "Else", 0.5),  # 0.2 is not enough
        (TEN, "alpha bravo", "q", "Else", 1.0),
        (TEN, "alpha bravo", "else", "C \u203a A", 1.0),  # two departments, in any order
        (TEN, "alpha bravo", "else", "A \u203a D", 0.5),
        (TEN, "alpha", "else", "Else", 0.5),  # 0.1
        (
            f"{TEN} kilo",
            "alpha",
            "q",
            "A \u203a B \u203a C",
            0.1,
        ),  # below 0.1, whatever else is shared
        (TEN, "zulu", "q", "A \u203a B \u203a C", 0.0),
        (
            "alpha alpha alpha alpha alpha",
            "alpha",
            "else",
            "Else",
            0.5,
        ),  # 0.2: each is counted on one side only
        ("12 of the 3", "zulu", "else", "Else", 0.5),  # no nouns count as 0.2
        ("12 of the 3", "zulu", "q", "Else", 1.0),
        ("Alpha", "ALPHA", "else", "Else", 1.0),
    ],
)
def test_match_types__table(wanted, bought, query, departments, expected):
    goal = replace(LAMP, title=wanted, query="q", product_category="A \u203a B \u203a C")
    product = replace(LAMP, title=bought, query=query, product_category=departments)
    assert match_types(goal, product).r_type == expected


@pytest.mark.parametrize(
    ("title", "nouns"),
    [
        ("", []),
        ("The Lamp, with 2 Bulbs for your Bed & THE lamp", ["lamp", "bulbs", "bed", "lamp"]),
        ("Pack of Three 12W 3D T-Shirts No.2", ["pack", "t", "shirts", "no.2"]),
        (
            "Women's caf\u00e9\u2019s U.S.A. r\u00e9sum\u00e9",
            ["women's", "caf\u00e9\u2019s", "u.s.a", "r\u00e9sum\u00e9"],
        ),
        ("\u4e2d\u6587 \U0001f381 !!", []),
    ],
)
def test_default_nouns__table(title, nouns):
    assert default_nouns(title) == nouns


@pytest.mark.parametrize(
    ("wanted", "has"),
    [
        ("energy efficient", True),
        ("efficient", True),  # a part of an attribute's words
        ("energy efficiant", True),  # 94 of 100
        ("energy", True),
        ("easy to clean", True),
        ("led", True),  # in the title, in any case
        ("brightly tall", True),
        ("steps warm", True),  # features are joined
        ("folds flat", True),
        ("Folds", False),  # what is wanted keeps its case
        ("waterproof", False),
    ],
)
def test_has_attribute__table(wanted, has):
    assert has_attribute(LAMP, wanted) is has


@pytest.mark.parametrize(
    ("first", "second", "are"),
    # Each as thefuzz 0.22.1 decides it by token_set_ratio(one, other) > 85.
    [
        ("red", "red", True),
        ("Red!", "  rED", True),
        ("12 x 18 in", "18 in x 12", True),
        ("x-large", "large", True),
        ("xx-large", "x-large", True),
        ("xlarge", "large", True),
        ("xxlarge", "large", False),
        ("size 8", "size 9", False),
        ("caf\u00e9", "caf", True),
        ("caf\u00e9", "cafe", True),
        ("\u00e9t\u00e9", "t", True),
        ("\u00e9\u00e8", "\u00e9\u00e8", False),
        ("red \u2764\ufe0f", "red", True),
        ("\u2764\ufe0f", "\u2764\ufe0f", False),
        ("\u7ea2\u8272", "\u7ea2\u8272", True),
        ("\u7ea2\u8272", "\u84dd\u8272", False),
        ("", "", False),
        ("", "red", False),
        ("  ", "red", False),
        ("a_b", "a b", True),
        ("abcdef", "abcdeg", False),
        ("abcdefg", "abcdefh", True),  # 85.7, rounded
        ("a" * 100, "a" * 85 + "b" * 15, False),
        ("a" * 29 + "b" * 5, "a" * 29 + "c" * 5, False),  # 85.3, rounded
        ("a" * 19 + "b" * 3, "a" * 19 + "c" * 3, True),
    ],
)
def test_alike__as_thefuzz_decides(first, second, are):
    assert alike(first, second) is are
    assert alike(second, first) is are


@given(st.text(), st.text())
def test_alike__takes_any_text(first, second):
    assert alike(first, second) == alike(second, first)


@pytest.mark.parametrize(
    ("value", "colour"),
    [
        ("navy blue", "blue"),  # in the order of names
        ("red and black", "black"),
        ("standard", "tan"),  # anywhere in a word
        ("bluish", "bluish"),
        ("", ""),
        ("stonewashed", "ash"),
        ("Red", "Red"),
    ],
)
def test_main_colour__table(value, colour):
    assert main_colour(value) == colour


def test_main_colour__looks_in_the_order_of_names():
    assert list(COLOURS) == sorted(set(COLOURS))


@pytest.mark.parametrize(
    ("wanted", "chosen", "does"),
    [
        ("navy blue", "sky blue", True),
        ("red", "blue", False),
        ("size 8", "size 8 wide", True),
        ("small", "large", False),
    ],
)
def test_fits__table(wanted, chosen, does):
    assert fits(wanted, chosen) is does


@pytest.mark.parametrize(
    ("wanted", "chosen", "does"),
    # Each as the original decides it, which compares a pair as one text, without looking for a
    # colour in it.
    [
        (("color", "red"), "red", True),
        (("color", "navy blue"), "sky blue", True),  # of what was chosen only ``blue`` counts
        (("color", "navy"), "navy blue", False),
        (("style", "a-tan01"), "a-tan01", False),  # ``tan`` is no word of the pair
        (("size", "xx-large"), "xx-large", True),
        (("size", "8"), "9", False),
    ],
)
def test_fits__of_a_synthetic_goal(wanted, chosen, does):
    assert fits(wanted, chosen) is does


def test_reward__of_a_synthetic_goal_denies_what_a_comparison_of_values_grants():
    pairs = (("style", "a-tan01"), ("size", "small"))
    assert (
        reward(replace(GOAL, options=pairs), LAMP, {"style": "a-tan01", "size": "small"}).r_option
        == 0.5
    )
    values = tuple(value for _, value in pairs)
    assert (
        reward(replace(GOAL, options=values), LAMP, {"style": "a-tan01", "size": "small"}).r_option
        == 1.0
    )


def test_written__is_for_people():
    assert (written("navy"), written(("color", "navy"))) == ("navy", "color: navy")
