"""Goals are read exactly as they are written, and anything else is unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.envs.tabletop.tables import WORLDS
from textcraft_gym.envs.tabletop import text
from textcraft_gym.envs.tabletop.actions import (
    MAX_LENGTH,
    Look,
    MoveRing,
    Pack,
    PutInBowl,
    PutInHole,
    PutOnBlocks,
    PutOnField,
    Unknown,
    parse,
)
from textcraft_gym.envs.tabletop.admissible import possible_commands
from textcraft_gym.envs.tabletop.state import COLOURS, FIELDS, LOCATIONS, SHAPES, SIDES

colours = st.sampled_from(COLOURS)
shapes = st.sampled_from(SHAPES)


@given(colours, colours, colours, st.sampled_from(FIELDS), st.sampled_from(SIDES))
def test_parse__reads_colours_and_places(colour, first, other, field, side):
    assert parse(f"put the {colour} blocks in a {first} bowl") == PutInBowl(colour, first)
    assert parse(f"put the {colour} block on the {field} brown block") == PutOnField(colour, field)
    assert parse(f"put the {colour} block on the {first} and {other} blocks") == PutOnBlocks(
        colour, first, other
    )
    assert parse(f"move the {colour} ring to the {side}") == MoveRing(colour, side)


@given(colours, shapes, shapes, st.sampled_from(("", *LOCATIONS)))
def test_parse__reads_shapes_and_locations(colour, shape, hole, location):
    assert parse(f"pack the {shape} in the brown box") == Pack(shape)
    place = f"{location} {hole}".strip()
    assert parse(f"put the {colour} {shape} in the {place} hole") == PutInHole(
        colour, shape, location, hole
    )


def test_parse__takes_blanks_around_a_goal_and_none_within():
    assert parse("  look\n") == Look()
    assert parse(" pack the star in the brown box ") == Pack("star")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Look",
        "look around",
        "put the yellow block in a yellow bowl",
        "put the yellow blocks in the yellow bowl",
        "Put the yellow blocks in a yellow bowl",
        "put the yellow blocks in a yellow bowl.",
        "put the  yellow blocks in a yellow bowl",
        "put the yellow blocks in a yellow bowl\nlook",
        "put the red block on the brown block",
        "put the red block on the blue blocks",
        "move the red ring to the left side",
        "pack the star in the box",
        "1. pack the star in the brown box",
        f"pack the {'a' * MAX_LENGTH} in the brown box",
    ],
)
def test_parse__takes_nothing_else(line: str):
    assert isinstance(parse(line), Unknown)


@given(st.text())
def test_parse__reads_any_text(line: str):
    assert isinstance(parse(line), Look | Unknown)


def test_parse__of_what_is_in_the_way_takes_no_time():
    assert isinstance(parse("put the a in the " + "in the " * 100_000), Unknown)


def test_parse__understands_every_goal_that_is_written_here():
    for world in WORLDS:
        assert not any(isinstance(parse(goal), Unknown) for goal in possible_commands(world))
        assert len(text.FORMS[world.kind]) in (1, 2, 3, 4)
