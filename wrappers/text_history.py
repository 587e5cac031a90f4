"""The last turns in one observation."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from textcraft_gym.errors import at_least, between
from textcraft_gym.spaces import AnyText
from textcraft_gym.wrappers.text_wrapper import TextWrapper

MAX_LENGTH = 1 << 20


class TextHistory(TextWrapper):
    """Show the beginning of the episode and its last turns as one text.

    **Observation**: the observation of the reset, which states the task, then the action and the
    answer of each of the last ``turns`` turns, oldest first::

        Crafting commands: ... Goal: craft beehive.
        > inventory
        Inventory: You are not carrying anything.

    **Bound**: where this has more than ``max_length`` characters, the oldest turns are left out
    until it fits. If the beginning and the newest turn alone are too long, the end of these is
    shown: its last ``max_length`` characters.

    Args:
        env: An environment of text, its actions not numbered yet.
        turns: Number of turns that are shown, 1 or more.
        max_length: Maximum number of characters of an observation, 1 to 1,048,576.

    Raises:
        ValueError: For a number out of bounds, or an environment whose observations or actions are
            not text.
    """

    def __init__(
        self,
        env: gym.Env[str, str],
        turns: int,
        *,
        max_length: int = 1 << 16,
    ) -> None:
        at_least("turns", turns, 1)
        between("max_length", max_length, 1, MAX_LENGTH)
        super().__init__(env, turns=turns, max_length=max_length)
        self._expect_text()
        self.turns = turns
        self.max_length = max_length
        self.observation_space = AnyText(max_length)
        self._beginning = ""
        self._turns: tuple[str, ...] = ()

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[str, dict[str, Any]]:
        """Begin a task and a new history."""
        self._beginning, info = self.env.reset(seed=seed, options=options)
        self._turns = ()
        return self._shown(), info

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Play one action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._turns = (*self._turns, f"> {action}\n{observation}")[-self.turns :]
        return self._shown(), reward, terminated, truncated, info

    def _shown(self) -> str:
        room = self.max_length - len(self._beginning)
        # Count back from the newest turn while whole turns, each with its line break, fit.
        first = len(self._turns)
        while first and (room := room - 1 - len(self._turns[first - 1])) >= 0:
            first -= 1
        kept = self._turns[min(first, max(0, len(self._turns) - 1)) :]
        return "\n".join([self._beginning, *kept])[-self.max_length :]

    def _state(self) -> tuple[str, tuple[str, ...]]:
        return self._beginning, self._turns

    def _set_state(self, state: tuple[str, tuple[str, ...]]) -> None:
        self._beginning, self._turns = state
