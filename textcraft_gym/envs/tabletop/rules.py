"""The rules: what a goal means, whether it is possible, and what the controller makes of it.

``apply`` never changes the state that it is given. A goal that is impossible is spent all the same;
looking, and words that are no goal of this table, are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from textcraft_gym.envs.tabletop import text
from textcraft_gym.envs.tabletop.actions import (
    Goal,
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
from textcraft_gym.envs.tabletop.reliability import outcome
from textcraft_gym.envs.tabletop.state import (
    BOWLS,
    BOX,
    FLOOR,
    HANOI,
    KITS,
    LOCATIONS,
    OUTER,
    PACKING,
    PYRAMID,
    SIDES,
    SUPPORTS,
    TABLE,
    Game,
    State,
    World,
)
from textcraft_gym.envs.turn import Turn

T = TypeVar("T")

UNKNOWN_GOAL = "unknown_goal"
NO_SUCH_THING = "no_such_thing"
ALREADY_THERE = "already_there"
BLOCKED = "blocked"
TOO_LARGE = "too_large"
WRONG_SHAPE = "wrong_shape"
WHICH_HOLE = "which_hole"
TAKEN = "taken"
NO_SUPPORT = "no_support"
SPOILT = "spoilt"
MISSED = "missed"
REASONS = (
    UNKNOWN_GOAL,
    NO_SUCH_THING,
    ALREADY_THERE,
    BLOCKED,
    TOO_LARGE,
    WRONG_SHAPE,
    WHICH_HOLE,
    TAKEN,
    NO_SUPPORT,
    SPOILT,
    MISSED,
)

GOALS: Mapping[str, tuple[type[Goal], ...]] = {
    KITS: (PutInHole,),
    HANOI: (MoveRing,),
    BOWLS: (PutInBowl,),
    PACKING: (Pack,),
    PYRAMID: (PutOnField, PutOnBlocks),
}
"""The goals that each kind of table knows."""


class Move(NamedTuple):
    """A thing, by its index, and the place to move it to."""

    thing: int
    to: str


class Refusal(NamedTuple):
    """Why a goal is impossible: one of ``REASONS``, and the same in words."""

    reason: str
    text: str


def apply(
    game: Game,
    state: State,
    action: str,
) -> Turn[State]:
    """Play an action."""
    world, goal = game.world, parse(action)
    if isinstance(goal, Look):
        return state, text.look(game, state), "", ""
    if isinstance(goal, Unknown) or not isinstance(goal, GOALS[world.kind]):
        return state, text.unknown(action.strip()), UNKNOWN_GOAL, text.forms(world.kind)
    state = state._replace(goals=state.goals + 1)
    move = understand(world, state, goal)
    if isinstance(move, Refusal):
        return state, move.text, move.reason, move.text
    thing = move.thing
    tries = state.tries[thing] + 1
    state = state._replace(tries=_changed(state.tries, {thing: tries}))
    result = outcome(game.rates, game.luck, thing, tries)
    if result == "hit":
        after = state._replace(at=_changed(state.at, {thing: move.to}))
        return _counted(world, after), text.done(world, after, thing), "", ""
    after = _spoil(world, state, move) if result == "spoil" else state
    return after, text.missed(world, state, after, thing), MISSED, text.AGAIN


def understand(world: World, state: State, goal: Goal) -> Move | Refusal:
    """Return the move that a goal means, or why it is impossible now."""
    match goal:
        case PutInBowl(colour, bowl):
            return _put_in_bowl(world, state, colour, bowl)
        case PutOnField(colour, field):
            return _put_on(world, state, colour, field)
        case PutOnBlocks():
            return _put_on_blocks(world, state, goal)
        case MoveRing(colour, side):
            return _move_ring(world, state, colour, side)
        case Pack(shape):
            return _pack(world, state, shape)
        case PutInHole():
            return _put_in_hole(world, state, goal)


def parts(world: World) -> int:
    """Return the number of parts of a task, each of which is worth the same."""
    if world.kind == HANOI:
        # The fewest moves of that many rings; CLIPort rewards each of them alike.
        return (1 << len(world.things)) - 1
    if world.kind == BOWLS:
        return sum(thing.colour in world.places for thing in world.things)
    return 1 if world.kind == PACKING else len(world.things)


def parts_done(world: World, state: State) -> int:
    """Return the number of done parts; of rings, the moves behind them on a shortest way."""
    if world.kind == HANOI:
        return parts(world) - moves_left(state.at)
    if world.kind == BOWLS:
        return sum(thing.colour == at for thing, at in zip(world.things, state.at, strict=True))
    if world.kind == PACKING:
        return int(state.at[world.wanted] == BOX)
    return sum(at != TABLE and thing not in state.spoilt for thing, at in enumerate(state.at))


def is_won(world: World, state: State) -> bool:
    """Return whether all is in its place."""
    return parts_done(world, state) == parts(world)


def moves_left(at: tuple[str, ...], to: str = SIDES[-1]) -> int:
    """Return the fewest moves of all rings to a side, given each one's side, smallest first."""
    if not at:
        return 0
    *smaller, largest = at
    if largest == to:
        return moves_left(tuple(smaller), to)
    # All smaller rings wait on the third side while the largest one moves, and follow it then.
    return moves_left(tuple(smaller), third_side(largest, to)) + (1 << len(smaller))


def third_side(side: str, other: str) -> str:
    """Return the side that is neither of two."""
    return next(third for third in SIDES if third not in (side, other))


def thing_at(state: State, place: str) -> int | None:
    """Return the first thing at a place; None if it is free."""
    if place not in state.at:
        return None
    return state.at.index(place)


def holes_of(world: World, shape: str) -> list[str]:
    """Return the locations of the holes of a shape."""
    holes = zip(LOCATIONS, world.places, strict=True)
    return [location for location, hole in holes if hole == shape]


