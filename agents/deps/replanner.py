"""The base of planners that write a whole plan, pursue its goals and replan after a failure."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from textcraft_gym.agents.contract.agent import Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.model import Message
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.deps.goal_planner import TEMPERATURE, GoalPlanner
from textcraft_gym.agents.deps.selector import TAU
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import at_least
from textcraft_gym.goals import Goal

REPLAN = 'Mend this: from what is held now, write a whole new plan for the task "{task}".'


@dataclass
class Progress:
    """The progress of a plan.

    Attributes:
        goals: The goals of the plan, by number.
        reached: The numbers of the goals that were reached, in the order of success.
        failed: The number of the goal that failed, and why; None if none did.
    """

    goals: dict[int, Goal]
    reached: list[int] = field(default_factory=list)
    failed: tuple[int, str] | None = None

    @property
    def done(self) -> bool:
        """Whether there was a plan and all of it was reached."""
        return bool(self.goals) and self.failed is None


class Replanner(GoalPlanner, ABC):
    """Writes whole plans and replans after a failure; a subclass words the request in ``replan``.

    Args:
        profile, prompts, selector, tau, feedback, temperature, settings: As in ``GoalPlanner``.
        rounds: Maximum number of re-plans; None for unlimited.

    Raises:
        ValueError: As ``GoalPlanner``, and if ``rounds`` is less than 0.
    """

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        rounds: int | None,
        selector: str | None = "fixed",
        tau: float = TAU,
        feedback: str | None = None,
        temperature: float = TEMPERATURE,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(
            profile,
            prompts,
            selector=selector,
            tau=tau,
            feedback=feedback,
            temperature=temperature,
            settings=settings,
        )
        if rounds is not None:
            at_least("rounds", rounds, 0)
        self.rounds = rounds

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        task, dialogue = yield from self.begin(play)
        # Of the episode's seed, so that the same episode selects alike in every run.
        rng = random.Random(play.seed)
        replans = 0
        while True:
            # Plan
            plan = yield from self.say(play, dialogue, task)

            # Select and execute
            progress = yield from self.execute(play, plan, rng)
            if progress.done:
                return True
            if replans == self.rounds:
                return False

            # Describe, explain and ask for another plan
            yield from self.replan(play, dialogue, task, progress)
            replans += 1

    @abstractmethod
    def replan(
        self,
        play: Play,
        dialogue: list[Message],
        task: str,
        progress: Progress,
    ) -> Generator[Request, Any, None]:
        """Append the outcome and the request for a new plan to the dialogue."""

    def execute(
        self,
        play: Play,
        plan: str,
        rng: random.Random,
    ) -> Generator[Request, Any, Progress]:
        """Pursue the goals of a plan, in the selector's order, up to the first that fails."""
        progress = Progress(dict(enumerate(play.understand(self.controller.goals, plan), 1)))
        pending = dict(progress.goals)
        while pending:
            # The view decides which goal is nearest, and each goal changes it.
            scene = yield from self.controller.look(play)
            step, goal = self.select(play, pending, scene, rng.random())
            del pending[step]
            reason = yield from self.pursue(play, goal, scene)
            if reason is not None:
                progress.failed = step, reason
                break
            progress.reached.append(step)
        return progress

    def describe(
        self,
        play: Play,
        progress: Progress,
    ) -> Generator[Request, Any, str]:
        """Return a text about the progress of a plan and the inventory."""
        sentences = []
        if progress.reached:
            sentences.append(f"I succeeded on step {', '.join(map(str, progress.reached))}.")
        if not progress.goals:
            sentences.append("I found no step in that.")
        if progress.failed:
            step, reason = progress.failed
            why = f": {reason}" if self.feedback == "reason" else "."
            sentences.append(f'I failed on step {step} "{progress.goals[step].line}"{why}')
        scene = yield from self.controller.look(play)
        return f"{' '.join(sentences)}\n{scene.inventory_text}"
