"""The effects of each command, as in the official domain.

``apply`` plays a game: it maps a state and a command to the next state and its answer. The effects of all commands at a
place depend only on the place's state and the held object, so they are computed once for each pair and then looked up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from textcraft_gym.envs.alfworld import text
from textcraft_gym.envs.alfworld.game import (
    CLEAN,
    COOL,
    HOT,
    NOTHING,
    NOWHERE,
    SINKS,
    SLICED,
    TOGGLED,
    Content,
    Game,
    Place,
    State,
)
from textcraft_gym.envs.alfworld.reasons import reason
from textcraft_gym.envs.turn import Turn

T = TypeVar("T")

KNIVES = ("KnifeType", "ButterKnifeType")


class Move(NamedTuple):
    """The effect of a command at a place.

    Attributes:
        answer: The answer.
        content: The state of the place afterwards; None if it does not change.
        held: The held object afterwards.
        thing: Index of the object whose flags it changes, or ``NOTHING``.
        sets, clears: Flags that it sets and clears.
    """

    answer: str
    content: Content | None
    held: int
    thing: int = NOTHING
    sets: int = 0
    clears: int = 0


class Moves(NamedTuple):
    """The effects of all commands at a place, given the held object.

    Attributes:
        by_command: Effects of the commands that act on the place.
        commands: All admissible commands, sorted.
    """

    by_command: dict[str, Move]
    commands: tuple[str, ...]


def apply(game: Game, state: State, command: str) -> Turn[State]:
    """Play a command; one that cannot be played changes nothing and answers ``Nothing happens.``."""
    command = command.strip()
    move = moves(game, state).by_command.get(command)
    if move is not None:
        if move.content is None and move.thing == NOTHING:
            return state, move.answer, "", ""
        return _moved(game, state, move), move.answer, "", ""
    receptacle = game.go_to.get(command)
    if receptacle is not None:
        location = game.location_of[receptacle]
        if location != state.location:
            seen = _describe(game, state.places[location], receptacle)
            after = State(location, state.held, state.places, state.flags, state.won)
            return _judged(game, after), f"You arrive at {game.arrivals[receptacle]}. {seen}", "", ""
    answer = _passive_answer(game, state, command)
    # The reason takes parsing, which is only worth its time where nothing happened.
    return state, answer, reason(game, state, command) if answer == text.NOTHING_HAPPENS else "", ""


def _moved(game: Game, state: State, move: Move) -> State:
    """Return the state after a move that changes it."""
    location, _, places, flags, won = state
    if move.content is not None:
        place = game.place(location, move.content)
        places = (*places[:location], place, *places[location + 1 :])
    if move.thing != NOTHING:
        changed = (flags[move.thing] | move.sets) & ~move.clears
        flags = _with(flags, move.thing, changed)
    return _judged(game, State(location, move.held, places, flags, won))


def moves(game: Game, state: State) -> Moves:
    """Return the effects of all commands at the agent's location, given the held object."""
    place = state.places[state.location] if state.location != NOWHERE else game.place(NOWHERE, _MIDDLE)
    # Cached on the place: a walk through a household comes back to the same few pairs of place and held object.
    known = place.moves.get(state.held)
    if known is None:
        known = place.moves[state.held] = _compute_moves(game, place, state.held)
    return known  # type: ignore[return-value]


def opening(game: Game) -> str:
    """Return the text of a reset."""
    # Only here does the middle of the room show receptacles: later, the grammar lists those at the agent's location.
    seen = text.around(game.receptacles) if game.first.location == NOWHERE else look(game, game.first)
    return text.opening(seen, game.task)


def look(game: Game, state: State) -> str:
    """Describe the agent's location."""
    if state.location == NOWHERE:
        return text.around([])
    content = state.places[state.location].content
    here = game.here[state.location]
    floor = [game.objects[obj] for obj in content.lying for receptacle in here if (obj, receptacle) in content.taken]
    return text.facing([game.receptacles[receptacle] for receptacle in here], floor)


def is_won(game: Game, state: State) -> bool:
    """Return whether the goal holds."""
    if game.goal.task_type == "look_at_obj_in_light":
        return state.held in game.wanted and _is_by_a_lit_lamp(game, state)
    needed = 2 if game.goal.task_type == "pick_two_obj_and_place" else 1
    # Both objects must be in the same receptacle.
    for location, position in game.targets:
        inside = state.places[location].content.contents[position]
        done = [obj for obj in inside if obj in game.wanted and state.flags[obj] & game.required == game.required]
        if len(done) >= needed:
            return True
    return False


def _is_by_a_lit_lamp(game: Game, state: State) -> bool:
    if state.location == NOWHERE:
        return False
    return any(
        obj in game.lamps and state.flags[obj] & TOGGLED
        for inside in state.places[state.location].content.contents
        for obj in inside
    )


def _judged(game: Game, state: State) -> State:
    """Return a state with its ``won`` brought up to date."""
    won = is_won(game, state)
    return state if won == state.won else state._replace(won=won)


def _passive_answer(game: Game, state: State, command: str) -> str:
    """Answer a command that changes nothing."""
    if command == "look":
        return look(game, state)
    if command == "inventory":
        return text.carrying(game.objects[state.held]) if state.held != NOTHING else text.EMPTY_HANDED
    if command == "help" and game.wording.help:
        return game.wording.help
    if state.held != NOTHING and command == f"examine {game.objects[state.held]}":
        return _examine(game, state, state.held)
    return text.NOTHING_HAPPENS


def _examine(game: Game, state: State, obj: int) -> str:
    flags = state.flags[obj]
    inner = game.inner.get(obj)
    return text.thing(
        game.objects[obj],
        inner=None if inner is None else [game.objects[inside] for inside in inner],
        clean=bool(flags & CLEAN),
        hot=bool(flags & HOT),
        cool=bool(flags & COOL),
        sliced=bool(flags & SLICED),
        sliceable=obj in game.sliceable,
        toggled=bool(flags & TOGGLED) and obj in game.toggleable,
    )


