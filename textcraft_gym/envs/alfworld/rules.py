"""The effects of each command, as in the official domain.

``apply`` plays a game: it maps a state and a command to the next state and its answer. The commands
at a place and their effects depend only on the state of the place and the held object, so they are
listed once for each pair of these. An effect is worked out when its command is first played: most
never are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias, TypeVar

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


Rule: TypeAlias = Callable[[Game, Place, int, int, int], Move]
"""The effect of a verb at a place, given the held object, the position of a receptacle there, and an object in it."""


class Moves(NamedTuple):
    """The commands that can be played at a place, given the held object.

    Attributes:
        rules: The rule of each command that acts on the place, with the position of a receptacle
            and an object.
        effects: The effects of those that have been played.
        commands: All admissible commands, sorted.
    """

    rules: dict[str, tuple[Rule, int, int]]
    effects: dict[str, Move]
    commands: tuple[str, ...]


def apply(game: Game, state: State, command: str) -> Turn[State]:
    """Play a command; one that cannot be played changes nothing and answers ``Nothing happens.``."""
    command = command.strip()
    receptacle = game.go_to.get(command)
    if receptacle is not None and game.location_of[receptacle] != state.location:
        location = game.location_of[receptacle]
        seen = _describe(game, state.places[location], receptacle)
        after = State(location, state.held, state.places, state.flags, state.won)
        return _judged(game, after), f"You arrive at {game.arrivals[receptacle]}. {seen}", "", ""
    move = _effect(game, state, command)
    if move is not None:
        if move.content is None and move.thing == NOTHING:
            return state, move.answer, "", ""
        return _moved(game, state, move), move.answer, "", ""
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
    """Return the commands that can be played at the agent's location, given the held object."""
    place = _place(game, state)
    # Cached on the place: a walk through a household comes back to the same few pairs of place and
    # held object.
    known = place.moves.get(state.held)
    if known is None:
        known = place.moves[state.held] = _list_moves(game, place, state.held)
    return known  # type: ignore[return-value]


def _place(game: Game, state: State) -> Place:
    return (
        state.places[state.location] if state.location != NOWHERE else game.place(NOWHERE, _MIDDLE)
    )


def _effect(game: Game, state: State, command: str) -> Move | None:
    """Return the effect of a command that acts on the agent's location; None for any other."""
    rules, effects, _ = moves(game, state)
    move = effects.get(command)
    if move is None and command in rules:
        rule, position, obj = rules[command]
        move = effects[command] = rule(game, _place(game, state), state.held, position, obj)
    return move


def opening(game: Game) -> str:
    """Return the text of a reset."""
    # Only here does the middle of the room show receptacles: later, the grammar lists those at the
    # agent's location.
    seen = (
        text.around(game.receptacles) if game.first.location == NOWHERE else look(game, game.first)
    )
    return text.opening(seen, game.task)


def look(game: Game, state: State) -> str:
    """Describe the agent's location."""
    if state.location == NOWHERE:
        return text.around([])
    content = state.places[state.location].content
    here = game.here[state.location]
    floor = [
        game.objects[obj]
        for obj in content.lying
        for receptacle in here
        if (obj, receptacle) in content.taken
    ]
    return text.facing([game.receptacles[receptacle] for receptacle in here], floor)


def is_won(game: Game, state: State) -> bool:
    """Return whether the goal holds."""
    if game.goal.task_type == "look_at_obj_in_light":
        return state.held in game.wanted and _is_by_a_lit_lamp(game, state)
    needed = 2 if game.goal.task_type == "pick_two_obj_and_place" else 1
    # Both objects must be in the same receptacle.
    for location, position in game.targets:
        done = 0
        for obj in state.places[location].content.contents[position]:
            done += obj in game.wanted and state.flags[obj] & game.required == game.required
        if done >= needed:
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
        return (
            text.carrying(game.objects[state.held]) if state.held != NOTHING else text.EMPTY_HANDED
        )
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
        description = text.receptacle(
            game.receptacles[receptacle], receptacle in game.openable, opened, contents
        )
        place.seen[receptacle] = description
    return description


_MIDDLE = Content((), (), (), ())


def _list_moves(game: Game, place: Place, held: int) -> Moves:
    rules = dict(_rules(game, place, held)) if place.location != NOWHERE else {}
    examine = {f"examine {game.objects[held]}"} if held != NOTHING else set()
    commands = sorted([*game.common_commands(place.location), *(examine | rules.keys())])
    return Moves(rules, {}, tuple(commands))


