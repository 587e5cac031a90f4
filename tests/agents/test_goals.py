from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.agents.goals import MAX_GOALS, MAX_LINE, Goal, has, is_reached, parse_goals


@pytest.mark.parametrize(
    ("line", "verb", "have", "uses", "tool"),
    [
        ("craft({'stick':4}, {'planks':2}, null); # step 3: sticks", "craft", {"stick": 4}, {"planks": 2}, ""),
        ('mine(obj={"iron_ore": 3}, None, "stone_pickaxe")', "mine", {"iron ore": 3}, {}, "stone pickaxe"),
        ("mine(obj: {'minecraft:oak_log': 3}, null, null)", "mine", {"oak log": 3}, {}, ""),
        ("smelt({stone: 1}, {coal: 1}, furnace)", "smelt", {"stone": 1}, {"coal": 1}, "furnace"),
        ("- Step 2: EQUIP('shield')", "equip", {"shield": 1}, {}, ""),
        ("1. `equip(shield)`", "equip", {"shield": 1}, {}, ""),
        ("equip('iron_sword', 'hand')", "equip", {"iron sword": 1}, {}, "hand"),
        ("craft({'Torch': 2})", "craft", {"torch": 2}, {}, ""),
    ],
)  # fmt: skip
def test_goal__is_read_from_a_line(line: str, verb: str, have: dict, uses: dict, tool: str):
    assert parse_goals(line) == [Goal(verb, have, uses, tool, line)]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "I craft sticks.",
        "craft()",
        "craft({})",
        "craft({'a': 0})",
        "craft({'a': -1})",
        "craft({'a': 99999})",
        "craft({'a': 1.5})",
        "craft({'a': 1}) ; import os",
        "craft({**x})",
        "__import__('os').system('x')",
        "print(open('/etc/passwd'))",
        "craft(lambda: 1)",
        "craft([x for x in 'ab'])",
        "craft({'a': 1})(2)",
        "x = craft({'a': 1})",
        "craft({'a': 1}, 2 ** 99999)",
        "craft(" + "(" * 400 + ")" * 80,
        "craft({'a': 1}, '" + "x" * MAX_LINE + "')",
    ],
)
def test_goal__is_none_in_a_line_of_another_shape(line: str):
    assert parse_goals(line) == []


def test_goals__are_in_the_order_of_the_lines_and_not_too_many():
    text = "# a plan\ncraft({'b': 1}) # step 2\nThen:\ncraft({'a': 1}) # step 1\n"
    assert [goal.name for goal in parse_goals(text)] == ["b", "a"]
    assert len(parse_goals("equip(a)\n" * 1000)) == MAX_GOALS


PIECES = ["craft(", "{'a'", ": 1}", ", ", "null", ")", ";", "#", "obj=", "obj:", "\n", "(", "[", "**", "lambda", "\\"]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5)))
def test_goals__are_read_from_anything(pieces: list[str]):
    for goal in parse_goals("".join(pieces)):
        assert goal.have
        assert all(type(count) is int and count > 0 for count in (*goal.have.values(), *goal.uses.values()))


def test_goal__is_reached_by_what_is_held_of_a_thing_or_of_its_kind():
    held = {"oak planks": 3, "birch planks": 2, "stick": 1}
    assert (has(held, "planks"), has(held, "oak planks"), has(held, "plank")) == (5, 3, 0)
    assert is_reached(Goal("craft", {"planks": 5}), held)
    assert not is_reached(Goal("craft", {"planks": 5, "stick": 2}), held)
    assert not is_reached(Goal("do", {}), held)
