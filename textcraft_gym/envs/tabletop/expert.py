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
        return hanoi(state.at)
    if world.kind == PACKING:
        return _into_box(world, state)
    if world.kind == BOWLS:
        return _into_bowls(world, state)
    if world.kind == KITS:
        return _into_holes(world, state)
    return _onto_pyramid(state)


def _into_box(world: World, state: State) -> Iterator[Move]:
    if state.at[world.wanted] == TABLE:
        yield Move(world.wanted, BOX)


def _into_bowls(world: World, state: State) -> Iterator[Move]:
    for index, (thing, at) in enumerate(zip(world.things, state.at, strict=True)):
        if thing.colour in world.places and at != thing.colour:
            yield Move(index, thing.colour)


def _into_holes(world: World, state: State) -> Iterator[Move]:
    filled = set(state.at)
    for index in _on_table(state):
        for hole in holes_of(world, world.things[index].shape):
            if hole not in filled:
                filled.add(hole)
                yield Move(index, hole)
                break


def _onto_pyramid(state: State) -> Iterator[Move]:
    # From the lowest row up, so that every place rests on something.
    places = [place for place in (*FIELDS, *SUPPORTS) if thing_at(state, place) is None]
    return map(Move, _on_table(state), places)


def _on_table(state: State) -> list[int]:
    return [index for index, at in enumerate(state.at) if at == TABLE]


def hanoi(at: tuple[str, ...], to: str = SIDES[-1]) -> Iterator[Move]:
    """Yield the fewest moves that bring all rings to a side.

    Args:
        at: The side of each ring, the smallest first.
        to: The side to bring them to.
    """
    if not at:
        return
    *smaller, largest = at
    if largest == to:
        yield from hanoi(tuple(smaller), to)
        return
    # The smaller rings wait on the third side while the largest one moves, and follow it then.
    waiting = third_side(largest, to)
    yield from hanoi(tuple(smaller), waiting)
    yield Move(len(smaller), to)
    yield from hanoi((waiting,) * len(smaller), to)
