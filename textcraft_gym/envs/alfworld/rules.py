"""The effects of each command, as in the official domain.

``apply`` plays a game: it maps a state and a command to the next state and its answer. The commands
at a place and their effects depend only on the state of the place and the held object, so they are
listed once for each pair of these. An effect is worked out when its command is first played: most
never are.
"""

from __future__ import annotations

from collections.abc import Callable
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
"""The effect of a verb: game, place, held object, position of a receptacle, object in it."""

Rules: TypeAlias = dict[str, tuple[Rule, int, int]]
"""The rule of each command, with the position of a receptacle and an object."""


class Moves(NamedTuple):
    """The commands that can be played at a place, given the held object.

    Attributes:
        rules: The rules of the commands that act on the place.
        effects: The effects of those that have been played.
        commands: All admissible commands, sorted.
    """

    rules: Rules
    effects: dict[str, Move]
    commands: tuple[str, ...]


def apply(
    game: Game,
    state: State,
    command: str,
) -> Turn[State]:
    """Play a command; an impossible one changes nothing and answers ``Nothing happens.``."""
    # As in the official engine, the rest of the match is exact, case included.
    command = command.strip()
    # ``go to`` can be played anywhere and is the same everywhere: it is no move of a place.
    receptacle = game.go_to.get(command)
    # As in the official grammar, no receptacle at the agent's own location can be gone to.
    if receptacle is not None and game.location_of[receptacle] != state.location:
        location = game.location_of[receptacle]
        seen = _describe(game, state.places[location], receptacle)
        after = State(location, state.held, state.places, state.flags, state.won)
        return _judged(game, after), f"You arrive at {game.arrivals[receptacle]}. {seen}", "", ""
    move = _effect(game, state, command)
    if move is not None:
        if move.content is None and move.thing == NOTHING:  # only ``examine``
            return state, move.answer, "", ""
        return _moved(game, state, move), move.answer, "", ""
    answer = _passive_answer(game, state, command)
    if answer != text.NOTHING_HAPPENS:
        return state, answer, "", ""
    # The reason takes parsing, which is only worth its time where nothing happened.
    return state, answer, reason(game, state, command), ""


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
    if state.location == NOWHERE:
        return game.place(NOWHERE, _MIDDLE)
    return state.places[state.location]


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
    if game.first.location == NOWHERE:
        # Only here does the middle of the room show receptacles: later, the grammar lists those at
        # the agent's location.
        return text.opening(text.around(game.receptacles), game.task)
    return text.opening(look(game, game.first), game.task)


def look(game: Game, state: State) -> str:
    """Describe the agent's location."""
    if state.location == NOWHERE:
        return text.around([])
    content = state.places[state.location].content
    here = game.here[state.location]
    floor = []
    for obj in content.lying:
        # As in the official grammar, an object that was moved is listed once for each receptacle
        # here that it was taken from.
        taken_from = [receptacle for receptacle in here if (obj, receptacle) in content.taken]
        floor += [game.objects[obj]] * len(taken_from)
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
            if obj in game.wanted and state.flags[obj] & game.required == game.required:
                done += 1
        if done >= needed:
            return True
    return False


def _is_by_a_lit_lamp(game: Game, state: State) -> bool:
    if state.location == NOWHERE:
        return False
    for contents in state.places[state.location].content.contents:
        for obj in contents:
            if obj in game.lamps and state.flags[obj] & TOGGLED:
                return True
    return False


def _judged(game: Game, state: State) -> State:
    """Return a state with its ``won`` brought up to date."""
    # Of the state alone, as in the official engine: a goal that is undone is no longer won.
    won = is_won(game, state)
    return state if won == state.won else state._replace(won=won)


def _passive_answer(game: Game, state: State, command: str) -> str:
    """Answer a command that changes nothing."""
    if command == "look":
        return look(game, state)
    if command == "inventory":
        if state.held == NOTHING:
            return text.EMPTY_HANDED
        return text.carrying(game.objects[state.held])
    if command == "help" and game.wording.help:
        return game.wording.help
    # As in the official grammar, an object is examined in the hand only.
    if state.held != NOTHING and command == f"examine {game.objects[state.held]}":
        return _examine(game, state, state.held)
    return text.NOTHING_HAPPENS


def _examine(game: Game, state: State, obj: int) -> str:
    flags = state.flags[obj]
    inner = None
    if obj in game.inner:
        inner = [game.objects[inside] for inside in game.inner[obj]]
    return text.thing(
        game.objects[obj],
        inner=inner,
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
            game.receptacles[receptacle],
            receptacle in game.openable,
            opened,
            contents,
        )
        place.seen[receptacle] = description
    return description


_MIDDLE = Content((), (), (), ())


def _list_moves(game: Game, place: Place, held: int) -> Moves:
    rules: Rules = {}
    if place.location != NOWHERE:
        rules = _rules(game, place, held)
    local = {*rules}
    if held != NOTHING:
        local.add(f"examine {game.objects[held]}")
    # In the order of strings, as the official engine lists them: ``10`` comes before ``2``.
    commands = sorted([*game.common_commands(place.location), *local])
    return Moves(rules, {}, tuple(commands))


def _rules(game: Game, place: Place, held: int) -> Rules:
    """Return the rules of the commands that act on a place."""
    rules: Rules = {}
    for position in range(len(game.here[place.location])):
        _add_contents(rules, game, place, held, position)
        if held != NOTHING:
            _add_held(rules, game, place, held, position)
    if held != NOTHING and game.object_type[held] in KNIVES:
        knife = game.objects[held]
        # As in the official domain, also what a closed receptacle hides.
        for obj in place.content.lying:
            if obj in game.sliceable:
                rules[f"slice {game.objects[obj]} with {knife}"] = _sliced, NOTHING, obj
    return rules


