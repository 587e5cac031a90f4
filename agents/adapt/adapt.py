"""ADaPT: decompose as needed, and only what the executor fails at.

Source: Prasad et al., ADaPT: As-Needed Decomposition and Planning with Language Models, 2023, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Literal

from textcraft_gym.agents.adapt.planner import Planner, follow
from textcraft_gym.agents.adapt.react import Executor
from textcraft_gym.agents.contract.agent import Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.skill import Known
from textcraft_gym.agents.prompts import Prompts


class ADaPTAgent:
    """The recursion of the paper; the planner may be another model than the executor.

    Args:
        profile: The game.
        prompts: Where the prompts ``react`` and ``adapt`` are from.
        d_max: The deepest level; at 1 there is no plan.
        rollback: ``replay`` to begin again before each attempt and replay what succeeded, so that no failed attempt
            leaves a trace in the world; ``none`` to go on from where the last attempt ended.
        turns, patience, max_tokens: The profile's ``executor_turns``, ``patience`` and ``executor_tokens``.
        planner_tokens: The most tokens of a plan.
    """

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        d_max: int | None = None,
        rollback: Literal["none", "replay"] = "none",
        turns: int | None = None,
        patience: int | None = None,
        max_tokens: int | None = None,
        planner_tokens: int | None = None,
    ) -> None:
        if rollback not in ("none", "replay"):
            raise ValueError(f"expected rollback to be none or replay, got {rollback!r}")
        prompts = prompts or Prompts()
        self.profile = profile.with_options(
            d_max=d_max,
            executor_turns=turns,
            patience=patience,
            executor_tokens=max_tokens,
            planner_tokens=planner_tokens,
        )
        self.rollback = rollback
        self.max_steps = profile.max_steps
        self.executor = Executor(prompts.of("react", profile.game), self.profile, self.profile.executor_turns)
        self.planner = Planner(prompts.of("adapt", profile.game), self.profile.planner_tokens)
        self.skills = self.profile.skills(prompts)

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        situation, task = self.profile.read(play.first.observation)
        return (yield from self.adapt(play, task, 1, Known(situation)))

    def adapt(self, play: Play, task: str, depth: int, known: Known) -> Generator[Request, Any, bool]:
        """Algorithm 1: execute the task, or plan it and attempt each step one level deeper."""
        profile = self.profile
        with play.sub(task, "task", depth) as node:
            if depth > 1 or depth == profile.d_max or not profile.plans_first:
                succeeded = yield from self.execute(play, task, depth, known)
                if succeeded or depth == profile.d_max or task.lower().startswith(profile.atomic):
                    node.outcome = succeeded
                    return succeeded
            plan = yield from self.planner.plan(play, task, known.situation, profile.brief(play, known), depth=depth)
            node.outcome = yield from follow(
                play, plan, depth + 1, lambda step: self.adapt(play, step, depth + 1, known)
            )
            return node.outcome

    def execute(self, play: Play, task: str, depth: int, known: Known) -> Generator[Request, Any, bool]:
        """Have a skill or the executor attempt the task; if it succeeds, those after it know what it tells."""
        if self.rollback == "replay" and len(play.history) > known.mark:
            yield from play.rewind(known.mark)
        told: str | None = None
        if skill := next((skill for skill in self.skills if skill.fits(task)), None):
            with play.sub(task, "skill", depth) as node:
                told = yield from skill.attempt(play, task, known)
                node.outcome = told is not None
        elif (yield from self.executor.attempt(play, task, known.situation, known.information, depth=depth)):
            told = yield from self.profile.inform(play)
        if told is None:
            known.failed.append(task)
            return False
        known.information, known.mark = told, len(play.history)
        return True
