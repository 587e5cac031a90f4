from __future__ import annotations

import random

from textcraft_gym.agents.goals import Goal
from textcraft_gym.agents.select import candidates, choose

BOAT = Goal("craft", {"boat": 1}, {"planks": 5})
CHEST = Goal("craft", {"chest": 1}, {"planks": 8})
TORCH = Goal("craft", {"torch": 4}, {"coal": 1, "stick": 1})
IRON = Goal("mine", {"iron ore": 1}, {}, "stone pickaxe")
SHEEP, COW = Goal("hunt", {"wool": 1}), Goal("hunt", {"leather": 1})


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


def test_candidates__are_the_first_where_none_is_free():
    assert candidates(numbered(BOAT, CHEST), {"planks": 12}) == [1]
    assert candidates(numbered(CHEST, TORCH), {}) == [1]
    assert candidates({}, {}) == []


def test_choose__takes_the_nearer_the_more_often():
    def horizon(goal: Goal, view: str) -> float:
        return {"wool": 10.0, "leather": 30.0}[goal.name]

    def share(temperature: float) -> float:
        number = random.Random(0)
        drawn = [choose([COW, SHEEP], "", horizon, temperature, number) for _ in range(2000)]
        return drawn.count(SHEEP) / len(drawn)

    assert share(0.5) == 1
    assert 0.66 < share(25.0) < 0.72  # 1 / (1 + exp(-20 / 25)) is 0.69
    assert 0.45 < share(1e6) < 0.55
