"""Planners that write programs: Code-as-Policies, and ProgPrompt, whose programs check what they need.

Source: Liang et al., Code as Policies, 2022, and Singh et al., ProgPrompt, 2022; baselines of DEPS (Wang et al. 2023).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from textcraft_gym.agents.contract.agent import Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.goals import Goal, has
from textcraft_gym.agents.deps.goal_planner import GoalPlanner
from textcraft_gym.agents.deps.program import Interpreter, ProgramError, parse_program
from textcraft_gym.agents.prompts import Prompts


class CodeAsPoliciesAgent(GoalPlanner):
    """Writes one program, whose calls are goals and questions about what is held; it is interpreted, never executed.

    Args:
        profile: The game; it must have a controller.
        prompts: Where the prompt ``code_as_policies`` is from.
        planner_tokens: The most tokens of a program.
    """

    prompt_name = "code_as_policies"

    def __init__(
        self, profile: GameProfile = DEFAULT, prompts: Prompts | None = None, *, planner_tokens: int | None = None
    ) -> None:
        super().__init__(profile, prompts, prompt=self.prompt_name, planner_tokens=planner_tokens)

    def episode(self, play: Play) -> Routine:
        """Play one episode; a program that breaks is one that failed."""
        task, dialogue = yield from self.begin(play)
        written = yield from self.say(play, dialogue, task)
        interpreter = Interpreter(lambda name, arguments: self._call(play, name, arguments))
        try:
            yield from interpreter.run(parse_program(written))
        except ProgramError as error:
            play.note(f"The program ends: {error}")
            return False
        return True

    def _call(self, play: Play, name: str, arguments: list[Any]) -> Generator[Request, Any, Any]:
        """Answer ``count(thing)``, or pursue ``verb(thing, count)`` and return whether it was reached."""
        thing, count = [*arguments, 1][:2] if arguments else ("", 1)
        if not isinstance(thing, str) or not thing or type(count) is not int:
            raise ProgramError(f"{name} takes a name and a count")
        scene = yield from self.controller.look(play)
        thing = " ".join(thing.replace("_", " ").lower().split())
        if name == "count":
            return has(scene.held, thing)
        if count < 1:
            return True
        goal = Goal(name, {thing: count}, line=f"{name}({thing!r}, {count})")
        reason = yield from self.pursue(play, goal, scene)
        if reason:
            play.note(reason)
        return reason is None


class ProgPromptAgent(CodeAsPoliciesAgent):
    """Writes a program with ``assert CONDITION else ACTION`` before each step that needs something."""

    prompt_name = "progprompt"
