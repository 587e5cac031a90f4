"""Zero-shot planning: one whole plan; with re-planning, a new one where a step failed, which is told and not explained.

Source: Huang et al., Language Models as Zero-Shot Planners, 2022; a baseline of DEPS (Wang et al. 2023).
"""

from __future__ import annotations

import random

from textcraft_gym.agents.agent import Message, Play, Routine
from textcraft_gym.agents.games import DEFAULT, Playbook
from textcraft_gym.agents.goal_planner import REPLAN, GoalPlanner, plans
from textcraft_gym.agents.prompts import Prompts


class ZeroShotAgent(GoalPlanner):
    """Plans whole.

    Args:
        playbook: The game; it must have a controller.
        prompts: Where the prompt, that of ``deps``, is from.
        rounds: How often it plans anew at most; None for as often as the episode bears.
        planner_tokens: The most tokens of a plan.
    """

    prompt_name = "deps"

    def __init__(
        self,
        playbook: Playbook = DEFAULT,
        prompts: Prompts | None = None,
        *,
        rounds: int | None = 0,
        planner_tokens: int | None = None,
    ) -> None:
        super().__init__(playbook, prompts, prompt=self.prompt_name, planner_tokens=planner_tokens)
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
                description = yield from self.describe(play, progress)
                dialogue.append(Message("user", f"{description}\n{REPLAN.format(task=task)}"))
        return False


class ChainOfThoughtAgent(ZeroShotAgent):
    """Thinks aloud about what everything takes before it plans.

    Source: Wei et al., Chain-of-Thought Prompting Elicits Reasoning in Large Language Models, 2022; as in DEPS.
    """

    prompt_name = "chain_of_thought"
