"""The explorer: plays ALFWorld from its text alone, searching for objects in their usual places."""

from __future__ import annotations

from typing import ClassVar

from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.games.alfworld.game_profile import PROFILE
from textcraft_gym.agents.games.alfworld.household import Household, likely, read_task


class ExplorerAgent:
    """A rule-based ALFWorld agent without a model and without privileged information.

    It searches for the task's object in the likeliest places first, and handles it by rule. In a
    game whose task it cannot parse it does nothing.

    Attributes:
        games: The games that it plays.
    """

    asks: ClassVar[bool] = False
    games: ClassVar[tuple[str, ...]] = (PROFILE.name,)
    max_steps = PROFILE.max_steps

    def episode(self, play: Play) -> Routine:
        """Play one episode; give up if nothing is left to try."""
        situation, sentence = PROFILE.read(play.first.observation)
        household, task = Household(situation), read_task(sentence)
        while task and not household.done(task):
            step = household.next(task, lambda thing: likely(thing, household.places))
            if step is None:
                return False
            answer = yield from play.act(step.command)
            household.read(step.command, answer.observation)
        return task is not None
