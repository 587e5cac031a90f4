"""Zero-shot planning: one whole plan; with re-planning, a new one where a step failed, which is told and not explained.

Source: Huang et al., Language Models as Zero-Shot Planners, 2022; a baseline of DEPS (Wang et al. 2023).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from textcraft_gym.agents.contract.agent import Message, Play, Request
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.deps.goal_planner import REPLAN, Progress
from textcraft_gym.agents.prompts import Prompts


class ZeroShotAgent(DEPSAgent):
    """Plans whole, as DEPS does, but explains nothing and keeps to the order of its plan.

    Args:
        profile: The game; it must have a controller.
        prompts: Where the prompt, that of ``deps``, is from.
        rounds: How often it plans anew at most; None for as often as the episode bears.
        planner_tokens: The most tokens of a plan.
    """

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        rounds: int | None = 0,
        planner_tokens: int | None = None,
    ) -> None:
        super().__init__(profile, prompts, rounds=rounds, planner_tokens=planner_tokens)

    def mend(self, play: Play, dialogue: list[Message], task: str, progress: Progress) -> Generator[Request, Any, None]:
        """Describe what happened and ask for a new plan."""
        description = yield from self.describe(play, progress)
        dialogue.append(Message("user", f"{description}\n{REPLAN.format(task=task)}"))


class ChainOfThoughtAgent(ZeroShotAgent):
    """Thinks aloud about what everything takes before it plans.

    Source: Wei et al., Chain-of-Thought Prompting Elicits Reasoning in Large Language Models, 2022; as in DEPS.
    """

    prompt_name = "chain_of_thought"
