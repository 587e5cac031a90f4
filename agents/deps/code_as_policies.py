"""Planners that write programs: Code-as-Policies, and ProgPrompt, whose programs assert preconditions.

Source: Liang et al., Code as Policies, 2022, and Singh et al., ProgPrompt, 2022; baselines of DEPS (Wang et al. 2023).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.contract.goals import Goal, has
from textcraft_gym.agents.deps.goal_planner import TEMPERATURE, GoalPlanner
from textcraft_gym.agents.program.interpreter import Interpreter
from textcraft_gym.agents.program.parse import ProgramError, parse_program
from textcraft_gym.agents.prompts import Prompts


class CodeAsPoliciesAgent(GoalPlanner):
    """Writes one program, whose calls pursue goals or count items; it is interpreted, never executed.

    Args:
        profile: The game to play; it must have a controller.
        prompts: Source of the prompt ``code_as_policies``.
        temperature: Sampling temperature of the program, 0 to 2.
        planner_tokens: Maximum number of tokens of the program; None for the default of ``agents.defaults``.
    """

    name: ClassVar[str] = "code_as_policies"
    prompt_name: ClassVar[str] = "code_as_policies"

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        temperature: float = TEMPERATURE,
        planner_tokens: int | None = None,
    ) -> None:
        super().__init__(profile, prompts, temperature=temperature, planner_tokens=planner_tokens)

    def episode(self, play: Play) -> Routine:
        """Play one episode; a program with an error fails at that point, and one that pursues no goal does nothing."""
        task, dialogue = yield from self.begin(play)
        program = yield from self.say(play, dialogue, task)
        interpreter = Interpreter(lambda name, arguments: self._call(play, name, arguments))
        try:
            yield from interpreter.run(parse_program(program, checks=True))
        except ProgramError as error:
            play.note(f"The program ends: {error}")
            return False
        return any(part.role == "executor" for part in play.node.children)

    def _call(self, play: Play, name: str, arguments: list[Any]) -> Generator[Request, Any, Any]:
        """Answer ``count(item)``, or pursue ``verb(item, count)`` and return whether it was reached."""
        item, count = [*arguments, 1][:2] if arguments else ("", 1)
        if not isinstance(item, str) or not item or type(count) is not int:
            raise ProgramError(f"{name} takes a name and a count")
        scene = yield from self.controller.look(play)
        item = " ".join(item.replace("_", " ").lower().split())
        if name == "count":
            return has(scene.held, item)
        if count < 1:  # programs compute the missing amount, which may be 0
            return True
        goal = Goal(name, {item: count}, line=f"{name}({item!r}, {count})")
        reason = yield from self.pursue(play, goal, scene)
        if reason:
            play.note(reason)
        return reason is None


class ProgPromptAgent(CodeAsPoliciesAgent):
    """Writes a program with ``assert CONDITION else ACTION`` before each step that needs something."""

    name: ClassVar[str] = "progprompt"
    prompt_name: ClassVar[str] = "progprompt"
