"""Whether steps of plans hold on a table."""

from __future__ import annotations

import pytest

from tests.envs.tabletop.tables import BOXING, KIT, MATCHING, RINGS, STACKING, play
from textcraft_gym.envs.tabletop.state import World
from textcraft_gym.envs.tabletop.steps import holds

PYRAMID = [
    "put the red block on the lightest brown block",
    "put the green block on the middle brown block",
    "put the blue block on the red and green blocks",
]


@pytest.mark.parametrize(
    ("world", "played", "step", "held"),
    [
        (MATCHING, [], "put the red blocks in a red bowl", False),
        # Two are red: the goal moves one of them.
        (MATCHING, ["put the red blocks in a red bowl"], "put the red blocks in a red bowl", True),
        (
            MATCHING,
            ["put the red blocks in a red bowl"],
            "put the red blocks in a pink bowl",
            False,
        ),
        (MATCHING, [], "put the red blocks in a blue bowl", False),
        (STACKING, PYRAMID, PYRAMID[1], True),
        (STACKING, PYRAMID[:1], PYRAMID[1], False),
        (STACKING, PYRAMID, PYRAMID[2], True),
        (STACKING, PYRAMID, "put the blue block on the green and red blocks", True),
        (STACKING, PYRAMID, "put the blue block on the red and pink blocks", False),
        (
            RINGS,
            ["move the red ring to the darker brown side"],
            "move the red ring to the darker brown side",
            True,
        ),
        # Under the red ring, and where it is to be all the same.
        (RINGS, [], "move the blue ring to the lighter brown side", True),
        (RINGS, [], "move the blue ring to the darker brown side", False),
        (BOXING, ["pack the star in the brown box"], "pack the star in the brown box", True),
        (BOXING, ["pack the star in the brown box"], "pack the ring in the brown box", False),
        (
            KIT,
            ["put the red star in the left star hole"],
            "put the red star in the left star hole",
            False,
        ),
        (
            KIT,
            ["put the red star in the top star hole"],
            "put the red star in the top star hole",
            True,
        ),
        (KIT, ["put the red star in the top star hole"], "put the red star in the star hole", True),
        (
            KIT,
            ["put the red star in the top star hole"],
            "put the blue star in the top star hole",
            False,
        ),
        (KIT, [], "put the red star in the ring hole", False),
        (
            KIT,
            ["put the red star in the top star hole"],
            "put the red star in the middle star hole",
            False,
        ),
        (KIT, [], "look", None),
        (KIT, [], "put the red star", None),
    ],
)
def test_holds__asks_where_the_thing_is(
    world: World, played: list[str], step: str, held: bool | None
):
    state, *_ = play(world, played)
    assert holds(world, state, step) is held


def test_holds__what_sticks_in_a_hole_is_not_in_its_place():
    goal = "put the gray ring in the ring hole"
    state, *_ = play(KIT, [goal])
    assert holds(KIT, state, goal) is True
    assert holds(KIT, state._replace(spoilt=frozenset({3})), goal) is False
