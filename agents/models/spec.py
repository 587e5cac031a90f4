"""Models by their description in one line, as on a command line.

simulated:span=3
openai:gpt-4o-mini,endpoint=chat,timeout=30,price=0.15/0.6
openai:my-model,base_url=http://127.0.0.1:8000/v1,api_key=none
my_module:MyModel,option=value
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from textcraft_gym.agents.contract.agent import Model, ModelError
from textcraft_gym.agents.models.cassette import Cassette
from textcraft_gym.agents.simulated import SimulatedModel

_SILENT = ("api_key", "timeout", "max_retries", "price")
"""Options that change no answer."""


def make_model(spec: str, *, cassette: str | Path | None = None, replay_only: bool = False) -> Model:
    """Return the model that a line describes.

    Args:
        spec: ``simulated``, ``openai`` or a module, and after a colon what it takes: for ``openai`` the model's name,
            for a module the name of a class, then options of the constructor as ``key=value``. A price is that of
            a million tokens, ``prompt/completion``.
        cassette: A file that holds what was answered before and records what is not there yet.
        replay_only: Answer from the cassette alone; nothing is asked of a server.

    Raises:
        ModelError: If the line describes no model, or the model cannot be made.
    """
    if replay_only and cassette is None:
        raise ModelError("to replay only, name the cassette to replay")
    kind, _, rest = spec.partition(":")
    words = [word for word in rest.split(",") if word]
    name = words.pop(0) if words and "=" not in words[0] else ""
    try:
        options = key_values(words)
        if replay_only and kind == "openai":
            return Cassette(cassette or "", name=_identity(kind, name, options))
        identity = _identity(kind, name, options)
        model = _make(kind, name, options)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{without_key(spec)}: {error}") from error
    return Cassette(cassette, None if replay_only else model, name=identity) if cassette else model


def key_values(pairs: list[str]) -> dict[str, Any]:
    """Read ``KEY=VALUE`` pairs; a value that is JSON (10, true, null) is that, any other is the text itself.

    Raises:
        ValueError: If a pair has no key or no ``=``.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise ValueError(f"expected KEY=VALUE, got {pair!r}")
        try:
            values[key] = json.loads(value)
        except ValueError:
            values[key] = value
    return values


def without_key(spec: str) -> str:
    """Return a description that may be shown and kept: one without the key of a server."""
    return re.sub(r"//[^/@,]*@", "//...@", re.sub(r"api_key=[^,]*", "api_key=...", spec))


def _make(kind: str, name: str, options: dict[str, Any]) -> Model:
    if kind == "simulated":
        if name:
            raise ValueError("expected options only, such as simulated:span=3")
        return SimulatedModel(**options)
    if not name:
        raise ValueError("expected simulated[:span=N], openai:NAME[,KEY=VALUE] or MODULE:CLASS[,KEY=VALUE]")
    if kind == "openai":
        return _openai(name, options)
    try:
        made: Model = getattr(import_module(kind), name)(**options)
    except (ImportError, AttributeError) as error:
        raise ValueError(error) from error
    return made


def _openai(name: str, options: dict[str, Any]) -> Model:
    try:
        from textcraft_gym.agents.models.openai_compatible import OpenAIModel, Price
    except ImportError as error:
        raise ValueError("this needs the openai package: pip install 'textcraft-gym[openai]'") from error
    if "price" in options:
        prompt, _, completion = str(options["price"]).partition("/")
        options["price"] = Price(float(prompt), float(completion or prompt))
    if "api_key" in options:
        options["api_key"] = str(options["api_key"])
    return OpenAIModel(name, **options)


def _identity(kind: str, name: str, options: dict[str, Any]) -> str:
    """Return what a cassette files answers under: all that can change an answer, and nothing else."""
    telling = {key: value for key, value in options.items() if key not in _SILENT}
    return ",".join([f"{kind}:{name}", *(f"{key}={value}" for key, value in sorted(telling.items()))])
