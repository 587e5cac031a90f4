"""Attempts at single steps, for ADaPT and Plan-and-Execute: by a fitting skill, or the executor."""

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
        self,
        play: Play,
        task: str,
        known: Known,
        *,
        depth: int,
    ) -> Generator[Request, Any, bool]:
        """Attempt a step and return whether it succeeded."""
        skill = next((skill for skill in self.skills if skill.fits(task)), None)
        if skill:
            with play.sub(task, "skill", depth) as node:
                report = yield from skill.attempt(play, task, known)
                node.outcome = report is not None
        else:
            report = yield from self._execute(play, task, known, depth)
        if report is None:
            # As in the paper, a failed step passes nothing on; WebShop's planner is told of it.
            known.failed.append(task)
            return False
        # A rollback replays up to here, including the action that made the report.
        known.learn(report, len(play.history))
        known.mark = known.learned
        return True

    def _execute(
        self,
        play: Play,
        task: str,
        known: Known,
        depth: int,
    ) -> Generator[Request, Any, str | None]:
        """Have the executor attempt a step; return the report of a success, None if it failed."""
        # The executor reads the state; a skill looks at the game itself.
        yield from self.refresh(play, known)
        succeeded = yield from self.executor.attempt(
            play,
            task,
            known.situation,
            known.information,
            depth=depth,
        )
        if not succeeded:
            return None
        return (yield from self.profile.report(play))

    def refresh(
        self,
        play: Play,
        known: Known,
    ) -> Generator[Request, Any, None]:
        """Report the state again, if the game reports it and it changed since."""
        if self.profile.reports_state and len(play.history) != known.learned:
            report = yield from self.profile.report(play)
            known.learn(report, len(play.history))
