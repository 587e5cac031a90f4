"""Explains in words why a command did nothing."""

from __future__ import annotations

from textcraft_gym.envs.alfworld.game import NOTHING, Game, State
from textcraft_gym.envs.alfworld.reasons import read

_ECHOED = 200
_APPLIANCES = {"clean": "a sink", "heat": "a microwave", "cool": "a fridge"}
_UNKNOWN = "There is no such command: help lists what there is."
_UNKNOWN_WITHOUT_HELP = (
    "There is no such command: there are look, inventory, go to, open, close, take, put, "
    "examine, use, heat, clean, cool and slice."
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


def explain(
    game: Game,
    state: State,
    command: str,
    reason: str,
) -> str:
    """Explain why a command did nothing, given the code of ``reasons.REASONS``."""
    parsed = read(command)
    if parsed is None or reason not in _WORDS:
        return _unknown(game, parsed[0] if parsed else "")
    _, arguments = parsed
    verb = arguments.pop("verb", "")
    # A player may write names of any length.
    arguments = {role: name[:_ECHOED] for role, name in arguments.items()}
    names = list(arguments.values())
    unknown = _first_unknown(game, names)
    obj = arguments.get("object", names[0])
    receptacle = arguments.get("receptacle", names[-1])
    held = "nothing"
    if state.held != NOTHING:
        held = game.objects[state.held]
    words = _WORDS[reason]
    if reason == "wrong_location" and receptacle not in game.receptacles:
        words = _OUT_OF_REACH
    return words.format(
        first=unknown,
        missing=unknown,
        object=obj,
        receptacle=receptacle,
        needed=arguments.get("tool", obj),
        held=held,
        verb=verb or "do",
        appliance=_APPLIANCES.get(verb, "another thing"),
    )


def _first_unknown(game: Game, names: list[str]) -> str:
    """Return the first name that does not exist, which is the mistake; else the first name."""
    for name in names:
        if name not in game.names:
            return name
    return names[0]


def _unknown(game: Game, form: str) -> str:
    if form == "put":  # in the words of the other dialect
        return _UNKNOWN_PUT.format(put=game.wording.put.format(o="(object)", r="(receptacle)"))
    if game.wording.help:
        return _UNKNOWN
    return _UNKNOWN_WITHOUT_HELP
