"""Goals: which objects and targets a room offers for each type of task."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import lru_cache

from textcraft_gym.envs.alfworld.facts import (
    APPLIANCES,
    CONTENTS,
    HOLDS_ONE,
    PROPERTIES,
    ROOM_KINDS,
    TASK_ROOMS,
)
from textcraft_gym.envs.alfworld.problem import TREATED, Goal
from textcraft_gym.envs.alfworld.rooms import Room, build_room
from textcraft_gym.envs.shuffle import Uniform, pick

PLACED_BY_ARRIVAL = ("pick_and_place_simple", "pick_two_obj_and_place")
"""Tasks for which an object in a receptacle of the target type would count as placed at once."""


@lru_cache(maxsize=720)
def goal_options(task_type: str, plan: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return pairs of an object type and its possible targets.

    They are empty if the task is not set on this floor plan.
    """
    room = build_room(plan)
    if not any(room.kind is ROOM_KINDS[kind] for kind in TASK_ROOMS.get(task_type, ())):
        return ()
    rtypes = list(dict.fromkeys(receptacle.rtype for receptacle in room.default_receptacles))
    options = []
    for otype in _treatable(task_type, [otype for otype, _ in room.kind.objects]):
        holders = [rtype for rtype in rtypes if otype in CONTENTS[rtype]]
        targets = tuple(_targets(task_type, room, holders))
        if targets:
            options.append((otype, targets))
    return tuple(options)


def can_start_in(task_type: str, target: str, rtype: str) -> bool:
    """Return whether a goal object may start in a receptacle of this type.

    It may not where its start would be a part of the task done.
    """
    if task_type in PLACED_BY_ARRIVAL:
        return rtype != target
    return task_type != "pick_cool_then_place_in_recep" or rtype != "Fridge"


def draw_goal(
    rng: Uniform,
    task_type: str,
    options: Sequence[tuple[str, tuple[str, ...]]],
) -> Goal:
    """Draw an object type and one of its targets."""
    otype, targets = pick(rng, options)
    target = pick(rng, targets)
    return Goal(task_type, f"{otype}Type", f"{target}Type")


def _treatable(task_type: str, otypes: Sequence[str]) -> list[str]:
    """Keep the types that can be cleaned, heated or cooled, where the task asks for that."""
    if task_type not in TREATED:
        return list(otypes)
    predicate, _ = TREATED[task_type]
    return [otype for otype in otypes if otype in PROPERTIES[predicate]]


def _targets(
    task_type: str,
    room: Room,
    holders: Sequence[str],
) -> Iterator[str]:
    """Yield the targets that leave some holder of the object for it to start in."""
    for target in _fit_targets(task_type, room, holders):
        if any(can_start_in(task_type, target, rtype) for rtype in holders):
            yield target


def _fit_targets(
    task_type: str,
    room: Room,
    holders: Sequence[str],
) -> Sequence[str]:
    if task_type == "look_at_obj_in_light":
        return room.lamps
    unfit: Container[str | None] = (APPLIANCES.get(task_type),)
    if task_type == "pick_two_obj_and_place":
        unfit = HOLDS_ONE
    return [rtype for rtype in holders if rtype not in unfit]
