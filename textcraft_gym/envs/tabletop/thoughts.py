"""Synthetic thoughts for an expert's plan: what each goal is for."""

from __future__ import annotations

from collections.abc import Sequence

from textcraft_gym.envs.tabletop.actions import (
    MoveRing,
    Pack,
    PutInBowl,
    PutInHole,
    PutOnBlocks,
    PutOnField,
    parse,
)
from textcraft_gym.envs.tabletop.state import SIDES
from textcraft_gym.envs.tabletop.tasks import Task


def thoughts(task: Task, plan: Sequence[str]) -> list[str]:
    """Return a thought for each goal of a winning plan."""
    return [_thought(task, goal) for goal in plan]


def _thought(task: Task, goal: str) -> str:
    match parse(goal):
        case PutInBowl(colour, bowl):
            return f"There is a {bowl} bowl, so the {colour} block has a place."
        case PutOnField(colour, field):
            return (
                f"The {field} brown block is free, and the lowest row comes first: "
                f"the {colour} block goes there."
            )
        case PutOnBlocks(colour, first, second):
            return (
                f"The {first} and {second} blocks lie side by side, "
                f"so the {colour} block goes on them."
            )
        case MoveRing(colour, side):
            return _ring_thought(task, colour, side)
        case Pack(shape):
            return f"The {shape} is what is to be packed."
        case PutInHole(colour, shape, _, hole):
            return f"The {colour} {shape} fits the {hole} hole."
        case _:
            return ""


def _ring_thought(task: Task, colour: str, side: str) -> str:
    largest = task.world.things[-1].colour
    if colour == largest:
        return f"The {colour} ring is the largest and none is on it: it goes to its last place."
    if side == SIDES[-1]:
        return f"The {colour} ring can go to the darker brown side now."
    return f"The {colour} ring makes way for a larger one."
