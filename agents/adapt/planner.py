"""Planners: a model is asked for a plan, and the parts of the plan are attempted by its logic."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias

from textcraft_gym.agents.adapt.step_plan import Plan, parse_plan
from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.prompts import Template

Attempt: TypeAlias = Callable[[str], Generator[Request, Any, bool]]
"""Attempts the task that one step of a plan names, and returns whether it succeeded."""


@dataclass(frozen=True)
class Planner:
    """Asks for plans.

    Attributes:
        prompt: What is asked.
        max_tokens: The most tokens of a plan.
    """

    prompt: Template
    max_tokens: int

    def plan(
        self, play: Play, task: str, situation: str, information: str, *, depth: int
    ) -> Generator[Request, Any, Plan | None]:
        """Return a plan for a task, or None if what the model wrote has no step."""
        prompt = self.prompt.fill(situation=situation, task=task, information=information)
        with play.sub(task, "planner", depth) as node:
            completion = yield from play.ask(prompt, role="planner", max_tokens=self.max_tokens)
            play.note(completion.text)
            plan = parse_plan(completion.text)
            node.outcome = plan is not None
            return plan


def follow(play: Play, plan: Plan | None, depth: int, attempt: Attempt) -> Generator[Request, Any, bool]:
    """Attempt the steps of a plan: of ``all`` up to the first that fails, of ``any`` up to the first that succeeds.

    A group within a group is a node of the trace. No plan is a failure.
    """
    if plan is None:
        return False
    if isinstance(plan, str):
        return (yield from attempt(plan))
    succeeded = False
    for part in plan.parts:
        if isinstance(part, str):
            succeeded = yield from attempt(part)
        else:
            with play.sub(f"{part.logic} of {len(part.parts)} steps", part.logic, depth) as node:
                succeeded = node.outcome = yield from follow(play, part, depth, attempt)
        if succeeded == (plan.logic == "any"):
            break
    return succeeded