def _add_contents(
    rules: Rules,
    game: Game,
    place: Place,
    held: int,
    position: int,
) -> None:
    """Add the commands about a receptacle and the objects in it."""
    receptacle = game.here[place.location][position]
    name = game.receptacles[receptacle]
    opened = place.content.opened[position]
    rules[f"examine {name}"] = _examined, position, NOTHING
    is_accessible = True
    if receptacle in game.openable:
        is_accessible = opened
        verb = "close" if opened else "open"
        rules[f"{verb} {name}"] = _opened_or_closed, position, NOTHING
    for obj in place.content.contents[position]:
        if is_accessible and held == NOTHING and obj in game.pickupable:
            rules[f"take {game.objects[obj]} from {name}"] = _taken, position, obj
        # As in the official domain, a lamp can be turned on even if its receptacle is closed.
        if obj in game.toggleable:
            rules[f"use {game.objects[obj]}"] = _used, position, obj


def _add_held(
    rules: Rules,
    game: Game,
    place: Place,
    held: int,
    position: int,
) -> None:
    """Add the commands that put the held object into a receptacle, or treat it there."""
    receptacle = game.here[place.location][position]
    name, rtype = game.receptacles[receptacle], game.receptacle_type[receptacle]
    thing = game.objects[held]
    is_accessible = place.content.opened[position] or receptacle not in game.openable
    # As in the official domain, a receptacle is never full.
    if is_accessible and (rtype, game.object_type[held]) in game.fits:
        rules[game.wording.put.format(o=thing, r=name)] = _put, position, held
    # As in the official domain, an appliance works while it is closed.
    if rtype in SINKS and held in game.cleanable:
        rules[f"clean {thing} with {name}"] = _cleaned, position, held
    if rtype == "MicrowaveType" and held in game.heatable:
        rules[f"heat {thing} with {name}"] = _heated, position, held
    if rtype == "FridgeType" and held in game.coolable:
        rules[f"cool {thing} with {name}"] = _cooled, position, held


def _examined(
    game: Game,
    place: Place,
    held: int,
    position: int,
    obj: int,
) -> Move:
    return Move(_describe(game, place, game.here[place.location][position]), None, held)


def _opened_or_closed(
    game: Game,
    place: Place,
    held: int,
    position: int,
    obj: int,
) -> Move:
    receptacle = game.here[place.location][position]
    name, opened = game.receptacles[receptacle], place.content.opened[position]
    content = place.content._replace(opened=_with(place.content.opened, position, not opened))
    if opened:
        return Move(f"You close the {name}.", content, held)
    description = _describe(game, game.place(place.location, content), receptacle)
    return Move(f"You open the {name}. {description}", content, held)


def _taken(
    game: Game,
    place: Place,
    held: int,
    position: int,
    obj: int,
) -> Move:
    receptacle, content = game.here[place.location][position], place.content
    # The object leaves the receptacle and the location; ``taken`` records where it came from (see
    # ``look``).
    # Official games have objects in two receptacles at once: the other one keeps it.
    remaining = tuple(other for other in content.contents[position] if other != obj)
    after = Content(
        content.opened,
        _with(content.contents, position, remaining),
        tuple(other for other in content.lying if other != obj),
        tuple(sorted({*content.taken, (obj, receptacle)})),
    )
    answer = f"You pick up the {game.objects[obj]} from the {game.receptacles[receptacle]}."
    return Move(answer, after, obj)


def _put(
    game: Game,
    place: Place,
    held: int,
    position: int,
    obj: int,
) -> Move:
    receptacle, content = game.here[place.location][position], place.content
    after = Content(
        content.opened,
        _with(content.contents, position, tuple(sorted({*content.contents[position], obj}))),
        tuple(sorted({*content.lying, obj})),
        tuple(pair for pair in content.taken if pair != (obj, receptacle)),
    )
    answer = game.wording.put_answer.format(o=game.objects[obj], r=game.receptacles[receptacle])
    return Move(answer, after, NOTHING)


def _used(
    game: Game,
    place: Place,
    held: int,
    position: int,
    obj: int,
) -> Move:
    # As in the official domain, nothing turns it off again.
    return Move(f"You turn on the {game.objects[obj]}.", None, held, obj, TOGGLED)


def _cleaned(
    game: Game,
    place: Place,
    held: int,
    position: int,
    obj: int,
) -> Move:
    return Move(_treated("clean", game, place, position, obj), None, held, obj, CLEAN)


def _heated(
    game: Game,
    place: Place,
    held: int,
    position: int,
    obj: int,
) -> Move:
    return Move(_treated("heat", game, place, position, obj), None, held, obj, HOT, COOL)


def _cooled(
    game: Game,
    place: Place,
    held: int,
    position: int,
    obj: int,
) -> Move:
    return Move(_treated("cool", game, place, position, obj), None, held, obj, COOL, HOT)


def _treated(
    verb: str,
    game: Game,
    place: Place,
    position: int,
    obj: int,
) -> str:
    appliance = game.receptacles[game.here[place.location][position]]
    return f"You {verb} the {game.objects[obj]} using the {appliance}."


def _sliced(
    game: Game,
    place: Place,
    held: int,
    position: int,
    obj: int,
) -> Move:
    answer = f"You sliced the {game.objects[obj]} with the {game.objects[held]}."
    return Move(answer, None, held, obj, SLICED)


def _with(
    values: tuple[T, ...],
    index: int,
    value: T,
) -> tuple[T, ...]:
    """Return a tuple with one item replaced."""
    return (*values[:index], value, *values[index + 1 :])
