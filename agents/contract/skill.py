"""Skills: ways of their own in which ADaPT attempts some steps of a plan, in place of the executor's turns."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Protocol

from textcraft_gym.agents.contract.agent import Play, Request


@dataclass
class Known:
    """What the parts of one episode know.

    Attributes:
        situation: What the first observation says besides the task.
        information: What the last part that succeeded told.
        mark: How many actions of the history are of parts that succeeded.
        failed: The steps that failed so far.
    """

    situation: str
    information: str = ""
    mark: int = 0
    failed: list[str] = field(default_factory=list)


class Skill(Protocol):
    """Attempts steps of one kind."""

    def fits(self, step: str) -> bool:
        """Whether a step of a plan is of its kind."""

    def attempt(self, play: Play, step: str, known: Known) -> Generator[Request, Any, str | None]:
        """Attempt a step and return what it tells the parts after it; None if it fails."""
