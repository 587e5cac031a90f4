"""The errors that callers meet. An agent's mistake is never one: it is an observation."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TypeVar

_FEW = 14
_NEAR = 0.7
"""Similarity from 0 to 1 above which a name is suggested."""
ELSEWHERE = {"depths": "TextCraft-v0, TextCraftTags-v0 and MineTechTree-v0 take depths."}
"""Where an argument is taken that tasks of other environments suggest, which show a depth, too."""


Raised = TypeVar("Raised", bound="TextCraftGymError")


class TextCraftGymError(Exception):
    """Base class of every error that the suite raises on purpose.

    It is made of its message alone, as pickle and Gymnasium's ``AsyncVectorEnv`` make it again in
    another process.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(message)


class UnknownName(TextCraftGymError, ValueError):
    """A name that does not exist, of a task, split, item, agent or environment.

    Attributes:
        known: The names that exist.
    """

    known: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        kind: str,
        name: object,
        known: Sequence[str],
        note: str = "",
    ) -> UnknownName:
        """Return the error that suggests near names, and lists all if only a few exist.

        Args:
            kind: What has such names.
            name: The name that does not exist.
            known: The names that exist.
            note: What the message ends with.
        """
        # Without namespaces: two names of one namespace are not near because they share it.
        full_names = {full.rpartition(":")[2]: full for full in known}
        typed = str(name).rpartition(":")[2]
        near = difflib.get_close_matches(typed, full_names, n=5, cutoff=_NEAR)

        message = f"unknown {kind} {name!r}."
        if near:
            message += f" Did you mean {', '.join(full_names[close] for close in near)}?"
        if len(known) > _FEW:
            message += f" There are {len(known)}."
        elif known:
            message += f" Possible: {', '.join(known)}{'.' if note else ''}"
        if note:
            message += f" {note}"
        error = cls(message)
        error.known = tuple(known)
        return error


class DataError(TextCraftGymError, ValueError):
    """Invalid data; the message names the file, the entry and the key."""

    @classmethod
    def at(
        cls: type[Raised],
        file: Path,
        problem: str,
        entry: object = None,
        key: str | None = None,
    ) -> Raised:
        """Return the error of a place.

        Args:
            file: The file or folder.
            problem: The error message.
            entry: The entry of the file, by its index or by name.
            key: The key in the entry.
        """
        place = str(file)
        if entry is not None:
            place += f", entry {entry}"
        if key is not None:
            place += f", key {key!r}"
        return cls(f"{place}: {problem}")


class RunError(TextCraftGymError, ValueError):
    """A run folder that cannot be continued or read."""


class RunStopped(TextCraftGymError, RuntimeError):
    """A run that ends before its last episode, and goes on from there when it is started again.

    Attributes:
        at_limit: Whether its limit of money, tokens or time is reached; else no further episode
            could succeed.
    """

    def __init__(self, message: object, *, at_limit: bool = False) -> None:
        super().__init__(message)
        self.at_limit = at_limit


class Unsupported(TextCraftGymError, RuntimeError):
    """A capability that an environment does not offer; the message names both and the reason."""


class MissingExtra(TextCraftGymError, ImportError):
    """A package that is not installed; the message names the extra that has it."""

    @classmethod
    def of(cls, extra: str, package: str) -> MissingExtra:
        """Return the error that names the extra of a package."""
        error = cls(f"this needs the package {package}: {how_to_install(extra)}")
        error.name = package
        return error


def os_reason(error: OSError) -> str:
    """Return what the system refused, without its number, after the name of the file."""
    if error.strerror is None:
        return str(error)
    reason = error.strerror[:1].lower() + error.strerror[1:]
    return f"{error.filename}: {reason}" if error.filename is not None else reason


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra; the suite is on no package index."""
    return f"pip install '.[{extra}]' in a clone of textcraft_gym"


def at_least(name: str, value: object, minimum: int) -> None:
    """Make sure that an argument is an integer that is not too small.

    Raises:
        ValueError: If it is not.
    """
    if _whole(name, value) < minimum:
        raise ValueError(f"expected {name} of {minimum} or more, got {value!r}")


def between(
    name: str,
    value: object,
    minimum: int,
    maximum: int,
) -> None:
    """Make sure that an argument is an integer within bounds.

    Raises:
        ValueError: If it is not.
    """
    if not minimum <= _whole(name, value) <= maximum:
        raise ValueError(f"expected {name} in {minimum}..{maximum}, got {value!r}")


def _whole(name: str, value: object) -> int:
    if type(value) is not int:
        raise ValueError(f"expected {name} to be a whole number, got {value!r}")
    return value


def number(name: str, value: object) -> None:
    """Make sure that an argument is a number, and not the text of one.

    Raises:
        ValueError: If it is not.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"expected {name} to be a number, got {value!r}")


def true_or_false(name: str, value: object) -> None:
    """Make sure that an argument is True or False: the text ``no`` would count as true.

    Raises:
        ValueError: If it is not.
    """
    if type(value) is not bool:
        raise ValueError(f"expected {name} to be true or false, got {value!r}")


def sequence(name: str, items: str, value: object) -> None:
    """Make sure that an argument is a sequence: of a text every letter would be taken for an item.

    Raises:
        ValueError: If it is not.
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"expected {name} to be a sequence of {items}, got {value!r}")


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Import what an extra installs.

    Raises:
        MissingExtra: If a package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra.of(extra, error.name or extra) from error


def require(extra: str, *modules: str) -> None:
    """Make sure that the packages of an extra are installed.

    Raises:
        MissingExtra: If one is not.
    """
    with needs(extra):
        for module in modules:
            import_module(module)
