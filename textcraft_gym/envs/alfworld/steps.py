"""Whether a step of a plan holds in a household: an object is held, treated, placed or lit.

The steps are worded as the agents' prompts word them: ``find and take a mug from shelf, desk``,
``clean the mug with sinkbasin 1``, ``put the mug in shelf 2``, ``look at the mug under the
desklamp``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from textcraft_gym.envs.alfworld.game import CLEAN, COOL, HOT, NOTHING, TOGGLED, Game, State

_THE = r"(?:(?:an?|the|another|some|one) )?"
_TAKE = re.compile(rf"(?:find and take|pick(?: up)?|take) {_THE}(\w+)(?: \d+)?(?: (?:from|at) .+)?")
_PUT = re.compile(
    rf"(?:put|place) {_THE}(\w+)(?: \d+)? (?:in/on|in|on|into|onto) {_THE}(\w+(?: \d+)?)"
)
_TREAT = re.compile(rf"(clean|heat|cool) {_THE}(\w+)(?: \d+)?(?: with .+)?")
_LIGHT = re.compile(
    rf"(?:look at|examine) {_THE}(\w+)(?: \d+)? (?:under|with) {_THE}(\w*lamp)(?: \d+)?(?: at .+)?"
)
_FLAGS = {"clean": CLEAN, "heat": HOT, "cool": COOL}


def holds(game: Game, state: State, step: str) -> bool | None:
    """Return whether a step is done; None if its words are none that the state can answer."""
    line = step.strip().lower()
    for pattern, holds_in in _RULES:
        if match := pattern.fullmatch(line):
            return holds_in(game, state, *match.groups())
    return None


def _is_held(game: Game, state: State, name: str) -> bool:
    return state.held != NOTHING and state.held in _named(game, name)


def _is_in(game: Game, state: State, name: str, receptacle: str) -> bool:
    things = {*_named(game, name)}
    return any(
        not things.isdisjoint(game.contents(state, index))
        for index, other in enumerate(game.receptacles)
        if receptacle in (other, _type(other))
    )


def _is_treated(game: Game, state: State, verb: str, name: str) -> bool:
    return any(state.flags[thing] & _FLAGS[verb] for thing in _named(game, name))


def _is_lit(game: Game, state: State, name: str, lamp: str) -> bool:
    """Return whether an object is held where a lamp stands that is on."""
    here = state.places[state.location].content if state.location >= 0 else None
    if here is None or not _is_held(game, state, name):
        return False
    return any(thing in here.lying and state.flags[thing] & TOGGLED for thing in _named(game, lamp))


def _named(game: Game, name: str) -> Iterator[int]:
    """Yield the objects of a type."""
    return (index for index, thing in enumerate(game.objects) if _type(thing) == name)


def _type(name: str) -> str:
    return name.rpartition(" ")[0]


_RULES: tuple[tuple[re.Pattern[str], Callable[..., bool]], ...] = (
    (_TAKE, _is_held),
    (_PUT, _is_in),
    (_TREAT, _is_treated),
    (_LIGHT, _is_lit),
)
