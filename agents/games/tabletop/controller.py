"""The controller of the tabletop, which is given goals in words."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Scene
from textcraft_gym.agents.contract.goals import MAX_GOALS, MAX_LINE, Goal
from textcraft_gym.agents.prompts import Prompts

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
        """Return the goals of a plan: lines such as ``1. put the red blocks in a red bowl``, numbered or not."""
        lines = (
            _NUMBERED.sub("", line.strip(), count=1)
            for line in plan.splitlines()
            if len(line) <= MAX_LINE
        )
        goals = [found[1] for found in map(_GOAL.match, lines) if found]
        return [Goal("place", {}, line=goal[0].lower() + goal[1:]) for goal in goals[:MAX_GOALS]]

    def look(self, play: Play) -> Generator[Request, Any, Scene]:
        """Look at the table; before the first goal the situation has told what is on it."""
        if not play.history:
            return Scene({}, "")
        table = (yield from play.act("look")).observation
        return Scene({}, table)

    def alternatives(self, goal: Goal, scene: Scene) -> Sequence[Goal]:
        """Return the goal alone."""
        return (goal,)

    def pursue(self, play: Play, goal: Goal, scene: Scene) -> Generator[Request, Any, str | None]:
        """Give a goal until it is reached; the game ends the episode when the goals are spent."""
        while True:
            step = yield from play.act(goal.line)
            if not step.observation.startswith(MISSED):
                return None if step.observation.startswith(DONE) else step.observation
