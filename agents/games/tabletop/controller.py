"""The controller of the tabletop, which is given goals in words."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Scene
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.goals import MAX_GOALS, MAX_LINE, Goal

DONE, MISSED = "Done:", "Missed:"

_NUMBERED = re.compile(r"[ \t>*-]*(?:(?:step[ \t]*)?#?[0-9]{1,4}[ \t]*[:.)][ \t]*)?", re.IGNORECASE)
_GOAL = re.compile(r"((?:put|move|pack) the .*(?:bowl|blocks?|side|stand|box|hole))", re.IGNORECASE)


class Placing:
    """Gives a goal to the arm again and again, until it is reached or cannot be.

    So termination is the oracle's, as in the paper: the game's answer tells whether a goal was
    reached.
    """

    env_args: ClassVar[Mapping[str, Any]] = {}
    feedback: ClassVar[str] = "terse"

    def __init__(self, prompts: Prompts) -> None:
        """Make it; it asks no model, and so has no prompt."""

    def goals(self, plan: str) -> list[Goal]:
        """Return the goals of a plan: lines like ``1. put the red blocks in a red bowl``."""
        goals: list[Goal] = []
        for line in plan.splitlines():
            if len(line) > MAX_LINE:
                continue
            match = _GOAL.match(_NUMBERED.sub("", line.strip(), count=1))
            if match:
                words = match[1]
                goals.append(Goal("place", {}, line=words[0].lower() + words[1:]))
        return goals[:MAX_GOALS]

    def look(self, play: Play) -> Generator[Request, Any, Scene]:
        """Look at the table; before the first goal the situation has told what is on it."""
        if not play.history:
            return Scene({}, "")
        table = (yield from play.act("look")).observation
        return Scene({}, table)

    def alternatives(self, goal: Goal, scene: Scene) -> Sequence[Goal]:
        """Return the goal alone."""
        return (goal,)

    def pursue(
        self,
        play: Play,
        goal: Goal,
        scene: Scene,
    ) -> Generator[Request, Any, str | None]:
        """Give a goal until it is reached; the game ends the episode when the goals are spent."""
        while True:
            answer = (yield from play.act(goal.line)).observation
            if answer.startswith(DONE):
                return None
            if not answer.startswith(MISSED):
                return answer
