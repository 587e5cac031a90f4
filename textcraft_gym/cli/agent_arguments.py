"""The arguments of an agent, read from its class: signature, docstring and settings."""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.registry import AGENTS, find_agent, make_agent

SUPPLIED = ("profile", "prompts", "settings")
"""Parameters that a run fills in itself; those of ``settings`` are arguments of their own."""

_ENTRY = re.compile(r"(?P<names>\*?\w+(?:, \w+)*): (?P<meaning>.*)")
_REFERENCE = re.compile(r"As in ``(?P<agent>\w+)``")


class Argument(NamedTuple):
    """An argument of an agent.

    Attributes:
        name: Its name, as in ``--agent-arg NAME=VALUE``.
        type: Its type; the words that it may be, if it is one of some.
        default: Its default; by game, if it is one of ``Settings``.
        meaning: A sentence.
    """

    name: str
    type: str
    default: Any
    meaning: str


def summary_of(name: str) -> str:
    """Return what an agent is, in the first line of its docstring.

    Raises:
        UnknownName: If there is no such agent.
    """
    first, _, _ = (inspect.getdoc(find_agent(name)) or "").partition("\n")
    return _plain(first)


def arguments_of(name: str, games: Sequence[str]) -> list[Argument]:
    """Return an agent's arguments, its own before those of ``Settings``.

    Args:
        name: A name that ``find_agent`` takes.
        games: The games whose defaults are wanted.

    Raises:
        UnknownName: If there is no such agent.
    """
    agent = find_agent(name)
    if not inspect.isclass(agent):  # it is made already
        return []

    parameters = inspect.signature(agent).parameters
    types = get_type_hints(agent.__init__)
    meanings = _meanings(agent)
    arguments = []
    for parameter in parameters.values():
        if parameter.name in SUPPLIED:
            continue
        is_required = parameter.default is inspect.Parameter.empty
        arguments.append(
            Argument(
                parameter.name,
                _type_name(types.get(parameter.name, str)),
                "required" if is_required else parameter.default,
                _plain(meanings.get(parameter.name, "")),
            )
        )
    if "settings" in parameters:
        arguments += _settings(name, getattr(agent, "uses", ()), games)
    return arguments


def _settings(
    name: str,
    uses: Sequence[str],
    games: Sequence[str],
) -> list[Argument]:
    """Return the settings that an agent uses, with the defaults of the games that it plays."""
    defaults: dict[str, dict[str, int]] = {setting: {} for setting in uses}
    for game in games:
        try:
            settings = make_agent(name, profile=game).settings  # type: ignore[attr-defined]
        except ValueError:  # it does not play this game
            continue
        for setting in uses:
            defaults[setting][game] = getattr(settings, setting)

    meanings = _entries(Settings, "Attributes")
    return [
        Argument(setting, "int", defaults[setting], _plain(meanings[setting])) for setting in uses
    ]


def shown_default(default: Any) -> str:
    """Return a default in words: ``8; alfworld 5`` where it depends on the game."""
    if default is None or isinstance(default, bool):
        return json.dumps(default)  # as it is typed
    if not isinstance(default, Mapping):
        return str(default)

    ((usual, _),) = Counter(default.values()).most_common(1) or [("null", 0)]
    others = [f"{game} {value}" for game, value in default.items() if value != usual]
    return "; ".join([str(usual), ", ".join(others)]) if others else str(usual)


def _type_name(declared: Any) -> str:
    """Return a type in words; None is left out, since the default tells it."""
    if declared is NoneType:
        return ""
    if get_origin(declared) is Literal:
        return " or ".join(map(str, get_args(declared)))
    if parts := get_args(declared):
        return " or ".join(filter(None, map(_type_name, parts)))
    return getattr(declared, "__name__", str(declared))


def _meanings(agent: type) -> dict[str, str]:
    """Return what a class's docstring, or one that it inherits, says of each argument."""
    meanings: dict[str, str] = {}
    for base in agent.__mro__:
        for name, meaning in _entries(base, "Args").items():
            meanings.setdefault(name, meaning)

    for name, meaning in meanings.items():
        reference = _REFERENCE.match(meaning)
        other = _agent_class(reference["agent"]) if reference else None
        if other:
            meanings[name] = _meanings(other).get(name, meaning)
    return meanings


def _agent_class(class_name: str) -> type | None:
    """Return the suite's agent of a class name."""
    for name, path in AGENTS.items():
        if path.endswith(f":{class_name}"):
            agent: type = find_agent(name)
            return agent
    return None


def _entries(described: type, section: str) -> dict[str, str]:
    """Read a section of a docstring: the text of each name, in one line.

    Each entry is indented once, and its further lines more than that.
    """
    text = inspect.cleandoc(described.__doc__ or "")
    _, _, below = text.partition(f"{section}:\n")
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in below.split("\n"):
        if not line.startswith("    "):
            break  # the section is over
        entry = _ENTRY.fullmatch(line, 4)
        if entry and line[4] != " ":
            names = entry["names"].split(", ")
            entries |= dict.fromkeys(names, entry["meaning"])
        else:
            for name in names:
                entries[name] += f" {line.strip()}"
    return entries


def _plain(text: str) -> str:
    return text.replace("``", "")