def _put_in_bowl(
    world: World,
    state: State,
    colour: str,
    bowl: str,
) -> Move | Refusal:
    blocks = [index for index, thing in enumerate(world.things) if thing.colour == colour]
    if not blocks:
        return _no_such(f"{colour} block")
    if bowl not in world.places:
        return _no_such(f"{bowl} bowl")
    others = [block for block in blocks if state.at[block] != bowl]
    if not others:
        return _there_already(world, state, blocks[0])
    # Blocks on the table first: one in another bowl may be where it belongs.
    return Move(min(others, key=lambda block: state.at[block] != TABLE), bowl)


def _move_ring(
    world: World,
    state: State,
    colour: str,
    side: str,
) -> Move | Refusal:
    ring = _find(world, f"{colour} ring")
    if ring is None:
        return _no_such(f"{colour} ring")
    name = f"{colour} ring"
    # The last of the smaller rings lies directly on it, the first is on top of its stack.
    above = _smaller_at(state, ring, state.at[ring])
    if above:
        return Refusal(BLOCKED, text.under(name, world.things[above[-1]].name))
    if state.at[ring] == side:
        return _there_already(world, state, ring)
    beneath = _smaller_at(state, ring, side)
    if beneath:
        return Refusal(TOO_LARGE, text.too_large(name, world.things[beneath[0]].name))
    return Move(ring, side)


def _smaller_at(
    state: State,
    ring: int,
    side: str,
) -> list[int]:
    return [smaller for smaller in range(ring) if state.at[smaller] == side]


def _pack(world: World, state: State, shape: str) -> Move | Refusal:
    thing = _find(world, shape)
    if thing is None:
        return _no_such(shape)
    if state.at[thing] == FLOOR:
        return Refusal(SPOILT, text.out_of_reach(shape))
    if state.at[thing] == BOX:
        return _there_already(world, state, thing)
    return Move(thing, BOX)


def _put_in_hole(world: World, state: State, goal: PutInHole) -> Move | Refusal:
    name = f"{goal.colour} {goal.shape}"
    thing, holes = _find(world, name), _holes_meant(world, goal)
    if thing is None:
        return _no_such(name)
    if not holes:
        return _no_such(f"{goal.location} {goal.hole} hole".strip())
    if goal.shape != goal.hole:
        return Refusal(WRONG_SHAPE, text.does_not_fit(name, goal.hole))
    if len(holes) > 1:
        return Refusal(WHICH_HOLE, text.which_hole(goal.hole, holes))
    if thing in state.spoilt:
        return Refusal(SPOILT, text.stuck(world, state, thing))
    if state.at[thing] == holes[0]:
        return _there_already(world, state, thing)
    if holes[0] in state.at:
        return Refusal(TAKEN, text.TAKEN)
    return Move(thing, holes[0])


def _holes_meant(world: World, goal: PutInHole) -> list[str]:
    holes = holes_of(world, goal.hole)
    if not goal.location:
        return holes
    return [hole for hole in holes if hole == goal.location]


def _put_on_blocks(world: World, state: State, goal: PutOnBlocks) -> Move | Refusal:
    pair = (goal.first, goal.second)
    places = set()
    for colour in pair:
        block = _find(world, f"{colour} block")
        if block is None:
            return _no_such(f"{colour} block")
        places.add(state.at[block])

    if goal.colour not in pair:
        for place, supports in SUPPORTS.items():
            if places == set(supports):
                return _put_on(world, state, goal.colour, place)
    return Refusal(NO_SUPPORT, text.not_side_by_side(*pair))


def _put_on(
    world: World,
    state: State,
    colour: str,
    place: str,
) -> Move | Refusal:
    """Put a block on a place whose supports are there."""
    block = _find(world, f"{colour} block")
    if block is None:
        return _no_such(f"{colour} block")
    if state.at[block] == place:
        return _there_already(world, state, block)
    there = thing_at(state, place)
    if there is not None:
        return Refusal(TAKEN, text.has_block(world.things[there].name))
    for above, supports in SUPPORTS.items():
        if state.at[block] not in supports:
            continue
        carried = thing_at(state, above)
        if carried is not None:
            names = world.things[block].name, world.things[carried].name
            return Refusal(BLOCKED, text.under(*names))
    return Move(block, place)


def _spoil(world: World, state: State, move: Move) -> State:
    """Return the state after a miss that costs more than the goal."""
    if world.kind == KITS:  # it sticks in the hole
        at = _changed(state.at, {move.thing: move.to})
        return state._replace(at=at, spoilt=state.spoilt | {move.thing})
    if world.kind == PACKING:  # it falls beside the table
        at = _changed(state.at, {move.thing: FLOOR})
        return state._replace(at=at, spoilt=state.spoilt | {move.thing})
    if move.to in OUTER:  # it falls and takes the outer block beneath with it
        falls = state.at.index(OUTER[move.to])
        return state._replace(at=_changed(state.at, {move.thing: TABLE, falls: TABLE}))
    return state


def _counted(world: World, state: State) -> State:
    return state._replace(best=max(state.best, parts_done(world, state)))


def _changed(values: tuple[T, ...], new: Mapping[int, T]) -> tuple[T, ...]:
    return tuple(new.get(index, value) for index, value in enumerate(values))


def _find(world: World, name: str) -> int | None:
    for index, thing in enumerate(world.things):
        if thing.name == name:
            return index
    return None


def _no_such(name: str) -> Refusal:
    return Refusal(NO_SUCH_THING, text.no_such(name))


def _there_already(world: World, state: State, thing: int) -> Refusal:
    return Refusal(ALREADY_THERE, text.already(world, state, thing))
