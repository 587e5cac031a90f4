"""Codes for the reason why a command did nothing, which is always answered ``Nothing happens.``.

The codes cover those of AutoPlan's table 6 (Ouyang and Li 2023) and everything else that can go
wrong.
"""

from __future__ import annotations

import re

from textcraft_gym.envs.alfworld.game import NOTHING, SINKS, Game, State

REASONS = (
    "unknown_command",
    "missing_index",
    "no_such_thing",
    "already_there",
    "wrong_location",
    "not_openable",
    "already_open",
    "already_closed",
    "closed",
    "hands_full",
    "not_carrying",
    "not_in_receptacle",
    "does_not_fit",
    "wrong_appliance",
    "not_possible",
)

_FORMS = (
    ("go", re.compile(r"go to (?P<receptacle>.+)")),
    ("open", re.compile(r"(?P<verb>open|close) (?P<receptacle>.+)")),
    ("take", re.compile(r"take (?P<object>.+?) from (?P<receptacle>.+)")),
    ("put", re.compile(r"move (?P<object>.+?) to (?P<receptacle>.+)")),
    ("put", re.compile(r"put (?P<object>.+?) (?:in/on|in|on) (?P<receptacle>.+)")),
    ("treat", re.compile(r"(?P<verb>clean|heat|cool) (?P<object>.+?) with (?P<receptacle>.+)")),
    ("slice", re.compile(r"slice (?P<object>.+?) with (?P<tool>.+)")),
    ("use", re.compile(r"use (?P<object>.+)")),
    ("examine", re.compile(r"examine (?P<thing>.+)")),
)
_APPLIANCES = {"clean": SINKS, "heat": ("MicrowaveType",), "cool": ("FridgeType",)}


def reason(game: Game, state: State, command: str) -> str:
    """Return the code of ``REASONS`` for a command that cannot be played in a state."""
    parsed = read(command)
    if parsed is None:
        return "unknown_command"
    form, arguments = parsed
    if form == "put":
        put = game.wording.put.format(o=arguments["object"], r=arguments["receptacle"])
        if command.strip() != put:  # in the words of the other dialect
            return "unknown_command"
    return _unknown_name(game, arguments) or _why(game, state, form, arguments)


def read(command: str) -> tuple[str, dict[str, str]] | None:
    """Parse a command into its form and its arguments by role; None for an unknown form."""
    for form, pattern in _FORMS:
        if match := pattern.fullmatch(command.strip()):
            return form, match.groupdict()
    return None


def _unknown_name(game: Game, arguments: dict[str, str]) -> str | None:
    for role, name in arguments.items():
        if role != "verb" and name not in game.names:
            # A name without its number, such as ``fridge``, is another mistake than an unknown one.
            kinds = {known.rpartition(" ")[0] for known in game.names}
            return "missing_index" if name in kinds else "no_such_thing"
    return None


def _why(
    game: Game,
    state: State,
    form: str,
    arguments: dict[str, str],
) -> str:
    if form == "slice":
        has_tool = arguments["tool"] == _held_name(game, state)
        return "not_possible" if has_tool else "not_carrying"
    if "receptacle" not in arguments:
        return "wrong_location"
    if arguments["receptacle"] not in game.receptacles:
        return "no_such_thing"
    receptacle = game.receptacles.index(arguments["receptacle"])
    if form == "go":
        return "already_there"
    if game.location_of[receptacle] != state.location:
        return "wrong_location"
    return _why_here(game, state, form, arguments, receptacle)


def _why_here(
    game: Game,
    state: State,
    form: str,
    arguments: dict[str, str],
    receptacle: int,
) -> str:
    """Return the reason where the agent is at the receptacle of the command."""
    if form == "open":
        return _why_not_open(game, arguments["verb"], receptacle)
    if form == "take":
        return _why_not_take(game, state, arguments["object"], receptacle)
    if arguments["object"] != _held_name(game, state):
        return "not_carrying"
    if form == "put":
        return "closed" if game.is_closed(state, receptacle) else "does_not_fit"
    if game.receptacle_type[receptacle] not in _APPLIANCES[arguments["verb"]]:
        return "wrong_appliance"
    return "not_possible"


def _held_name(game: Game, state: State) -> str | None:
    if state.held == NOTHING:
        return None
    return game.objects[state.held]


def _why_not_open(game: Game, verb: str, receptacle: int) -> str:
    if receptacle not in game.openable:
        return "not_openable"
    return "already_open" if verb == "open" else "already_closed"


def _why_not_take(
    game: Game,
    state: State,
    name: str,
    receptacle: int,
) -> str:
    if game.is_closed(state, receptacle):
        return "closed"
    if state.held != NOTHING:
        return "hands_full"
    inside = [game.objects[obj] for obj in game.contents(state, receptacle)]
    return "not_possible" if name in inside else "not_in_receptacle"
