"""Why a command did nothing, as a short code; the text says ``Nothing happens.`` whatever the reason.

What is told apart is that of AutoPlan's table 6 (Ouyang and Li 2023), and what else can go wrong.
"""

from __future__ import annotations

import re

from textcraft_gym.envs.alfworld.game import NOTHING, NOWHERE, SINKS, Game, State

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

_FORMS = {
    "go": re.compile(r"go to (?P<r>.+)"),
    "open": re.compile(r"(?P<verb>open|close) (?P<r>.+)"),
    "take": re.compile(r"take (?P<o>.+?) from (?P<r>.+)"),
    "put": re.compile(r"(?:move (?P<o>.+?) to|put (?P<o2>.+?) in/on) (?P<r>.+)"),
    "treat": re.compile(r"(?P<verb>clean|heat|cool) (?P<o>.+?) with (?P<r>.+)"),
    "slice": re.compile(r"slice (?P<o>.+?) with (?P<tool>.+)"),
    "use": re.compile(r"use (?P<o>.+)"),
    "examine": re.compile(r"examine (?P<any>.+)"),
}
_APPLIANCES = {"clean": SINKS, "heat": ("MicrowaveType",), "cool": ("FridgeType",)}


def reason(game: Game, state: State, command: str) -> str:
    """Return the code of ``REASONS`` for a command that cannot be played in a state."""
    found = read(command)
    if found is None:
        return "unknown_command"
    form, said = found
    named = [value for key, value in said.items() if key != "verb"]
    return _unnamed(game, named) or _why(game, state, form, said)


def read(command: str) -> tuple[str, dict[str, str]] | None:
    """Return the form of a command and what is named in it; None if it has no known form."""
    for form, pattern in _FORMS.items():
        if found := pattern.fullmatch(command.strip()):
            return form, {key: value for key, value in found.groupdict().items() if value}
    return None


def _unnamed(game: Game, named: list[str]) -> str | None:
    names = {*game.receptacles, *game.objects}
    for name in named:
        if name not in names:
            kinds = {one.rpartition(" ")[0] for one in names}
            return "missing_index" if name in kinds else "no_such_thing"
    return None


def _why(game: Game, state: State, form: str, said: dict[str, str]) -> str:
    r = game.receptacles.index(said["r"]) if said.get("r") in game.receptacles else None
    if "r" in said and r is None:
        return "no_such_thing"
    if form == "go":
        return "already_there"
    if r is not None and (state.location == NOWHERE or game.location_of[r] != state.location):
        return "wrong_location"
    if form == "open":
        return _lid(game, state, said["verb"], r or 0)
    if form in ("put", "treat"):
        held = game.objects[state.held] if state.held != NOTHING else None
        if held != (said.get("o") or said.get("o2")):
            return "not_carrying"
    if form in ("take", "put") and r is not None and _closed(game, state, r):
        return "closed"
    if form == "take":
        return "hands_full" if state.held != NOTHING else _absent(game, state, said["o"], r or 0)
    if form == "put":
        return "does_not_fit"
    if form == "treat":
        return "not_possible" if game.receptacle_type[r or 0] in _APPLIANCES[said["verb"]] else "wrong_appliance"
    if form == "slice":
        held = game.objects[state.held] if state.held != NOTHING else None
        return "not_carrying" if held != said["tool"] else "not_possible"
    return "wrong_location" if form in ("use", "examine") else "not_possible"


def _lid(game: Game, state: State, verb: str, r: int) -> str:
    if r not in game.openable:
        return "not_openable"
    return "already_open" if verb == "open" else "already_closed"


def _closed(game: Game, state: State, r: int) -> bool:
    number = game.here[state.location].index(r)
    return r in game.openable and not state.places[state.location].content.opened[number]


def _absent(game: Game, state: State, thing: str, r: int) -> str:
    number = game.here[state.location].index(r)
    inside = [game.objects[one] for one in state.places[state.location].content.contents[number]]
    return "not_possible" if thing in inside else "not_in_receptacle"
