"""Controllers: how the goals of a plan are pursued in a game."""

from __future__ import annotations

import difflib
from collections.abc import Generator, Iterable, Mapping
from typing import Any, ClassVar, Protocol

from textcraft_gym.agents.agent import Play, Request
from textcraft_gym.agents.goals import Goal

SIMILAR = 0.6


class Controller(Protocol):
    """Knows the skills of a game.

    Attributes:
        env_args: What the environment must be made with.
    """

    env_args: ClassVar[Mapping[str, Any]]

    def goals(self, plan: str) -> list[Goal]:
        """Return the goals of a plan as a model wrote it."""

    def stock(self, play: Play) -> Generator[Request, Any, dict[str, int]]:
        """Return what is held, and how many."""

    def pursue(self, play: Play, goal: Goal, held: Mapping[str, int]) -> Generator[Request, Any, str | None]:
        """Pursue a goal and return why it failed; None if it did not."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like a name, the first of equals in order; None if none is like it."""
    names = sorted(known)
    return name if name in names else next(iter(difflib.get_close_matches(name, names, n=1, cutoff=SIMILAR)), None)
