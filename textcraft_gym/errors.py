"""The errors that a caller of the suite can meet. An agent's mistake is never one: it is an observation."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


class TextCraftGymError(Exception):
    """Base class of every error that the suite raises on purpose."""


class UnknownName(TextCraftGymError, ValueError):
    """A task, split, item, agent or environment that does not exist; the message lists what does."""

    def __init__(self, kind: str, name: object, known: Sequence[str], shown: int = 20) -> None:
        by_tail = {one.rpartition(":")[2]: one for one in known} | {one: one for one in known}
        close = dict.fromkeys(by_tail[near] for near in difflib.get_close_matches(str(name), by_tail, n=5))
        hint = f" Did you mean {', '.join(close)}?" if close else ""
        rest = f", ... ({len(known)} in all)" if len(known) > shown else ""
        super().__init__(f"unknown {kind} {name!r}.{hint} Possible: {', '.join(known[:shown])}{rest}")


class RunError(TextCraftGymError, ValueError):
    """A run folder that cannot be continued or read."""


class Unsupported(TextCraftGymError, RuntimeError):
    """A capability that an environment does not offer, made as it was; the message names both and says why."""


def at_least(name: str, value: object, minimum: int) -> None:
    """Make sure that an argument is an integer that is not too small.

    Raises:
        ValueError: If it is not.
    """
    if type(value) is not int or value < minimum:
        raise ValueError(f"expected {name} of {minimum} or more, got {value!r}")
