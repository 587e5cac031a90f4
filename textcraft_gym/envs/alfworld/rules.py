"""What each command does, as the official domain has it.

A game is played by ``apply``: from a state and a command to the next state and its answer. All that a command can do
at a place depends on the place's state and on what is held, so it is worked out once for each and looked up after.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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

KNIVES = ("KnifeType", "ButterKnifeType")


class Move(NamedTuple):
    """What a command does at a place.

    Attributes:
        answer: What is said.
        content: The place's state after it; None where it stays as it is.
        held: What is held after it.
        thing: The object whose flags it changes, or ``NOTHING``.
        sets, clears: Flags that it sets and clears.
    """

    answer: str
    content: Content | None
    held: int
    thing: int = NOTHING
    sets: int = 0
    clears: int = 0


class Moves(NamedTuple):
    """All that can be done at a place with something or nothing in hand.

    Attributes:
        by_command: What each command does that acts on the place.
        commands: Every admissible command, in order.
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
            seen = _seen(game, state.places[location], receptacle)
            after = State(location, state.held, state.places, state.flags, state.won)
            return _judged(game, after), f"You arrive at {game.receptacles[receptacle]}. {seen}", "", ""
    answer = _said(game, state, command)
    # Why nothing happened is found by parsing, which plays no part where something did.
    return state, answer, reason(game, state, command) if answer == text.NOTHING_HAPPENS else "", ""


def _moved(game: Game, state: State, move: Move) -> State:
    location, _, places, flags, won = state
    if move.content is not None:
        place = game.place(location, move.content)
        places = (*places[:location], place, *places[location + 1 :])
    if move.thing != NOTHING:
        thing = move.thing
        flags = (*flags[:thing], (flags[thing] | move.sets) & ~move.clears, *flags[thing + 1 :])
    return _judged(game, State(location, move.held, places, flags, won))


def moves(game: Game, state: State) -> Moves:
    """Return what can be done where the agent is with what it holds."""
    place = state.places[state.location] if state.location != NOWHERE else _middle(game)
    found = place.moves.get(state.held)
    if found is None:
        found = place.moves[state.held] = _work_out(game, place, state.held)
    return found  # type: ignore[return-value]


def opening(game: Game) -> str:
    """Return the text of a reset."""
    # Only here the middle of the room shows its receptacles: the grammar lists those at the agent's location later.
    seen = text.around(game.receptacles) if game.first.location == NOWHERE else look(game, game.first)
    return text.opening(seen, game.task)


def look(game: Game, state: State) -> str:
    """Return what is seen."""
    if state.location == NOWHERE:
        return text.around([])
    content = state.places[state.location].content
    here = game.here[state.location]
    floor = [game.objects[one] for one in content.lying for r in here if (one, r) in content.taken]
    return text.facing([game.receptacles[r] for r in here], floor)


def is_won(game: Game, state: State) -> bool:
    """Return whether the goal holds."""
    if game.goal.task_type == "look_at_obj_in_light":
        return (
            state.held in game.wanted
            and state.location != NOWHERE
            and any(
                one in game.lamps and bool(state.flags[one] & TOGGLED)
                for inside in state.places[state.location].content.contents
                for one in inside
            )
        )
    needed = 2 if game.goal.task_type == "pick_two_obj_and_place" else 1
    for location, number in game.targets:
        inside = state.places[location].content.contents[number]
        done = [one for one in inside if one in game.wanted and state.flags[one] & game.required == game.required]
        if len(done) >= needed:
            return True
    return False


def _judged(game: Game, state: State) -> State:
    """Return a state in which it is noted whether the goal holds."""
    won = is_won(game, state)
    return state if won == state.won else state._replace(won=won)


def _said(game: Game, state: State, command: str) -> str:
    """Answer what changes nothing."""
    if command == "look":
        return look(game, state)
    if command == "inventory":
        return text.carrying(game.objects[state.held]) if state.held != NOTHING else text.EMPTY_HANDED
    if command == "help":
        return game.help
    if state.held != NOTHING and command == f"examine {game.objects[state.held]}":
        return _examined(game, state, state.held)
    return text.NOTHING_HAPPENS


def _examined(game: Game, state: State, one: int) -> str:
    flags = state.flags[one]
    inner = game.inner.get(one)
    return text.thing(
        game.objects[one],
        inner=None if inner is None else [game.objects[inside] for inside in inner],
        clean=bool(flags & CLEAN),
        hot=bool(flags & HOT),
        cool=bool(flags & COOL),
        sliced=bool(flags & SLICED),
        sliceable=one in game.sliceable,
        toggled=bool(flags & TOGGLED) and one in game.toggleable,
    )


