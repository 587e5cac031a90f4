"""An expert that sees the table: it does what is left to do, the rings in the fewest moves."""

from __future__ import annotations

from collections.abc import Iterator

from textcraft_gym.envs.tabletop import text
from textcraft_gym.envs.tabletop.rules import Move, holes_of, thing_at, third_side
from textcraft_gym.envs.tabletop.state import (
    BOWLS,
    BOX,
    FIELDS,
    HANOI,
    KITS,
    PACKING,
    SIDES,
    SUPPORTS,
    TABLE,
    State,
    World,
    first_state,
)


def plan(world: World, state: State | None = None) -> list[str]:
    """Return the goals that are left, as if none were missed; what is spoilt is left as it is."""
    state = state or first_state(world)
    goals = []
    for thing, to in _moves(world, state):
        goals.append(text.goal(world, state, thing, to))
        at = list(state.at)
        at[thing] = to
        state = state._replace(at=tuple(at))
    return goals


def _moves(world: World, state: State) -> Iterator[Move]:
    if world.kind == HANOI:
        yield from hanoi(state.at)
    elif world.kind == PACKING:
        if state.at[world.wanted] == TABLE:
            yield Move(world.wanted, BOX)
    elif world.kind == BOWLS:
        for index, (thing, at) in enumerate(zip(world.things, state.at, strict=True)):
            if thing.colour in world.places and at != thing.colour:
                yield Move(index, thing.colour)
    elif world.kind == KITS:
        left = [index for index, at in enumerate(state.at) if at == TABLE]
        free = {
            shape: [hole for hole in holes_of(world, shape) if hole not in state.at]
            for shape in world.places
        }
        yield from (
            Move(index, holes.pop(0))
            for index in left
            if (holes := free[world.things[index].shape])
        )
    else:
        left = [index for index, at in enumerate(state.at) if at == TABLE]
        places = [place for place in (*FIELDS, *SUPPORTS) if thing_at(state, place) is None]
        yield from map(Move, left, places)


def hanoi(at: tuple[str, ...], to: str = SIDES[-1]) -> Iterator[Move]:
    """Yield the fewest moves that bring all rings to a side, given the side of each, the smallest ring first."""
    if not at:
        return
    *smaller, largest = at
    if largest == to:
        yield from hanoi(tuple(smaller), to)
        return
    waiting = third_side(largest, to)
    yield from hanoi(tuple(smaller), waiting)
    yield Move(len(smaller), to)
    yield from hanoi((waiting,) * len(smaller), to)
