"""The controller of ALFWorld: a model pursues each goal by picking admissible commands."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Scene
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.goals import MAX_GOALS, MAX_LINE, Goal
from textcraft_gym.replies import says_done

CHOICES = 10
"""Maximum number of commands for one goal."""
CHOICE_TOKENS = 10
"""Maximum number of tokens of one choice, which is a number or ``done``."""

_STEP = re.compile(
    r"^[ \t>*-]*(?:#|step )[ \t]*[0-9]{1,4}[:.)]?[ \t]+(.+)$",
    re.IGNORECASE | re.MULTILINE,
)


class CommandChooser:
    """Has a model pick admissible commands until it says that the goal is reached, or none serves.

    Source: the controller with which DEPS plays ALFWorld (Wang et al. 2023).
    """

    env_args: ClassVar[Mapping[str, Any]] = {"admissible": True}
    # What happened is what was seen at the place, which nothing else tells the planner; the game
    # gives no reasons.
    feedback: ClassVar[str] = "reason"

    def __init__(self, prompts: Prompts) -> None:
        self.prompt = prompts.of("controller", "alfworld", needs=("commands",))

    def goals(self, plan: str) -> list[Goal]:
        """Return the numbered lines of a plan."""
        lines = [line.strip() for line in _STEP.findall(plan) if len(line) <= MAX_LINE]
        return [Goal("do", {}, line=line) for line in lines[:MAX_GOALS]]

    def look(self, play: Play) -> Generator[Request, Any, Scene]:
        """Look at the inventory; the view is what was seen last."""
        seen = ""
        for action, step in play.history:
            if action != "inventory":
                seen = step.observation
        inventory = (yield from play.act("inventory")).observation
        held = dict.fromkeys(re.findall(r"a (\w+ \d+)", inventory), 1)
        return Scene(held, inventory, seen)

    def alternatives(self, goal: Goal, scene: Scene) -> Sequence[Goal]:
        """Return the goal alone: the model that picks the commands finds the alternatives."""
        return (goal,)

    def pursue(
        self,
        play: Play,
        goal: Goal,
        scene: Scene,
    ) -> Generator[Request, Any, str | None]:
        """Play the commands that the model picks."""
        last_turn = "nothing yet"
        for _ in range(CHOICES):
            commands = play.last.info["admissible_commands"]
            # The answer 0 picks no command.
            numbered = [f"{index} {command}" for index, command in enumerate(["none", *commands])]
            held = ", ".join(scene.held) or "nothing"
            prompt = self.prompt.fill(
                situation=play.first.observation,
                task=goal.line,
                information=f"You hold {held}. What you did for it: {last_turn}",
                commands="\n".join(numbered),
            )
            completion = yield from play.ask(prompt, role="controller", max_tokens=CHOICE_TOKENS)
            play.note(completion.text)
            if says_done(completion.text):
                return None
            choice = _choice(completion.text)
            if not 0 < choice <= len(commands):
                return f"No command serves. What I did for it: {last_turn}"
            command = commands[choice - 1]
            answer = (yield from play.act(command)).observation
            last_turn = f"{command}\n{answer}"
        return f"It took too long. What I did for it last: {last_turn}"


def _choice(answer: str) -> int:
    """Return the number with which an answer begins or ends; 0 for none."""
    match = re.match(r"\W*(\d{1,4})", answer) or re.search(r"\b(\d{1,4})\W*$", answer)
    return int(match[1]) if match else 0
