"""Thinking aloud as an action, as ReAct does it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import gymnasium as gym
from gymnasium.error import ResetNeeded

from textcraft_gym.wrappers.text_wrapper import TextWrapper

THOUGHTS = ("think:", "think[")
"""Prefixes of thoughts, as the papers write them."""

ANSWER = "OK."


class ThinkActions(TextWrapper):
    """Answer an action that is a thought with ``OK.``, without a step of the environment.

    A thought earns 0, ends nothing and costs no step: the limit of ``gym.make`` does not count it.
    Its info is that of the last step or reset, with ``thought`` set to True and without the keys
    that belong to the last action alone (``invalid_reason`` and ``shaping``). An agent may think
    for ever; to bound steps and thoughts together put Gymnasium's ``TimeLimit`` outside of this
    wrapper.

    Args:
        env: An environment of text, its actions not numbered yet.
        prefixes: Prefixes of a thought, after blanks; by default ``think:`` and ``think[``, as the
            papers write.

    Raises:
        ValueError: If there is no prefix or an empty one, or the observations or actions are not
            text.
    """

    def __init__(
        self,
        env: gym.Env[str, str],
        prefixes: Sequence[str] = THOUGHTS,
    ) -> None:
        if isinstance(prefixes, str) or not prefixes or not all(prefixes):
            raise ValueError(
                f"expected a sequence of one or more non-empty prefixes, got {prefixes!r}"
            )
        super().__init__(env, prefixes=list(prefixes))
        self._expect_text()
        self.prefixes = tuple(prefixes)
        self._info: dict[str, Any] | None = None

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[str, dict[str, Any]]:
        """Begin a task."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._info = info
        return observation, info

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Play one action, or answer a thought."""
        if action.lstrip().startswith(self.prefixes):
            return ANSWER, 0.0, False, False, self._unchanged()
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._info = None if terminated or truncated else info
        return observation, reward, terminated, truncated, info

    def _unchanged(self) -> dict[str, Any]:
        if self._info is None:
            raise ResetNeeded(
                "the episode is over, or none has started: call reset() before step()"
            )
        info = deepcopy(self._info)
        for key in ("invalid_reason", "shaping"):
            info.pop(key, None)
        return info | {"thought": True}

    def _state(self) -> dict[str, Any] | None:
        return deepcopy(self._info)

    def _set_state(self, state: dict[str, Any] | None) -> None:
        self._info = deepcopy(state)
