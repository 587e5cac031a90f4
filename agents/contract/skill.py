"""Skills: routines that attempt some steps of a plan in place of the executor.

ADaPT and Plan-and-Execute use them.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Protocol

from textcraft_gym.agents.contract.agent import Play, Request


@dataclass
class Known:
    """State that the parts of one episode share.

    Attributes:
        situation: The first observation without the task.
        information: Report of the last part that succeeded, or of the state in games that report
            it.
        learned: Length of the history up to and including that report.
        mark: Length of the history up to and including the last part that succeeded.
        failed: The steps that failed so far.
    """

    situation: str
    information: str = ""
    learned: int = 0
    mark: int = 0
    failed: list[str] = field(default_factory=list)

    def learn(self, report: str, length: int) -> None:
        """Take in a report, given the length of the history up to it."""
        self.information, self.learned = report, length

    def forget(self, earlier: Known) -> None:
        """Go back to what was known earlier, except for what failed."""
        self.information, self.learned, self.mark = (
            earlier.information,
            earlier.learned,
            earlier.mark,
        )


class Skill(Protocol):
    """A routine that attempts one kind of step."""

    def fits(self, step: str) -> bool:
        """Return whether it attempts a step of a plan."""

    def attempt(
        self,
        play: Play,
        step: str,
        known: Known,
    ) -> Generator[Request, Any, str | None]:
        """Attempt a step and return its report for the parts after it; None if it failed."""
