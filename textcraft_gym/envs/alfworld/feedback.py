"""Explains in words why a command did nothing."""

from __future__ import annotations

from textcraft_gym.envs.alfworld.game import NOTHING, Game, State
from textcraft_gym.envs.alfworld.reasons import read

_ECHOED = 200
_APPLIANCES = {"clean": "a sink", "heat": "a microwave", "cool": "a fridge"}
_UNKNOWN = "There is no such command: help lists what there is."
_UNKNOWN_WITHOUT_HELP = (
    "There is no such command: there are look, inventory, go to, open, close, take, put, examine, use, heat, clean, "
    "cool and slice."
)
_UNKNOWN_PUT = "There is no such command: say {put}."
_OUT_OF_REACH = "There is no {object} within reach that this can be done to."
_WORDS = {
    "missing_index": "Things are named with their number, {first} 1: say which {first} is meant.",
    "no_such_thing": "There is no {missing} here that could be meant.",
    "already_there": "You are at {receptacle} already.",
    "wrong_location": "You are not at {receptacle}: go to it first.",
    "not_openable": "{receptacle} cannot be opened or closed.",
    "already_open": "{receptacle} is open already.",
    "already_closed": "{receptacle} is closed already.",
    "closed": "{receptacle} is closed: open it first.",
    "hands_full": "You are carrying {held}: put it somewhere first.",
    "not_carrying": "You are not carrying {needed}: take it first.",
    "not_in_receptacle": "There is no {object} in or on {receptacle}.",
    "does_not_fit": "{object} cannot be put in or on {receptacle}.",
    "wrong_appliance": "{receptacle} cannot {verb} anything: that takes {appliance}.",
    "not_possible": "{object} cannot be used in this way.",
}


def explain(game: Game, state: State, command: str, reason: str) -> str:
    """Explain why a command did nothing, given the code of ``reasons.REASONS``."""
    parsed = read(command)
    if parsed is None or reason not in _WORDS:
        return _unknown(game, parsed[0] if parsed else "")
    _, arguments = parsed
    verb = arguments.pop("verb", "")
    arguments = {role: name[:_ECHOED] for role, name in arguments.items()}
    mentioned = list(arguments.values())
    # The first name that does not exist is the mistake.
    unknown = next((name for name in mentioned if name not in game.names), mentioned[0])
    obj = arguments.get("object", mentioned[0])
    receptacle = arguments.get("receptacle", mentioned[-1])
    words = (
        _OUT_OF_REACH
        if reason == "wrong_location" and receptacle not in game.receptacles
        else _WORDS[reason]
    )
    return words.format(
        first=unknown,
        missing=unknown,
        object=obj,
        receptacle=receptacle,
        needed=arguments.get("tool", obj),
        held=game.objects[state.held] if state.held != NOTHING else "nothing",
        verb=verb or "do",
        appliance=_APPLIANCES.get(verb, "another thing"),
    )


def _unknown(game: Game, form: str) -> str:
    if form == "put":  # in the words of the other dialect
        return _UNKNOWN_PUT.format(put=game.wording.put.format(o="(object)", r="(receptacle)"))
    return _UNKNOWN if game.wording.help else _UNKNOWN_WITHOUT_HELP
