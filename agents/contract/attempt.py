"""The end of a lost attempt, in which a game's reader finds what was wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

Fault: TypeAlias = Literal["miss", "missing part", "wrong count", "wrong thing"]
"""What was wrong: an action that failed by chance and was never made up for, a part that the task
needs and that was never there, too few of one, or another thing than the one that was needed."""
Turn: TypeAlias = tuple[str, str]
"""An action and the game's answer."""


class Attempt(NamedTuple):
    """A lost attempt at a task, as its player saw it.

    Attributes:
        opening: The first observation.
        turns: The actions, each with its answer, but for thoughts.
        refused: The last action, looks aside, if the game refused it; None if it did not.
        plan: The agent's first plan; empty without one.
        claimed: Whether the agent claimed success.
    """

    opening: str
    turns: Sequence[Turn]
    refused: Turn | None
    plan: str
    claimed: bool


def no_fault(attempt: Attempt) -> Fault | None:
    """Find nothing wrong: of a game whose answers are not known."""
    return None


def any_step(step: str, turns: Sequence[Turn]) -> bool | None:
    """Return that it cannot be told whether a step is done."""
    return None
