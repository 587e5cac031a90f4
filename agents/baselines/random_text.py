"""The random agent that sees text only: what an agent wins by chance with a paper's budget."""

from __future__ import annotations

import random
from typing import ClassVar

from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.defaults import settings_for
from textcraft_gym.errors import at_least


class RandomTextAgent:
    """Plays random actions of what the game's text names, as many as ReAct has turns.

    It is not told which commands the game would take.

    Args:
        profile: How the game is read, and what its text lets a player try.
        turns: Number of actions; None for ReAct's turns in the game.

    Attributes:
        max_steps: Number of actions of an episode.

    Raises:
        ValueError: If no actions can be read from the game's text, or ``turns`` is less than 1.
    """

    asks: ClassVar[bool] = False
    claims: ClassVar[bool] = False

    def __init__(self, profile: GameProfile = DEFAULT, turns: int | None = None) -> None:
        if profile.draw is None:
            raise ValueError(f"the game {profile.name} has no random actions of its text")
        if turns is not None:
            at_least("turns", turns, 1)
        self.draw = profile.draw
        self.max_steps = turns or settings_for("react", profile.name).turns

    def episode(self, play: Play) -> Routine:
        """Play until the episode is over."""
        rng = random.Random(play.seed)
        opening = play.first.observation
        while True:
            turns = [(action, step.observation) for action, step in play.history]
            yield from play.act(self.draw(opening, turns, rng))
