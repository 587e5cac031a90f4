from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.goals import (
    EQUIPPED,
    KINDS,
    MAX_GOALS,
    MAX_LINE,
    Goal,
    has,
    is_held,
    is_reached,
    parse_goals,
)


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


EITHER = [("hunt", {"beef": 1}), ("hunt", {"porkchop": 2})]


@pytest.mark.parametrize(
    ("line", "goals"),
    [
        ("hunt({'beef': 1}, null, null) or hunt({'porkchop': 2}, null, null);", EITHER),
        ("hunt({'beef': 1}); or hunt({'porkchop': 2}); # step 1: (any) meat", EITHER),
        ("- Step 2: `hunt({'beef': 1})` OR hunt({'porkchop': 2})", EITHER),
        (
            "hunt({'beef': 1}) or hunt({'porkchop': 2}) or equip('shield')",
            [*EITHER, ("equip", {"shield": 1})],
        ),
        ("hunt({'beef': 1}) # or hunt({'porkchop': 2})", EITHER[:1]),
        ("hunt({'beef or leather': 1})", [("hunt", {"beef or leather": 1})]),
    ],
)
def test_goal__may_have_others_that_will_do(line: str, goals: list):
    (goal,) = parse_goals(line)
    assert [(alternative.verb, alternative.have) for alternative in goal.alternatives] == goals
    assert (goal.line, goal.choice) == (line, "")
    for verb, have in goals:
        assert is_reached(
            goal, {name + EQUIPPED * (verb == "equip"): count for name, count in have.items()}
        )
    assert not is_reached(goal, {"stick": 9})


@pytest.mark.parametrize(
    "line",
    [
        "or hunt({'beef': 1})",
        "hunt({'beef': 1}) or",
        "hunt({'beef': 1}) or fly",
        "hunt({'beef': 1}) or hunt({})",
        "hunt() or hunt({'beef': 1})",
        "hunt({'beef': 1}) and hunt({'leather': 1})",
        "hunt({'beef': 1}) or or hunt({'leather': 1})",
    ],
)
def test_goal__with_an_other_that_is_none_is_none(line: str):
    assert parse_goals(line) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# step 3: sticks (of planks)",
        "// (2 in all)",
        "# see mine({'log': 1}, null, null)",
        "# :-) ) # (",
        "#(4)",
    ],
)
def test_goal__bears_a_comment_with_brackets(comment: str):
    line = f"craft({{'stick': 4}}, {{'planks': 2}}, 'saw'); {comment}"
    assert parse_goals(line) == [Goal("craft", {"stick": 4}, {"planks": 2}, "saw", line)]


PIECES = [
    " or ",
    "craft(",
    "{'a'",
    ": 1}",
    ", ",
    "null",
    ")",
    ";",
    "#",
    "obj=",
    "obj:",
    "\n",
    "(",
    "[",
    "**",
    "lambda",
    "\\",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5)))
def test_goals__are_read_from_anything(pieces: list[str]):
    for goal in parse_goals("".join(pieces)):
        assert goal.have
        assert all(
            type(count) is int and count > 0 for count in (*goal.have.values(), *goal.uses.values())
        )


def test_goal__is_reached_by_what_is_held_of_a_thing_or_of_its_kind():
    held = {"oak planks": 3, "birch planks": 2, "stick": 1}
    assert (has(held, "planks"), has(held, "oak planks"), has(held, "plank")) == (5, 3, 0)
    assert is_reached(Goal("craft", {"planks": 5}), held)
    assert not is_reached(Goal("craft", {"planks": 5, "stick": 2}), held)
    assert not is_reached(Goal("do", {}), held)


@pytest.mark.parametrize("kind", ["log", "logs", "planks", "wool"])
def test_kind__counts_all_of_it(kind: str):
    held = {f"oak {kind}": 3, f"dark oak {kind}": 2, kind: 1, f"{kind} box": 5, f"x{kind}": 5}
    assert has(held, kind) == 6
    assert has(held, f"oak {kind}") == 3
    assert kind in KINDS


@pytest.mark.parametrize(
    "name", ["stone", "door", "minecart", "stairs", "slab", "ingot", "pickaxe", "plank", "wools"]
)
def test_thing__that_is_no_kind_counts_only_itself(name: str):
    assert has({f"oak {name}": 3, name: 2}, name) == 2
    assert has({f"oak {name}": 3}, name) == 0


def test_goal__to_equip_is_reached_by_what_is_worn():
    equip, craft = Goal("equip", {"shield": 1}), Goal("craft", {"shield": 1})
    held, worn = {"shield": 1}, {"shield": 1, "shield" + EQUIPPED: 1}
    assert [is_reached(equip, inventory) for inventory in (held, worn)] == [False, True]
    assert [is_reached(craft, inventory) for inventory in (held, worn)] == [True, True]
    assert not is_reached(Goal("equip", {"shield": 1, "iron boots": 1}), worn)
    assert is_reached(Goal("equip", {"iron boots": 1}, others=(equip,)), worn)


HELD = {"black wool": 6, "oak planks": 3, "stick": 4, "shield": 1, f"shield{EQUIPPED}": 1}


@pytest.mark.parametrize(
    ("step", "held"),
    [
        ("craft 6 black wool using 6 black dye, 6 white wool", True),
        ("craft 7 black wool", False),
        ("get 1 lapis lazuli", False),
        ("craft stick", True),
        ("get 3 planks", True),  # of any kind
        ("craft 4 planks", False),
        ("mine 4 stick with wooden pickaxe", True),
        ("craft({'stick': 4}, {'planks': 2}, null);  # step 3", True),
        ("craft({'stick': 5}, {'planks': 2});", False),
        ("craft({'stick': 5}) or craft({'planks': 2})", True),
        ("mine({'log': 1}, null, null)", False),
        ("craft('stick', 4)", True),
        ("craft('stick', 5)", False),
        ("equip('shield')", True),
        ("equip('stick')", False),
        ("equip 1 stick", False),
        ("find the way home", None),
        ("", None),
        ("(Step 1 AND Step 2)", None),
    ],
)
def test_is_held__asks_the_inventory_of_what_a_step_is_to_obtain(step: str, held: bool | None):
    assert is_held(step, HELD) is held