def _rules(game: Game, place: Place, held: int) -> Iterator[tuple[str, tuple[Rule, int, int]]]:
    """Yield each command that acts on a place, with its rule, the position of its receptacle, and its object."""
    content = place.content
    for position, receptacle in enumerate(game.here[place.location]):
        name, closable = game.receptacles[receptacle], receptacle in game.openable
        is_accessible = content.opened[position] or not closable
        yield f"examine {name}", (_examined, position, NOTHING)
        if closable:
            yield (
                f"{'close' if content.opened[position] else 'open'} {name}",
                (_opened_or_closed, position, NOTHING),
            )
        for obj in content.contents[position]:
            if is_accessible and held == NOTHING and obj in game.pickupable:
                yield f"take {game.objects[obj]} from {name}", (_taken, position, obj)
            # As in the official domain, a lamp can be turned on even if its receptacle is closed.
            if obj in game.toggleable:
                yield f"use {game.objects[obj]}", (_used, position, obj)
        if held != NOTHING:
            thing, rtype = game.objects[held], game.receptacle_type[receptacle]
            if is_accessible and (rtype, game.object_type[held]) in game.fits:
                yield game.wording.put.format(o=thing, r=name), (_put, position, held)
            if rtype in SINKS and held in game.cleanable:
                yield f"clean {thing} with {name}", (_cleaned, position, held)
            if rtype == "MicrowaveType" and held in game.heatable:
                yield f"heat {thing} with {name}", (_heated, position, held)
            if rtype == "FridgeType" and held in game.coolable:
                yield f"cool {thing} with {name}", (_cooled, position, held)
    if held != NOTHING and game.object_type[held] in KNIVES:
        for obj in content.lying:
            if obj in game.sliceable:
                yield (
                    f"slice {game.objects[obj]} with {game.objects[held]}",
                    (_sliced, NOTHING, obj),
                )


def _examined(game: Game, place: Place, held: int, position: int, obj: int) -> Move:
    return Move(_describe(game, place, game.here[place.location][position]), None, held)


def _opened_or_closed(game: Game, place: Place, held: int, position: int, obj: int) -> Move:
    receptacle = game.here[place.location][position]
    name, opened = game.receptacles[receptacle], place.content.opened[position]
    content = place.content._replace(opened=_with(place.content.opened, position, not opened))
    if opened:
        return Move(f"You close the {name}.", content, held)
    description = _describe(game, game.place(place.location, content), receptacle)
    return Move(f"You open the {name}. {description}", content, held)


def _taken(game: Game, place: Place, held: int, position: int, obj: int) -> Move:
    receptacle, content = game.here[place.location][position], place.content
    # The object leaves the receptacle and the location; ``taken`` records where it came from (see
    # ``look``).
    remaining = tuple(other for other in content.contents[position] if other != obj)
    after = Content(
        content.opened,
        _with(content.contents, position, remaining),
        tuple(other for other in content.lying if other != obj),
        tuple(sorted({*content.taken, (obj, receptacle)})),
    )
    return Move(
        f"You pick up the {game.objects[obj]} from the {game.receptacles[receptacle]}.", after, obj
    )


def _put(game: Game, place: Place, held: int, position: int, obj: int) -> Move:
    receptacle, content = game.here[place.location][position], place.content
    after = Content(
        content.opened,
        _with(content.contents, position, tuple(sorted({*content.contents[position], obj}))),
        tuple(sorted({*content.lying, obj})),
        tuple(pair for pair in content.taken if pair != (obj, receptacle)),
    )
    answer = game.wording.put_answer.format(o=game.objects[obj], r=game.receptacles[receptacle])
    return Move(answer, after, NOTHING)


def _used(game: Game, place: Place, held: int, position: int, obj: int) -> Move:
    return Move(f"You turn on the {game.objects[obj]}.", None, held, obj, TOGGLED)


def _cleaned(game: Game, place: Place, held: int, position: int, obj: int) -> Move:
    return Move(_treated("clean", game, place, position, obj), None, held, obj, CLEAN)


def _heated(game: Game, place: Place, held: int, position: int, obj: int) -> Move:
    return Move(_treated("heat", game, place, position, obj), None, held, obj, HOT, COOL)


def _cooled(game: Game, place: Place, held: int, position: int, obj: int) -> Move:
    return Move(_treated("cool", game, place, position, obj), None, held, obj, COOL, HOT)


def _treated(verb: str, game: Game, place: Place, position: int, obj: int) -> str:
    return f"You {verb} the {game.objects[obj]} using the {game.receptacles[game.here[place.location][position]]}."


def _sliced(game: Game, place: Place, held: int, position: int, obj: int) -> Move:
    return Move(
        f"You sliced the {game.objects[obj]} with the {game.objects[held]}.",
        None,
        held,
        obj,
        SLICED,
    )


def _with(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """Return a tuple with one item replaced."""
    return (*values[:index], value, *values[index + 1 :])
