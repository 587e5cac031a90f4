"""DEPS: describe, explain, plan, select.

A whole plan is written at once. Its goals are pursued one by one, in the order that the selector finds among those that
can be; where one fails, what happened is described, the model explains it, and plans anew, with the dialogue in view.

Source: Wang et al., Describe, Explain, Plan and Select: Interactive Planning with Large Language Models Enables
Open-World Multi-Task Agents, 2023.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import Any

from textcraft_gym.agents.contract.agent import Message, Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.deps.goal_planner import REPLAN, GoalPlanner, Progress, plans
from textcraft_gym.agents.prompts import Prompts

EXPLANATION_TOKENS = 200
WHY = "Why did it fail? Explain in a sentence or two."


class DEPSAgent(GoalPlanner):
    """Plans whole, and anew after each failure.

    Args:
        profile: The game; it must have a controller.
        prompts: Where the prompt ``deps`` is from.
        rounds: How often it plans anew at most; None for as often as the episode bears.
        selector: Which of the goals that can be pursued is: a name of ``SELECTORS``.
        planner_tokens: The most tokens of a plan.

    Raises:
        ValueError: If a number is less than it may be, there is no such selector, or the game has no controller.
    """

    prompt_name = "deps"

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        rounds: int | None = 8,
        selector: str = "fixed",
        planner_tokens: int | None = None,
    ) -> None:
        super().__init__(profile, prompts, prompt=self.prompt_name, selector=selector, planner_tokens=planner_tokens)
        plans(rounds)  # refuses what is no number of rounds
        self.rounds = rounds

    def episode(self, play: Play) -> Routine:
        """Play one episode."""
        task, dialogue = yield from self.begin(play)
        chance = random.Random(play.seed)
        for may_mend in plans(self.rounds):
            plan = yield from self.say(play, dialogue, task)
            progress = yield from self.execute(play, plan, chance)
            if progress.done:
                return True
            if may_mend:
                yield from self.mend(play, dialogue, task, progress)
        return False

    def mend(self, play: Play, dialogue: list[Message], task: str, progress: Progress) -> Generator[Request, Any, None]:
        """Describe what happened, have the model explain it, and ask for a new plan."""
        description = yield from self.describe(play, progress)
        dialogue.append(Message("user", f"{description}\n{WHY}"))
        yield from self.say(play, dialogue, task, "explainer", EXPLANATION_TOKENS)
        dialogue.append(Message("user", REPLAN.format(task=task)))
