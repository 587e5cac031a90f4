"""Attempts at single steps, which ADaPT and Plan-and-Execute share: by the skill that fits, else by the executor."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from textcraft_gym.agents.adapt.react import Executor
from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.game_profile import GameProfile
from textcraft_gym.agents.contract.skill import Known, Skill


@dataclass(frozen=True)
class StepExecutor:
    """Attempts a step, and reports a success to later attempts.

    Attributes:
        executor: Attempts the steps that no skill fits.
        profile: Says what is reported.
        skills: The game's skills.
    """

    executor: Executor
    profile: GameProfile
    skills: tuple[Skill, ...]

    def attempt(
        self, play: Play, task: str, known: Known, *, depth: int
    ) -> Generator[Request, Any, bool]:
        """Attempt a step and return whether it succeeded."""
        report: str | None = None
        if skill := next((skill for skill in self.skills if skill.fits(task)), None):
            with play.sub(task, "skill", depth) as node:
                report = yield from skill.attempt(play, task, known)
                node.outcome = report is not None
        else:
            yield from self.refresh(play, known)
            if (
                yield from self.executor.attempt(
                    play, task, known.situation, known.information, depth=depth
                )
            ):
                report = yield from self.profile.report(play)
        if report is None:
            known.failed.append(task)
            return False
        # A rollback replays up to here, including the action that made the report.
        known.learn(report, len(play.history))
        known.mark = known.learned
        return True

    def refresh(self, play: Play, known: Known) -> Generator[Request, Any, None]:
        """Look the state up again where that is what is reported, and something was played or taken back since."""
        if self.profile.reports_state and len(play.history) != known.learned:
            report = yield from self.profile.report(play)
            known.learn(report, len(play.history))
