"""What a teacher of several agents has to know of a game: its next turn, others, and what an attempt is worth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

WORST, BEST = 1, 10
"""The scores of a judge."""


class Move(NamedTuple):
    """A turn.

    Attributes:
        thought: What is said before the action.
        action: The action.
        learnt: Whether a model learns it; a mistake is not.
    """

    thought: str
    action: str
    learnt: bool = True


class Player(ABC):
    """Plays one episode; all that it did it reads in the prompt, of whatever agent that is.

    Attributes:
        lines: The lines of a plan that serves every task of the game.
    """

    lines: ClassVar[Sequence[str]]

    @abstractmethod
    def move(self, prompt: str, *, errs: bool = False) -> Move:
        """Return the next turn, which is a mistake if one is due and may be made."""

    @abstractmethod
    def others(self, prompt: str) -> list[Move]:
        """Return other turns that a player may think of, none of which is the next."""

    @abstractmethod
    def line(self, prompt: str, action: str) -> str:
        """Return the line of a plan that says an action."""

    @abstractmethod
    def judgement(self, prompt: str) -> tuple[str, float]:
        """Return what is to say of an attempt, and the share of the task that is done."""

    @abstractmethod
    def done(self, prompt: str) -> list[str]:
        """Return what was done in an attempt and what came of it, in sentences."""

    @abstractmethod
    def flaw(self, prompt: str) -> str:
        """Return why an attempt failed."""


def judged(said: str, share: float) -> str:
    """Return a judgement as a judge writes it."""
    return f"{said} The score is {WORST + round((BEST - WORST) * min(1.0, max(0.0, share)))}."
