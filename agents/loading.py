"""Objects by their names in the form ``module:name``."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from textcraft_gym.errors import UnknownName


def load(kind: str, path: str) -> Any:
    """Return what ``module:name`` names, and import the module if need be.

    Args:
        kind: The kind of object that is looked for, for messages: ``agent``.
        path: The module, a colon and a name in it.

    Raises:
        UnknownName: If the module has no such name.
        ValueError: If the module cannot be imported.
    """
    module, _, name = path.partition(":")
    try:
        holder = import_module(module)
    except ModuleNotFoundError as error:
        # The error's name, since a module that is found may itself import one that is missing.
        reason = f"no module named {error.name!r}" if error.name else one_line(error)
        raise ValueError(f"{kind} {path}: {reason}") from error
    except Exception as error:  # a module can raise anything while it is imported
        raise ValueError(f"{kind} {path}: {one_line(error)}") from error
    try:
        return getattr(holder, name)
    except AttributeError as error:
        modules = dict(inspect.getmembers(holder, inspect.ismodule))
        public = [known for known in dir(holder) if not known.startswith("_") and known not in modules]
        raise UnknownName(kind, path, [f"{module}:{known}" for known in public]) from error


def one_line(error: Exception) -> str:
    """Return the message of an error on one line, with the error's class where a message alone would say too little."""
    message = " ".join(str(error).split())
    return message if message and isinstance(error, (ValueError, ImportError)) else f"{type(error).__name__}: {message}"
