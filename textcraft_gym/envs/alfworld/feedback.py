"""What was missing, in words, when a command did nothing."""

from __future__ import annotations

from textcraft_gym.envs.alfworld.game import NOTHING, Game, State
from textcraft_gym.envs.alfworld.reasons import read

_ECHOED = 200
_APPLIANCES = {"clean": "a sink", "heat": "a microwave", "cool": "a fridge"}
_UNKNOWN = "There is no such command: help lists what there is."
_OUT_OF_REACH = "There is no {o} within reach that this can be done to."
_WORDS = {
    "missing_index": "Things are named with their number, {first} 1: say which {first} is meant.",
    "no_such_thing": "There is no {missing} here that could be meant.",
    "already_there": "You are at {r} already.",
    "wrong_location": "You are not at {r}: go to it first.",
    "not_openable": "{r} cannot be opened or closed.",
    "already_open": "{r} is open already.",
    "already_closed": "{r} is closed already.",
    "closed": "{r} is closed: open it first.",
    "hands_full": "You are carrying {held}: put it somewhere first.",
    "not_carrying": "You are not carrying {needed}: take it first.",
    "not_in_receptacle": "There is no {o} in or on {r}.",
    "does_not_fit": "{o} cannot be put in or on {r}.",
    "wrong_appliance": "{r} cannot {verb} anything: that takes {appliance}.",
    "not_possible": "{o} cannot be used in this way.",
}


def explain(game: Game, state: State, command: str, reason: str) -> str:
    """Return what was missing for a command that did nothing, for a code of ``reasons.REASONS``."""
    found = read(command)
    if found is None or reason not in _WORDS:
        return _UNKNOWN
    _, said = found
    named = {key: value[:_ECHOED] for key, value in said.items() if key != "verb"}
    things = list(named.values())
    names = {*game.receptacles, *game.objects}
    unknown = next((one for one in things if one not in names), things[0])
    o = named.get("o") or named.get("o2") or things[0]
    r = named.get("r") or things[-1]
    words = _OUT_OF_REACH if reason == "wrong_location" and r not in game.receptacles else _WORDS[reason]
    return words.format(
        first=unknown,
        missing=unknown,
        o=o,
        r=r,
        needed=named.get("tool") or o,
        held=game.objects[state.held] if state.held != NOTHING else "nothing",
        verb=said.get("verb", "do"),
        appliance=_APPLIANCES.get(said.get("verb", ""), "another thing"),
    )