def _seen(game: Game, place: Place, receptacle: int) -> str:
    """Return what is seen in or on a receptacle of a place."""
    said = place.seen.get(receptacle)
    if said is None:
        number = game.here[place.location].index(receptacle)
        contents = [game.objects[one] for one in place.content.contents[number]]
        opened = place.content.opened[number]
        said = text.receptacle(game.receptacles[receptacle], receptacle in game.openable, opened, contents)
        place.seen[receptacle] = said
    return said


def _middle(game: Game) -> Place:
    return game.place(NOWHERE, Content((), (), (), ()))


def _work_out(game: Game, place: Place, held: int) -> Moves:
    by_command = dict(_moves(game, place, held)) if place.location != NOWHERE else {}
    examine = {f"examine {game.objects[held]}"} if held != NOTHING else set()
    commands = sorted([*game.common_commands(place.location), *(examine | by_command.keys())])
    return Moves(by_command, tuple(commands))


def _moves(game: Game, place: Place, held: int) -> Iterator[tuple[str, Move]]:
    """Yield each command that acts on a place, with what it does."""
    content = place.content
    for number, r in enumerate(game.here[place.location]):
        name, inside, opened = game.receptacles[r], content.contents[number], content.opened[number]
        accessible = opened or r not in game.openable
        yield f"examine {name}", Move(_seen(game, place, r), None, held)
        if r in game.openable:
            after = content._replace(opened=_with(content.opened, number, not opened))
            changed = game.place(place.location, after)
            answer = f"You close the {name}." if opened else f"You open the {name}. {_seen(game, changed, r)}"
            yield f"{'close' if opened else 'open'} {name}", Move(answer, after, held)
        for one in inside:
            thing = game.objects[one]
            if accessible and held == NOTHING and one in game.pickupable:
                yield (
                    f"take {thing} from {name}",
                    Move(f"You pick up the {thing} from the {name}.", _taken(content, number, r, one), one),
                )
            if one in game.toggleable:
                yield f"use {thing}", Move(f"You turn on the {thing}.", None, held, one, TOGGLED)
        if held != NOTHING:
            yield from _with_hand(game, place, held, number, r, accessible)
    if held != NOTHING and game.object_type[held] in KNIVES:
        for one in content.lying:
            if one in game.sliceable:
                thing, knife = game.objects[one], game.objects[held]
                answer = f"You sliced the {thing} with the {knife}."
                yield f"slice {thing} with {knife}", Move(answer, None, held, one, SLICED)


def _with_hand(
    game: Game, place: Place, held: int, number: int, r: int, accessible: bool
) -> Iterator[tuple[str, Move]]:
    """Yield what can be done to a receptacle with something in hand."""
    thing, name, kind = game.objects[held], game.receptacles[r], game.receptacle_type[r]
    if accessible and (kind, game.object_type[held]) in game.fits:
        put = _put(place.content, number, r, held)
        yield game.put.format(o=thing, r=name), Move(game.put_answer.format(o=thing, r=name), put, NOTHING)
    if kind in SINKS and held in game.cleanable:
        yield f"clean {thing} with {name}", Move(f"You clean the {thing} using the {name}.", None, held, held, CLEAN)
    if kind == "MicrowaveType" and held in game.heatable:
        answer = f"You heat the {thing} using the {name}."
        yield f"heat {thing} with {name}", Move(answer, None, held, held, HOT, COOL)
    if kind == "FridgeType" and held in game.coolable:
        answer = f"You cool the {thing} using the {name}."
        yield f"cool {thing} with {name}", Move(answer, None, held, held, COOL, HOT)


def _taken(content: Content, number: int, r: int, one: int) -> Content:
    return Content(
        content.opened,
        _with(content.contents, number, tuple(other for other in content.contents[number] if other != one)),
        tuple(other for other in content.lying if other != one),
        tuple(sorted({*content.taken, (one, r)})),
    )


def _put(content: Content, number: int, r: int, one: int) -> Content:
    return Content(
        content.opened,
        _with(content.contents, number, tuple(sorted({*content.contents[number], one}))),
        tuple(sorted({*content.lying, one})),
        tuple(mark for mark in content.taken if mark != (one, r)),
    )


def _with(values: tuple, number: int, value: object) -> tuple:  # type: ignore[type-arg]
    return (*values[:number], value, *values[number + 1 :])
