"""The controller of HotpotQA: for planners that know the answer without a search."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Scene
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.goals import MAX_LINE, Goal

_ANSWER = re.compile(r"\bfinish\[([^\n]*)\]", re.IGNORECASE)


class AnswerGiver:
    """Gives the answer with which a plan ends, ``finish[answer]``, and uses no other action.

    So a chain of thought answers without the tools, as in ReAct's paper (Yao et al. 2023).
    """

    env_args: ClassVar[Mapping[str, Any]] = {}
    feedback: ClassVar[str] = "terse"

    def __init__(self, prompts: Prompts) -> None:
        """Make it; it asks no model, and so has no prompt."""

    def goals(self, plan: str) -> list[Goal]:
        """Return the last answer of a plan as its one goal; none where it has no answer."""
        answers = [answer.strip() for answer in _ANSWER.findall(plan)]
        return [Goal("finish", {}, line=f"finish[{answer[:MAX_LINE]}]") for answer in answers[-1:]]

    def look(self, play: Play) -> Generator[Request, Any, Scene]:
        """Return an empty scene: there is nothing to look at."""
        yield from ()
        return Scene({}, "")

    def alternatives(self, goal: Goal, scene: Scene) -> Sequence[Goal]:
        """Return the goal alone."""
        return (goal,)

    def pursue(
        self,
        play: Play,
        goal: Goal,
        scene: Scene,
    ) -> Generator[Request, Any, str | None]:
        """Give the answer, which ends the episode."""
        yield from play.act(goal.line, claim=True)
        return None
