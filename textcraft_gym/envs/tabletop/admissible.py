"""The goals that can be given: those that are possible now, and those that can ever be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from textcraft_gym.envs.tabletop import text
from textcraft_gym.envs.tabletop.actions import Look, Unknown, parse
from textcraft_gym.envs.tabletop.rules import GOALS, Move, understand
from textcraft_gym.envs.tabletop.state import (
    BOWLS,
    BOX,
    FIELDS,
    HANOI,
    KITS,
    LOCATIONS,
    PACKING,
    PYRAMID,
    SIDES,
    SUPPORTS,
    State,
    World,
    first_state,
)

LOOK = "look"


def admissible_commands(world: World, state: State) -> list[str]:
    """Return the goals that are possible now, and ``look``."""
    possible = (goal for goal in _goals(world, state) if _is_possible(world, state, goal))
    return [LOOK, *dict.fromkeys(possible)]


def possible_commands(world: World) -> list[str]:
    """Return every goal that is well-formed for what is on the table, and ``look``."""
    return [LOOK, *dict.fromkeys([*_goals(world, first_state(world)), *_on_any_two(world)])]


def _goals(world: World, state: State) -> Iterator[str]:
    for thing in range(len(world.things)):
        for place in _places(world, state):
            yield text.goal(world, state, thing, place)


def _places(world: World, state: State) -> list[str]:
    """Return the places that can be named now; of a pyramid those that rest on something."""
    fixed = {BOWLS: world.places, HANOI: SIDES, KITS: LOCATIONS, PACKING: (BOX,)}
    if world.kind in fixed:
        return list(fixed[world.kind])
    places = list(FIELDS)
    for place, supports in SUPPORTS.items():
        if set(supports) <= set(state.at):
            places.append(place)
    return places


def _on_any_two(world: World) -> Iterator[str]:
    """Yield the goals that put a block of a pyramid on any two others."""
    if world.kind != PYRAMID:
        return
    things = range(len(world.things))
    for first, second, block in permutations(things, 3):
        # In ``left`` only the two below it have a place.
        at = [""] * len(things)
        at[first], at[second] = SUPPORTS["left"]
        yield text.goal(world, State(tuple(at)), block, "left")


def _is_possible(world: World, state: State, command: str) -> bool:
    goal = parse(command)
    if isinstance(goal, Look | Unknown) or not isinstance(goal, GOALS[world.kind]):
        return False
    return isinstance(understand(world, state, goal), Move)
