from __future__ import annotations

from textcraft_gym.agents.goals import Goal
from textcraft_gym.agents.select import candidates

BOAT = Goal("craft", {"boat": 1}, {"planks": 5})
CHEST = Goal("craft", {"chest": 1}, {"planks": 8})
TORCH = Goal("craft", {"torch": 4}, {"coal": 1, "stick": 1})
IRON = Goal("mine", {"iron ore": 1}, {}, "stone pickaxe")
SHEEP = Goal("hunt", {"wool": 1})


def numbered(*goals: Goal) -> dict[int, Goal]:
    return dict(enumerate(goals, 1))


def test_candidates__have_their_materials_and_their_tool():
    pending = numbered(BOAT, TORCH, IRON)
    assert candidates(pending, {"oak planks": 5}) == [1]
    assert candidates(pending, {"coal": 1, "stick": 1}) == [2]
    assert candidates(pending, {"stone pickaxe": 1}) == [3]
    assert candidates(pending, {"oak planks": 5, "stone pickaxe": 1}) == [1, 3]


def test_candidates__leave_what_the_others_need():
    pending = numbered(BOAT, CHEST, SHEEP)
    assert candidates(pending, {"planks": 13}) == [1, 2, 3]
    assert candidates(pending, {"planks": 12}) == [3]
    assert candidates(pending, {"planks": 7}) == [1, 3]


def test_candidates__leave_the_tools_of_goals_that_cannot_be_pursued_yet():
    smelt = Goal("smelt", {"cooked beef": 1}, {"beef": 1}, "furnace")
    cart = Goal("craft", {"furnace minecart": 1}, {"minecart": 1, "furnace": 1})
    assert candidates(numbered(smelt, cart, SHEEP), {"minecart": 1, "furnace": 1}) == [3]
    assert candidates(numbered(smelt, cart, SHEEP), {"minecart": 1, "furnace": 2}) == [2, 3]
    assert candidates(numbered(smelt, cart), {"minecart": 1, "furnace": 1}) == [2]


def test_candidates__leave_of_a_kind_what_is_needed_of_one_of_it():
    oak, stick = Goal("craft", {"oak boat": 1}, {"oak planks": 5}), Goal("craft", {"stick": 4}, {"planks": 2})
    assert candidates(numbered(stick, oak, SHEEP), {"oak planks": 6}) == [3]
    assert candidates(numbered(stick, oak, SHEEP), {"oak planks": 7}) == [1, 2, 3]


def test_candidates__are_the_first_where_none_is_free():
    assert candidates(numbered(BOAT, CHEST), {"planks": 12}) == [1]
    assert candidates(numbered(CHEST, TORCH), {}) == [1]
    assert candidates({}, {}) == []
