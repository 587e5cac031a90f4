"""Whether a step of a plan holds: the thing is where its goal puts it."""

from __future__ import annotations

from textcraft_gym.envs.tabletop.actions import (
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
from textcraft_gym.envs.tabletop.rules import holes_of
from textcraft_gym.envs.tabletop.state import BOX, SUPPORTS, State, World


def holds(world: World, state: State, step: str) -> bool | None:
    """Return whether a goal is reached; None if the step is no goal of a table.

    Blocks in a bowl are one or more of the colour, as the goal moves one of them. What sticks in a
    hole is not in its place.
    """

    def places_of(*names: str) -> set[str]:
        return {
            state.at[index]
            for index, thing in enumerate(world.things)
            if thing.name in names and index not in state.spoilt
        }

    def is_at(name: str, *places: str) -> bool:
        return not places_of(name).isdisjoint(places)

    match parse(step):
        case PutInBowl(colour, bowl):
            return bowl in world.places and is_at(f"{colour} block", bowl)
        case PutOnField(colour, field):
            return is_at(f"{colour} block", field)
        case PutOnBlocks(colour, first, second):
            pair = places_of(f"{first} block", f"{second} block")
            above = [place for place, supports in SUPPORTS.items() if set(supports) == pair]
            return is_at(f"{colour} block", *above)
        case MoveRing(colour, side):
            return is_at(f"{colour} ring", side)
        case Pack(shape):
            return is_at(shape, BOX)
        case PutInHole(colour, shape, location, hole):
            holes = [each for each in holes_of(world, hole) if location in ("", each)]
            return is_at(f"{colour} {shape}", *holes)
        case Look() | Unknown():
            return None
