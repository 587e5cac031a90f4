"""The explorer: plays households by their text alone, looking for things where they usually are."""

from __future__ import annotations

from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.games import ALFWORLD
from textcraft_gym.agents.games.alfworld.household import Household, likely, read_errand


class ExplorerAgent:
    """An honest expert for ALFWorld: it has no model, and sees what any other agent sees.

    It looks into one place after the other, the likeliest first, and knows what is to be done with what it finds. Of a
    game that it cannot read it plays nothing.
    """

    max_steps = ALFWORLD.max_steps

    def episode(self, play: Play) -> Routine:
        """Play one episode; it gives up where nothing is left to try."""
        situation, task = ALFWORLD.read(play.first.observation)
        household, errand = Household(situation), read_errand(task)
        while errand and not household.done(errand):
            step = household.next(errand, lambda thing: likely(thing, household.places))
            if step is None:
                return False
            answer = yield from play.act(step.command)
            household.read(step.command, answer.observation)
        return errand is not None