def _describe(game: Game, place: Place, receptacle: int) -> str:
    """Describe a receptacle of a place."""
    description = place.seen.get(receptacle)
    if description is None:
        position = game.here[place.location].index(receptacle)
        contents = [game.objects[obj] for obj in place.content.contents[position]]
        opened = place.content.opened[position]
        description = text.receptacle(game.receptacles[receptacle], receptacle in game.openable, opened, contents)
        place.seen[receptacle] = description
    return description


_MIDDLE = Content((), (), (), ())


def _compute_moves(game: Game, place: Place, held: int) -> Moves:
    by_command = dict(_moves(game, place, held)) if place.location != NOWHERE else {}
    examine = {f"examine {game.objects[held]}"} if held != NOTHING else set()
    commands = sorted([*game.common_commands(place.location), *(examine | by_command.keys())])
    return Moves(by_command, tuple(commands))


def _moves(game: Game, place: Place, held: int) -> Iterator[tuple[str, Move]]:
    """Yield each command that acts on a place, with its effect."""
    for position, receptacle in enumerate(game.here[place.location]):
        yield f"examine {game.receptacles[receptacle]}", Move(_describe(game, place, receptacle), None, held)
        if receptacle in game.openable:
            yield _open_or_close(game, place, held, position)
        yield from _moves_of_contents(game, place, held, position)
        if held != NOTHING:
            yield from _moves_of_held(game, place, held, position)
    if held != NOTHING and game.object_type[held] in KNIVES:
        yield from _slicing(game, place, held)


def _open_or_close(game: Game, place: Place, held: int, position: int) -> tuple[str, Move]:
    receptacle = game.here[place.location][position]
    name, opened = game.receptacles[receptacle], place.content.opened[position]
    content = place.content._replace(opened=_with(place.content.opened, position, not opened))
    if opened:
        return f"close {name}", Move(f"You close the {name}.", content, held)
    description = _describe(game, game.place(place.location, content), receptacle)
    return f"open {name}", Move(f"You open the {name}. {description}", content, held)


def _moves_of_contents(game: Game, place: Place, held: int, position: int) -> Iterator[tuple[str, Move]]:
    """Yield the commands that act on the objects in a receptacle."""
    receptacle = game.here[place.location][position]
    name, content = game.receptacles[receptacle], place.content
    is_accessible = content.opened[position] or receptacle not in game.openable
    for obj in content.contents[position]:
        obj_name = game.objects[obj]
        if is_accessible and held == NOTHING and obj in game.pickupable:
            answer = f"You pick up the {obj_name} from the {name}."
            yield f"take {obj_name} from {name}", Move(answer, _taken(content, position, receptacle, obj), obj)
        # As in the official domain, a lamp can be turned on even if its receptacle is closed.
        if obj in game.toggleable:
            yield f"use {obj_name}", Move(f"You turn on the {obj_name}.", None, held, obj, TOGGLED)


def _moves_of_held(game: Game, place: Place, held: int, position: int) -> Iterator[tuple[str, Move]]:
    """Yield the commands that act on the held object at a receptacle."""
    receptacle = game.here[place.location][position]
    obj_name, name, rtype = game.objects[held], game.receptacles[receptacle], game.receptacle_type[receptacle]
    is_accessible = place.content.opened[position] or receptacle not in game.openable
    if is_accessible and (rtype, game.object_type[held]) in game.fits:
        content = _put(place.content, position, receptacle, held)
        answer = game.wording.put_answer.format(o=obj_name, r=name)
        yield game.wording.put.format(o=obj_name, r=name), Move(answer, content, NOTHING)
    if rtype in SINKS and held in game.cleanable:
        answer = f"You clean the {obj_name} using the {name}."
        yield f"clean {obj_name} with {name}", Move(answer, None, held, held, CLEAN)
    if rtype == "MicrowaveType" and held in game.heatable:
        answer = f"You heat the {obj_name} using the {name}."
        yield f"heat {obj_name} with {name}", Move(answer, None, held, held, HOT, COOL)
    if rtype == "FridgeType" and held in game.coolable:
        answer = f"You cool the {obj_name} using the {name}."
        yield f"cool {obj_name} with {name}", Move(answer, None, held, held, COOL, HOT)


def _slicing(game: Game, place: Place, held: int) -> Iterator[tuple[str, Move]]:
    """Yield the commands that slice objects with the held knife."""
    knife = game.objects[held]
    for obj in place.content.lying:
        if obj in game.sliceable:
            obj_name = game.objects[obj]
            answer = f"You sliced the {obj_name} with the {knife}."
            yield f"slice {obj_name} with {knife}", Move(answer, None, held, obj, SLICED)


def _taken(content: Content, position: int, receptacle: int, obj: int) -> Content:
    # The object leaves the receptacle and the location; ``taken`` records where it came from (see ``look``).
    remaining = tuple(other for other in content.contents[position] if other != obj)
    return Content(
        content.opened,
        _with(content.contents, position, remaining),
        tuple(other for other in content.lying if other != obj),
        tuple(sorted({*content.taken, (obj, receptacle)})),
    )


def _put(content: Content, position: int, receptacle: int, obj: int) -> Content:
    return Content(
        content.opened,
        _with(content.contents, position, tuple(sorted({*content.contents[position], obj}))),
        tuple(sorted({*content.lying, obj})),
        tuple(pair for pair in content.taken if pair != (obj, receptacle)),
    )


def _with(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """Return a tuple with one item replaced."""
    return (*values[:index], value, *values[index + 1 :])
