"""Inner Monologue: one goal a call, and after each what came of it, what is to be seen and what is held.

Source: Huang et al., Inner Monologue: Embodied Reasoning through Planning with Language Models, 2022; as in DEPS.
"""

from __future__ import annotations

from textcraft_gym.agents.contract.agent import Message, Play, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.deps.goal_planner import GoalPlanner
from textcraft_gym.agents.prompts import Prompts

GOAL_TOKENS = 100


class InnerMonologueAgent(GoalPlanner):
    """Plans one goal at a time.

    Args:
        profile: The game; it must have a controller.
        prompts: Where the prompt ``inner_monologue`` is from.
        goals: The most goals.
    """

    def __init__(self, profile: GameProfile = DEFAULT, prompts: Prompts | None = None, *, goals: int = 30) -> None:
        if type(goals) is not int or goals < 1:
            raise ValueError(f"expected goals of 1 or more, got {goals!r}")
        super().__init__(profile, prompts, prompt="inner_monologue", planner_tokens=GOAL_TOKENS)
        self.goals = goals

    def episode(self, play: Play) -> Routine:
        """Play one episode; it ends where the model says that the task is done."""
        task, dialogue = yield from self.begin(play)
        for _ in range(self.goals):
            said = yield from self.say(play, dialogue, task)
            if said.strip().lower().startswith("done"):
                return True
            goal = next(iter(self.controller.goals(said)), None)
            scene = yield from self.controller.look(play)
            reason: str | None = "I found no step in that."
            if goal:
                _, way = self.select(play, {1: goal}, scene, 0.0)
                reason = yield from self.pursue(play, way, scene)
            scene = yield from self.controller.look(play)
            told = [f"Success: {reason or 'yes'}", *filter(None, [scene.seen, scene.told]), "Next goal:"]
            dialogue.append(Message("user", "\n".join(told)))
        return False
