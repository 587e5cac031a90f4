"""Environments that are none of the suite's: plain Gymnasium, registered where this module is
imported."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

TEXT = gym.spaces.Text(1000, min_length=0, charset=string.printable)


@dataclass(frozen=True)
class Word:
    """A word to say."""

    id: str

    @property
    def group(self) -> str:
        return f"{len(self.id)} letters"


class SayEnv(gym.Env[str, str]):
    """Say the word. It has tasks in two splits and a fingerprint."""

    observation_space = action_space = TEXT
    fingerprint = "words of 2026"

    def __init__(self, split: str = "short", *, loudly: bool = False) -> None:
        words = {"short": ["hi", "ho"], "long": ["hello"], "all": ["hi", "ho", "hello"]}[split]
        self.tasks = [Word(word) for word in words]
        self.loudly = loudly

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        word = (options or {}).get("task") or self.tasks[
            int(self.np_random.integers(len(self.tasks)))
        ].id
        self.word = word.upper() if self.loudly else word
        return f"A room.\n\nTask: say {self.word}", {"task": word, "won": False}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        won = action == self.word
        return "Yes." if won else "No.", float(won), won, False, {"won": won}


class GuessEnv(gym.Env[str, str]):
    """Guess a digit that the seed draws. It has no tasks and says nothing in info."""

    observation_space = action_space = TEXT

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.digit = str(self.np_random.integers(10))
        return "Guess.", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return f"You said {action}.", float(action == self.digit), True, False, {}


class Polite:
    """Says what it is asked to say."""

    def episode(self, play: Any) -> Any:
        step = yield from play.act(play.first.observation.rpartition("say ")[2])
        return bool(step.reward)


def guess_three(observation: str, info: dict[str, Any]) -> str:
    """Always guess the same."""
    return "3"


gym.register("Say-v0", entry_point=SayEnv, max_episode_steps=10)
gym.register("GuessDigit-v0", entry_point="tests.foreign_worlds:GuessEnv", max_episode_steps=10)
