"""DEPS: describe, explain, plan, select.

A whole plan is written at once. Its goals are pursued one by one, the selector choosing among those
that are possible. After a failure, the outcome is described, the model explains it, and replans
with the dialogue in view.

Source: Wang et al., Describe, Explain, Plan and Select: Interactive Planning with Large Language
Models Enables Open-World Multi-Task Agents, 2023.
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
from textcraft_gym.agents.deps.selector import TAU
from textcraft_gym.agents.prompts import Prompts

# As in the released program; its model's context had room for seven or eight.
ROUNDS = 12
# It is a sentence or two.
EXPLANATION_TOKENS = 200
WHY = "Why did it fail? Explain in a sentence or two."


class DEPSAgent(Replanner):
    """Writes whole plans, and replans after each failure, which the model explains first.

    Args:
        profile: The game to play; it must have a controller.
        prompts: Source of the prompt ``deps``.
        rounds: Maximum number of re-plans; None for unlimited.
        selector: Strategy that picks the next goal among the possible ones, one of ``SELECTORS``;
            None for ``learned`` where a horizon was learned for the game, else ``fixed``.
        tau: Temperature of the selector's softmax, in ticks, above 0; the paper's is 1.
        feedback: What the description says of a failed goal: ``terse``, which one it is, so that
            the explanation is the model's, or ``reason``, why as well; None for the default of the
            game's controller.
        temperature: Sampling temperature of plans and explanations, 0 to 2.
        settings: ``planner_tokens`` bounds a plan.

    Raises:
        ValueError: If a number is out of bounds, there is no such selector, or the game has no
            controller.
    """

    name: ClassVar[str] = "deps"
    prompt_name: str = "deps"

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        rounds: int | None = ROUNDS,
        selector: str | None = None,
        tau: float = TAU,
        feedback: str | None = None,
        temperature: float = TEMPERATURE,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(
            profile,
            prompts,
            rounds=rounds,
            selector=selector,
            tau=tau,
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
        """Describe the outcome, have the model explain the failure, and ask for a new plan."""
        # Describe
        description = yield from self.describe(play, progress)
        dialogue.append(Message("user", f"{description}\n{WHY}"))

        # Explain: the answer stays in the dialogue that the next plan continues.
        yield from self.say(play, dialogue, task, "explainer", EXPLANATION_TOKENS)

        # Plan
        dialogue.append(Message("user", REPLAN.format(task=task)))


class DEPAgent(DEPSAgent):
    """DEPS without its selector, which the paper calls DEP: goals keep the plan's order.

    Args:
        profile, prompts, rounds, feedback, temperature, settings: As in ``DEPSAgent``.
    """

    name: ClassVar[str] = "dep"

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        rounds: int | None = ROUNDS,
        feedback: str | None = None,
        temperature: float = TEMPERATURE,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(
            profile,
            prompts,
            rounds=rounds,
            selector="fixed",
            feedback=feedback,
            temperature=temperature,
            settings=settings,
        )
