"""Planning: a model writes a plan, whose steps are attempted by the logic that joins them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from textcraft_gym.agents.adapt.step_plan import Plan, parse_plan
from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.skill import Known
from textcraft_gym.agents.prompts import Template

Attempt: TypeAlias = Callable[[str], Generator[Request, Any, bool]]
"""Attempts one step of a plan and returns whether it succeeded."""


@dataclass(frozen=True)
class Planner:
    """Has a model write plans.

    Attributes:
        prompt: The prompt for a plan.
        max_tokens: Maximum number of tokens of a plan.
    """

    prompt: Template
    max_tokens: int

    def plan(
        self,
        play: Play,
        task: str,
        situation: str,
        information: str,
        *,
        depth: int,
    ) -> Generator[Request, Any, Plan | None]:
        """Return a plan for a task, or None if the completion has no step."""
        prompt = self.prompt.fill(situation=situation, task=task, information=information)
        with play.sub(task, "planner", depth) as node:
            completion = yield from play.ask(prompt, role="planner", max_tokens=self.max_tokens)
            play.note(completion.text)
            plan = play.understand(parse_plan, completion.text)
            node.outcome = plan is not None
            return plan


def follow(
    play: Play,
    plan: Plan | None,
    known: Known,
    depth: int,
    attempt: Attempt,
) -> Generator[Request, Any, bool]:
    """Attempt the steps of a plan: ``all`` up to a failure, ``any`` up to a success.

    Each part of ``any`` begins with what was known before the first. A group within a group is a
    node of the trace. A plan of None is a failure.
    """
    if plan is None:
        return False
    if isinstance(plan, str):
        return (yield from attempt(plan))
    succeeded = False
    earlier = replace(known)
    for part in plan.parts:
        if plan.logic == "any":  # an alternative does not build on the one that failed
            known.forget(earlier)
        if isinstance(part, str):
            succeeded = yield from attempt(part)
        else:  # only groups become nodes here: an attempt at a step makes its own
            with play.sub(f"{part.logic} of {len(part.parts)} steps", part.logic, depth) as node:
                succeeded = node.outcome = yield from follow(play, part, known, depth, attempt)
        if succeeded == (plan.logic == "any"):  # a success decides ``any``, a failure ``all``
            break
    return succeeded
