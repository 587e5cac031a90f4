"""ADaPT: as-needed decomposition, of only those steps at which the executor fails.

Source: Prasad et al., ADaPT: As-Needed Decomposition and Planning with Language Models, 2023,
Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar, Literal

from textcraft_gym.agents.adapt.planner import Planner, follow
from textcraft_gym.agents.adapt.react import EXECUTOR, Demonstrations, ExecutorForm, make_executor
from textcraft_gym.agents.adapt.step_plan import Plan
from textcraft_gym.agents.adapt.steps import StepExecutor
from textcraft_gym.agents.contract.agent import Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.skill import Known
from textcraft_gym.agents.defaults import Settings, settings_for
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import true_or_false


class ADaPTAgent:
    """Plans only where the executor fails; planner and executor may be different models.

    Args:
        profile: The game to play.
        prompts: Source of the prompts ``react`` and ``adapt``.
        tell_planner: Whether the planner reads the report of the last successful part, such as the
            inventory; by default, as in the paper, only the executor does, and the planner reads
            the situation and the task. In WebShop it always reads the page in view and what failed.
        rollback: ``replay`` to reset before each attempt and replay the steps that succeeded, so
            that a failed attempt leaves no trace in the world; ``none`` to continue from the state
            after the last attempt.
        demonstrations, form: As in ``ReActAgent``.
        settings: ``d_max`` is the maximum depth of decomposition; at 1 there is no plan, and it is
            ReAct alone with ReAct's budget. ``turns``, ``patience`` and ``max_tokens`` bound one
            step of a plan, ``planner_tokens`` a plan.
    """

    uses: ClassVar[tuple[str, ...]] = (*EXECUTOR, "planner_tokens", "d_max")

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        demonstrations: Demonstrations = "hybrid",
        form: ExecutorForm | None = None,
        tell_planner: bool = False,
        # As in any world that cannot be reset; the paper's program replays in two games.
        rollback: Literal["none", "replay"] = "none",
        settings: Settings | None = None,
    ) -> None:
        if rollback not in ("none", "replay"):
            raise ValueError(f"expected rollback to be none or replay, got {rollback!r}")
        true_or_false("tell_planner", tell_planner)
        prompts = prompts or Prompts()
        self.profile = profile
        self.settings = settings_for("adapt", profile.name, settings)
        self.tell_planner = tell_planner
        self.rollback = rollback
        self.max_steps = profile.max_steps
        executor = make_executor(prompts, profile, self.settings, demonstrations, form)
        self.steps = StepExecutor(executor, profile, profile.adapt.skills(prompts))
        self.planner = Planner(prompts.of("adapt", profile.name), self.settings.planner_tokens)

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        situation, task = self.profile.read(play.first.observation)
        # A game that is planned before the first attempt has its first plan at level 0.
        first = 0 if self.profile.adapt.plans_first and self.settings.d_max > 1 else 1
        return (yield from self.adapt(play, task, first, Known(situation)))

    def adapt(
        self,
        play: Play,
        task: str,
        depth: int,
        known: Known,
    ) -> Generator[Request, Any, bool]:
        """Algorithm 1: execute the task, or plan it and attempt each step one level deeper."""
        at_bottom = depth == self.settings.d_max
        # In ADaPT's WebShop, for one, buying is never decomposed.
        is_atomic = task.lower().startswith(self.profile.adapt.atomic)
        with play.sub(task, "task", depth) as node:
            # Execute; level 0 only plans.
            if depth:
                succeeded = yield from self.execute(play, task, depth, known)
                if succeeded or at_bottom or is_atomic:
                    node.outcome = succeeded
                    return succeeded

            # Decompose, as the executor failed.
            plan = yield from self.plan(play, task, depth, known)
            node.outcome = yield from follow(
                play,
                plan,
                known,
                depth + 1,
                lambda step: self.adapt(play, step, depth + 1, known),
            )
            return node.outcome

    def plan(
        self,
        play: Play,
        task: str,
        depth: int,
        known: Known,
    ) -> Generator[Request, Any, Plan | None]:
        """Have the planner write a plan for the task, with what it is told of the world."""
        information = ""
        if self.tell_planner:
            yield from self.steps.refresh(play, known)
            information = known.information
        brief = self.profile.adapt.brief
        if brief:
            information = brief(play, known)
        return (
            yield from self.planner.plan(
                play,
                task,
                known.situation,
                information,
                depth=depth,
            )
        )

    def execute(
        self,
        play: Play,
        task: str,
        depth: int,
        known: Known,
    ) -> Generator[Request, Any, bool]:
        """Attempt the task; with rollback, from where the last success left the world."""
        # Replayed actions are counted: where nothing was played since, nothing is to be undone.
        if self.rollback == "replay" and len(play.history) > known.mark:
            yield from play.rewind(known.mark)
        return (yield from self.steps.attempt(play, task, known, depth=depth))
