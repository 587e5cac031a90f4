"""What a player can say, and how it is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.envs.minetechtree.actions import (
    CheckInventory,
    Equip,
    Gather,
    Look,
    Make,
    Unknown,
    WrongItem,
    parse,
)


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ("look", Look()),
        (" inventory\n", CheckInventory()),
        ("mine 3 oak log with wooden pickaxe", Gather("mine", "oak log", 3, "wooden pickaxe")),
        (
            "mine 3 minecraft:oak_log with minecraft:wooden_pickaxe",
            Gather("mine", "oak log", 3, "wooden pickaxe"),
        ),
        ("mine 3 oak_log", Gather("mine", "oak log", 3)),
        ("hunt 2 beef", Gather("hunt", "beef", 2)),
        ("craft 4 oak planks using 1 oak log", Make("craft", "oak planks", 4, (("oak log", 1),))),
        ("craft 4 oak planks", Make("craft", "oak planks", 4)),
        (
            "smelt 3 iron ingot using 3 iron ore,2 minecraft:oak_planks",
            Make("smelt", "iron ingot", 3, (("iron ore", 3), ("oak planks", 2))),
        ),
        ("equip shield", Equip("shield")),
        ("craft 4 oak planks using oak log", WrongItem("oak log")),
        ("craft 4 oak planks using 0 oak log", WrongItem("0 oak log")),
        ("craft 4 oak planks using 1 oak log,", WrongItem("")),
        ("craft oak planks using 1 oak log", Unknown("craft oak planks using 1 oak log")),
        ("mine 0 oak log", Unknown("mine 0 oak log")),
        ("mine 1000000 oak log", Unknown("mine 1000000 oak log")),
        ("mine oak log", Unknown("mine oak log")),
        ("mine", Unknown("mine")),
        ("Look", Unknown("Look")),
        ("look around", Unknown("look around")),
        ("mine 1 oak log\nmine 1 oak log", Unknown("mine 1 oak log\nmine 1 oak log")),
        ("", Unknown("")),
    ],
)
def test_action__is_read(said, action):
    assert parse(said) == action


@given(st.text(max_size=400))
def test_parse__bears_any_text(said):
    assert parse(said) == parse(said)


@given(
    st.integers(1, 999_999),
    st.sampled_from(["mine", "hunt"]),
    st.sampled_from(["oak log", "a b c"]),
)
def test_parse__reads_any_count(count, verb, item):
    assert parse(f"{verb} {count} {item}") == Gather(verb, item, count)


def test_parse__of_thousands_of_digits_is_no_count():
    assert isinstance(parse(f"mine {'9' * 5000} oak log"), Unknown)
    assert parse(f"mine {'0' * 5000}7 oak log") == Gather("mine", "oak log", 7)
