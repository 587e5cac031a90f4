"""Parsing: what each string is read as, and that no string is slow or raises."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given

from textcraft_gym.envs.textcraft import text
from textcraft_gym.envs.textcraft.actions import Craft, Get, Look, Unknown, WrongItem, parse
from textcraft_gym.envs.textcraft.rules import apply, world_of

from .lines import anything

MEGABYTE = 1_000_000
LONG = {
    "a name": "get 1 " + "a" * MEGABYTE,
    "digits": "get " + "9" * MEGABYTE + " oak log",
    "zeros": "get " + "0" * MEGABYTE + "1 oak log",
    "digits to craft": "craft " + "1" * MEGABYTE + " stick using 2 oak planks",
    "digits of an ingredient": "craft 4 stick using " + "2" * MEGABYTE + " oak planks",
    "using, using": "craft 1 a" + " using a" * 100_000,
    "using 1, using 1": "craft 1 a" + " using 1 a" * 100_000,
    "craft 1, craft 1": "craft 1 " * 125_000,
    "commas": "craft 1 a using " + "," * MEGABYTE,
    "ingredients": "craft 4 stick using " + ", ".join(["1 oak planks"] * 70_000),
    "other ingredients": "craft 4 stick using "
    + ", ".join(f"1 {number}" for number in range(100_000)),
    "spaces": " " * MEGABYTE,
    "spaces inside": "get 1" + " " * MEGABYTE + "oak log",
    "spaces around using": "craft 1 a" + " " * MEGABYTE + "using 1 b",
    "newlines": "get 1 oak log" + "\n" * MEGABYTE + "x",
    "emoji": "🪵" * (MEGABYTE // 4),
    "NUL": "\0" * MEGABYTE,
}


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ("get 2 oak log", Get("oak log", 2, "oak log")),
        ("get 2 oak_log", Get("oak log", 2, "oak_log")),
        ("  get 2 oak log\n", Get("oak log", 2, "oak log")),
        ("get 000005 oak log", Get("oak log", 5, "oak log")),
        ("get 999999 oak log", Get("oak log", 999_999, "oak log")),
        ("get 1000000 oak log", Get("oak log", 0, "oak log")),
        ("get 0 oak log", Get("oak log", 0, "oak log")),
        (f"get {'9' * 5000} oak log", Get("oak log", 0, "oak log")),
        ("craft 4 stick using 2 oak planks", Craft("stick", (("oak planks", 2),))),
        (
            "craft 4 red_bed using 3 red wool,  3 oak_planks",
            Craft("red bed", (("red wool", 3), ("oak planks", 3))),
        ),
        ("craft 1 a using 1 b, 1 b", Craft("a", (("b", 1), ("b", 1)))),
        ("craft 1 a using b", WrongItem("b")),
        ("craft 1 a using 1 b, , c", WrongItem("")),
        ("craft 1 a using 1 b, 0 c", WrongItem("0 c")),
        ("craft 1 a using 1000000 c", WrongItem("1000000 c")),
        ("craft 1 a using using 1 b", WrongItem("using 1 b")),
        ("craft 0 a using 1 b", Unknown("craft 0 a using 1 b")),
        ("craft 1000000 a using b", Unknown("craft 1000000 a using b")),
        ("craft 1 a using", Unknown("craft 1 a using")),
        ("craft a using 1 b", Craft("a", (("b", 1),))),
        (
            "craft red_bed using 3 red wool, 3 oak_planks",
            Craft("red bed", (("red wool", 3), ("oak planks", 3))),
        ),
        ("craft a using b", WrongItem("b")),
        ("craft a b using 1 c", Craft("a b", (("c", 1),))),
        ("craft using using 1 b", Craft("using", (("b", 1),))),
        ("craft a using", Unknown("craft a using")),
        ("craft using 1 b", Unknown("craft using 1 b")),
        ("craft 4 using 1 b", Unknown("craft 4 using 1 b")),
        ("craft 4stick using 1 b", Unknown("craft 4stick using 1 b")),
        ("craft -1 a using 1 b", Unknown("craft -1 a using 1 b")),
        ("craft 1.5 a using 1 b", Unknown("craft 1.5 a using 1 b")),
        ("craft ٣ a using 1 b", Unknown("craft ٣ a using 1 b")),
        ("craft  a using 1 b", Unknown("craft  a using 1 b")),
        ("inventory", Look()),
        ("inventory:", Look()),
        ("\tinventory. ", Look()),
        ("Inventory", Unknown("Inventory")),
        ("inventory :", Unknown("inventory :")),
        ("get -1 oak log", Unknown("get -1 oak log")),
        ("get oak log", Unknown("get oak log")),
        ("get 1", Unknown("get 1")),
        ("GET 1 oak log", Unknown("GET 1 oak log")),
        ("get ٣ oak log", Unknown("get ٣ oak log")),
        ("get 1 oak\nlog", Unknown("get 1 oak\nlog")),
        ("craft 1 a using 1 b,\n1 c", Unknown("craft 1 a using 1 b,\n1 c")),
        ("please get 1 oak log", Unknown("please get 1 oak log")),
        ("", Unknown("")),
    ],
)
def test_parse__reads_a_string_as_this_action(said, action):
    assert parse(said) == action
    assert type(parse(said)) is type(action)


@given(anything)
def test_parse__does_not_see_outer_white_space(said):
    assert parse(f" \n{said}\t\u00a0") == parse(said.strip())


def test_parse__reads_back_every_line_that_the_game_writes(book):
    for recipes in book.recipes.values():
        for recipe in recipes:
            offer = tuple(
                {book.members[ingredient][0]: amount for ingredient, amount in recipe.slots}.items()
            )
            action = parse(text.craft(book, recipe, offer))
            assert action == Craft(
                book.names[recipe.output], tuple((book.names[item], n) for item, n in offer)
            )
    for item in book.base_items:
        assert parse(text.get(book, item, 3)) == Get(book.names[item], 3, book.names[item])


@pytest.mark.parametrize("kind", LONG)
def test_long_action__is_answered_at_once(book, kind):
    inventory = dict.fromkeys(book.names, 999999)
    started = process_time()
    after, observation, reason, _ = apply(world_of(book), inventory, LONG[kind])
    assert process_time() - started < 0.8
    if kind == "zeros":
        assert observation == "Got 1 oak log"
    else:
        assert reason
        assert after is inventory
        assert len(observation) <= 300


def test_craft__with_every_item_at_once_is_answered_at_once(book):
    """Tags that mix must not try every division of a long offer."""
    offers = [[f"{count} {name}" for name in book.names.values()] for count in (1, 2, 999_999)]
    started = process_time()
    for offer in offers:
        for output in ("chest", "red bed", "beehive", "stick", "piston"):
            *_, reason = world_of(book).understand(f"craft 1 {output} using {', '.join(offer)}")
            assert reason == "no_recipe"
    assert process_time() - started < 0.8
