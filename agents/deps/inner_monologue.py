"""Inner Monologue: the model names one goal at a time, and reads success, view and inventory.

Source: Huang et al., Inner Monologue: Embodied Reasoning through Planning with Language Models,
2022; as in DEPS.
"""

from __future__ import annotations

from typing import ClassVar

from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.model import Message
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.deps.goal_planner import TEMPERATURE, GoalPlanner
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import at_least
from textcraft_gym.replies import says_done


class InnerMonologueAgent(GoalPlanner):
    """Plans one goal at a time.

    Args:
        profile: The game to play; it must have a controller.
        prompts: Source of the prompt ``inner_monologue``.
        goals: Maximum number of goals.
        feedback: What it is told of a failed goal: ``terse``, that it failed, or ``reason``, why.
            It is told what was seen in either case.
        temperature: Sampling temperature of the goals, 0 to 2.
        settings: ``planner_tokens`` bounds a goal.
    """

    name: ClassVar[str] = "inner_monologue"
    prompt_name: str = "inner_monologue"

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        # The longest task of the tech tree needs 27 actions.
        goals: int = 30,
        feedback: str = "terse",
        temperature: float = TEMPERATURE,
        settings: Settings | None = None,
    ) -> None:
        at_least("goals", goals, 1)
        super().__init__(
            profile,
            prompts,
            feedback=feedback,
            temperature=temperature,
            settings=settings,
        )
        self.goals = goals

    def episode(self, play: Play) -> Routine:
        """Play one episode; it ends when the model says that the task is done."""
        task, dialogue = yield from self.begin(play)
        for _ in range(self.goals):
            answer = yield from self.say(play, dialogue, task)
            if says_done(answer):
                return True
            goal = next(iter(play.understand(self.controller.goals, answer)), None)
            scene = yield from self.controller.look(play)
            success = "I found no step in that."
            if goal:
                # With a single goal the draw has no effect.
                _, alternative = self.select(play, {1: goal}, scene, 0.0)
                reason = yield from self.pursue(play, alternative, scene)
                success = self._success(reason)
            scene = yield from self.controller.look(play)
            feedback = [f"Success: {success}", scene.view_text, scene.inventory_text, "Next goal:"]
            dialogue.append(Message("user", "\n".join(filter(None, feedback))))
        return False

    def _success(self, reason: str | None) -> str:
        """Return what the model is told of a goal that failed for a reason, or was reached."""
        if reason is None:
            return "yes"
        return reason if self.feedback == "reason" else "no"
