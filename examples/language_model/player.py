"""What a teacher of several agents knows of a game: turns, alternatives, and an attempt's worth."""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import gymnasium as gym

from textcraft_gym.agents.contract.game_profile import GameProfile

WORST, BEST = 1, 10
"""The scores of a judge."""
LEAST = 0.12
"""Least score of an attempt that can go on: the worst is for one that cannot."""

_ACTION = re.compile(r"^Action \d+: (.+)$", re.MULTILINE)


class Move(NamedTuple):
    """A turn.

    Attributes:
        thought: What is said before the action.
        action: The action.
        learnt: Whether a model learns it; a mistake is not.
    """

    thought: str
    action: str
    learnt: bool = True


class Player(ABC):
    """Plays one episode; all that it did it reads in the prompt, of whatever agent that is."""

    @abstractmethod
    def move(self, prompt: str, *, errs: bool = False) -> Move:
        """Return the next turn, which is a mistake if one is due and may be made."""


class Searched(Player):
    """Plays an episode of a search."""

    @abstractmethod
    def others(self, prompt: str) -> list[Move]:
        """Return other turns that a player may think of."""

    @abstractmethod
    def judgement(self, prompt: str) -> tuple[str, float]:
        """Return what to say of an attempt, and the share done; 0 if it is beyond rescue."""

    @abstractmethod
    def reflection(self, prompt: str) -> str:
        """Return what is learnt from an attempt that failed."""


class Replayed(Searched):
    """Plays an episode of a search by the rules, from the actions that a prompt has.

    Args:
        task: The goal.
        world: What the rules know of the episode.
        rng: Draws what else may be done.

    Attributes:
        apply: The rules.
        start: The state at the beginning.
    """

    apply: ClassVar[Callable[[Any, Any, str], tuple[Any, str, str, str]]]
    start: ClassVar[Any]

    def __init__(self, task: Any, world: Any, rng: random.Random) -> None:
        self.task, self.world, self.rng = task, world, rng

    def read(self, prompt: str) -> tuple[Any, str]:
        """Return the state after an attempt in a prompt, and why its last action did nothing."""
        state, reason = self.start, ""
        for action in _ACTION.findall(prompt.rpartition("\nThought 1:")[2]):
            state, _, reason, _ = self.apply(self.world, state, action)
        return state, reason


class Planned(Player):
    """Plays an episode by a plan.

    Attributes:
        lines: The lines of a plan that serves every task of the game.
    """

    lines: ClassVar[Sequence[str]]

    @abstractmethod
    def line(self, prompt: str, action: str) -> str:
        """Return the line of a plan that says an action."""

    @abstractmethod
    def done(self, prompt: str) -> list[str]:
        """Return what was done in an attempt and what came of it, in sentences."""

    @abstractmethod
    def flaw(self, prompt: str) -> str:
        """Return why an attempt failed."""


class Episode(NamedTuple):
    """What is played: the environment, task, situation, question, and the player."""

    profile: GameProfile
    env: gym.Env[str, str]
    task: str
    situation: str
    objective: str
    player: Any


def judged(said: str, share: float) -> str:
    """Return a judgement as a judge writes it."""
    return f"{said} The score is {WORST + round((BEST - WORST) * min(1.0, share))}."


def still_open(share: float) -> float:
    """Return the share of an attempt that can go on."""
    return max(LEAST, share)


def in_steps(steps: Sequence[str]) -> str:
    """Return the steps of a plan with their numbers."""
    return "\n".join(f"Step {number}: {step}" for number, step in enumerate(steps, 1))
