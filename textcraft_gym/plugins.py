"""Loading of objects by names, ``module:name`` or an entry point's; parsing of their options."""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from textcraft_gym.errors import UnknownName

_FORM = "MODULE:NAME, the module in the working folder or on PYTHONPATH"
_KEY = re.compile(r"[^,=]*=?")


class _WorkingFolder:
    """Finds modules in the working folder, after all others.

    ``sys.path`` has that folder only where the caller put it.
    """

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(name, [""], target) if path is None else None


@contextmanager
def _working_folder() -> Iterator[None]:
    finder = _WorkingFolder()
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def import_named(module: str) -> ModuleType:
    """Import a module that the user named, which may be one of the working folder.

    No other import looks there, since the folder may hold anybody's files: not those of the suite,
    nor those of a named module that is installed.

    Raises:
        ImportError: If there is no such module; it can raise anything else, too, while it is
            imported.
    """
    root = module.partition(".")[0]
    elsewhere = any(
        finder.find_spec(root, None) for finder in sys.meta_path if hasattr(finder, "find_spec")
    )
    with nullcontext() if elsewhere else _working_folder():
        return import_module(module)


def offered(module: ModuleType) -> list[str]:
    """Return the public names of what a module may offer: what its package makes, not imports."""
    own = module.__name__.partition(".")[0]
    names = []
    for name in dir(module):
        if name.startswith("_"):
            continue
        value = vars(module).get(name)
        is_late = name not in vars(module)  # imported on first use
        if inspect.isclass(value) or inspect.isroutine(value):
            is_own = str(value.__module__).partition(".")[0] == own
        else:  # an object, which may be of a class of the suite, such as a game profile
            is_own = type(value).__module__.partition(".")[0] in (own, "textcraft_gym")
        if is_late or is_own:
            names.append(name)
    return names


def hidden_by(module: str) -> str:
    """Return, as a sentence, which other module is found instead of a file of the working folder.

    It is empty if none is, as of a module that is found in that folder.
    """
    root = module.partition(".")[0]
    file = PathFinder.find_spec(root, [""])
    if file is None or file.origin is None:
        return ""
    found = find_spec(root)
    if found is None or os.path.realpath(found.origin or "") == os.path.realpath(file.origin):
        return ""
    whose = "Python's own" if root in sys.stdlib_module_names else "an installed"
    return f"{root} is {whose} module, which hides {Path(file.origin).name}: rename that file."


def installed(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group that installed packages offer, by name."""
    return _installed(group, tuple(sys.path))


@cache  # which reads the metadata of every installed package, as often as the path changes
def _installed(group: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=group)}


def load(kind: str, path: str) -> Any:
    """Return the object named ``module:name``; its module may be in the working folder.

    Args:
        kind: The kind of object, such as ``agent``, for messages.
        path: The module, a colon and a name in it.

    Raises:
        UnknownName: If the module has no such name.
        ValueError: If the module cannot be imported.
    """
    module, _, name = path.partition(":")
    try:
        holder = import_named(module)
    except ModuleNotFoundError as error:
        # The error's name, since a module that is found may itself import one that is missing.
        reason = f"no module named {error.name!r}" if error.name else one_line(error)
        if module.endswith(".py"):
            reason += f"; write {module.removesuffix('.py').replace('/', '.')}:{name}"
        elif error.name and f"{module}.".startswith(f"{error.name}."):
            reason += f"; expected {_FORM}"
        raise ValueError(f"{kind} {path}: {reason}") from error
    except Exception as error:  # a module can raise anything while it is imported
        raise ValueError(f"{kind} {path}: {one_line(error)}") from error
    try:
        return getattr(holder, name)
    except AttributeError as error:
        public = [f"{module}:{known}" for known in offered(holder)]
        raise UnknownName.of(kind, path, public, hidden_by(module)) from error


def one_line(error: Exception) -> str:
    """Return an error on one line, with its class unless the message is clear without it."""
    message = " ".join(str(error).split())
    if message and isinstance(error, (ValueError, ImportError)):
        return message
    return f"{type(error).__name__}: {message}"


def split_fields(text: str) -> list[str]:
    """Split ``NAME,KEY=VALUE,...`` at commas, except within JSON.

    That is an object, an array or a string.
    """
    fields = []
    start = 0
    while start < len(text):
        match = _KEY.match(text, start)
        value = match.end() if match else start
        end = _end_of_json(text, value)
        if end is None:
            comma = text.find(",", value)
            end = comma if comma >= 0 else len(text)
        fields.append(text[start:end])
        start = end + 1
    return [field for field in fields if field]


def key_values(pairs: list[str]) -> dict[str, Any]:
    """Parse ``KEY=VALUE`` pairs; a value that is JSON (10, true, null) is decoded, others are text.

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


def _end_of_json(text: str, start: int) -> int | None:
    """Return the end of the JSON value at ``start``.

    None if there is none that ends at a comma or at the text's end.
    """
    if text[start : start + 1] in ("{", "[", '"'):
        with suppress(ValueError):
            _, end = json.JSONDecoder().raw_decode(text, start)
            if text[end : end + 1] in ("", ","):
                return end
    return None
