"""Planners that write programs, Code-as-Policies and ProgPrompt, in the forms of DEPS's paper.

A program of Code-as-Policies repeats each step until the inventory has what it is for; one of
ProgPrompt imports its actions and calls each once, or, as Singh et al. wrote it, asserts what a
step needs.

Source: Liang et al., Code as Policies, 2022, and Singh et al., ProgPrompt, 2022; baselines of DEPS
(Wang et al. 2023, listings 8 and 5).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request, Routine
from textcraft_gym.agents.contract.controller import Controller
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.deps.goal_planner import TEMPERATURE, GoalPlanner
from textcraft_gym.agents.program.interpreter import Interpreter
from textcraft_gym.agents.program.parse import ProgramError, parse_program
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import true_or_false
from textcraft_gym.goals import Goal, has


class Inventory:
    """The object ``inventory`` of a program, whose ``has(item, count)`` looks at what is held.

    Args:
        controller: The controller that looks.
        play: The episode.
    """

    def __init__(self, controller: Controller, play: Play) -> None:
        self.controller = controller
        self.play = play

    def attribute(self, name: str) -> Any:
        """Refuse: it has a method only."""
        raise ProgramError(f"inventory has no {name}; it has has(item, count)")

    def call(
        self,
        name: str,
        arguments: list[Any],
    ) -> Generator[Request, Any, bool]:
        """Return whether so many of an item are held."""
        if name != "has":
            self.attribute(name)
        item, count = _item_and_count(name, arguments)
        scene = yield from self.controller.look(self.play)
        return has(scene.held, item) >= count


class CodeAsPoliciesAgent(GoalPlanner):
    """Writes one program of calls, each in a loop until the inventory has what it is for.

    It is interpreted, never executed. A loop that gets nowhere ends with the game's time, the step
    budget or the bounds of programs.

    Args:
        profile: The game to play; it must have a controller.
        prompts: Source of the prompt ``code_as_policies``.
        temperature: Sampling temperature of the program, 0 to 2.
        settings: ``planner_tokens`` bounds the program.
    """

    name: ClassVar[str] = "code_as_policies"
    prompt_name: str = "code_as_policies"

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        temperature: float = TEMPERATURE,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(profile, prompts, temperature=temperature, settings=settings)

    def episode(self, play: Play) -> Routine:
        """Play one episode.

        A program fails at its first error; one that pursues no goal does nothing.
        """
        task, dialogue = yield from self.begin(play)
        program = yield from self.say(play, dialogue, task)
        interpreter = Interpreter(
            lambda name, arguments: self._call(play, name, arguments),
            objects={"inventory": Inventory(self.controller, play)},
            imports=True,
        )
        try:
            yield from interpreter.run(parse_program(program, checks=True))
        except ProgramError as error:
            play.note(f"The program ends: {error}")
            return False
        # It claims success if it ran to its end and pursued any goal.
        return any(part.role == "executor" for part in play.node.children)

    def _call(
        self,
        play: Play,
        name: str,
        arguments: list[Any],
    ) -> Generator[Request, Any, Any]:
        """Answer ``count(item)``, or pursue ``verb(item, count)``; return if it was reached."""
        item, count = _item_and_count(name, arguments)
        scene = yield from self.controller.look(play)
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
    """Writes a program that calls each action once, or asserts what each step needs.

    Args:
        profile, prompts, temperature, settings: As in ``CodeAsPoliciesAgent``; the prompt is
            ``progprompt``.
        assertions: Whether the program has ``assert CONDITION else ACTION`` before each step that
            needs something, as Singh et al. wrote it and DEPS did not; the prompt is
            ``progprompt_assertions`` then.
    """

    name: ClassVar[str] = "progprompt"

    def __init__(
        self,
        profile: GameProfile = DEFAULT,
        prompts: Prompts | None = None,
        *,
        assertions: bool = False,
        temperature: float = TEMPERATURE,
        settings: Settings | None = None,
    ) -> None:
        true_or_false("assertions", assertions)
        self.prompt_name = "progprompt_assertions" if assertions else "progprompt"
        super().__init__(profile, prompts, temperature=temperature, settings=settings)


def _item_and_count(name: str, arguments: list[Any]) -> tuple[str, int]:
    """Return the item of a call, in the game's spelling, and its count, by default 1."""
    item, count = [*arguments, 1][:2] if arguments else ("", 1)
    if not isinstance(item, str) or not item or type(count) is not int:
        raise ProgramError(f"{name} takes a name and a count")
    return " ".join(item.replace("_", " ").lower().split()), count
