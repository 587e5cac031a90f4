"""Zero-shot planning: one whole plan, or a new one after a failure, which is never explained.

Source: Huang et al., Language Models as Zero-Shot Planners, 2022; a baseline of DEPS (Wang et al.
2023).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.model import Message
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.deps.goal_planner import TEMPERATURE
from textcraft_gym.agents.deps.replanner import REPLAN, Progress, Replanner
from textcraft_gym.agents.prompts import Prompts


class ZeroShotAgent(Replanner):
    """Writes a whole plan, keeps to its order and explains no failure.

    Args:
        profile: The game to play; it must have a controller.
        prompts: Source of the prompt ``zero_shot``.
        rounds: Maximum number of re-plans; None for unlimited.
        feedback: What it is told of a failed goal: ``terse``, which one it is, or ``reason``, why
            as well; None for the default of the game's controller.
        temperature: Sampling temperature of the plans, 0 to 2.
        settings: ``planner_tokens`` bounds a plan.
    """

    name: ClassVar[str] = "zero_shot"
    prompt_name: str = "zero_shot"

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        rounds: int | None = 0,
        feedback: str | None = None,
        temperature: float = TEMPERATURE,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(
            profile,
            prompts,
            rounds=rounds,
            feedback=feedback,
            temperature=temperature,
            settings=settings,
        )

    def replan(
        self,
        play: Play,
        dialogue: list[Message],
        task: str,
        progress: Progress,
    ) -> Generator[Request, Any, None]:
        """Describe the outcome and ask for a new plan."""
        description = yield from self.describe(play, progress)
        dialogue.append(Message("user", f"{description}\n{REPLAN.format(task=task)}"))


class ChainOfThoughtAgent(ZeroShotAgent):
    """Zero-shot planning with a prompt that has the model think aloud before it plans.

    Source: Wei et al., Chain-of-Thought Prompting Elicits Reasoning in Large Language Models, 2022;
    as in DEPS.
    """

    name: ClassVar[str] = "chain_of_thought"
    prompt_name: str = "chain_of_thought"
