"""The mask of the actions as a part of the observation."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict
from gymnasium.spaces.utils import flatten, flatten_space

from textcraft_gym.wrappers.text_wrapper import TextWrapper

Numbers = np.ndarray[Any, np.dtype[np.float32]]


class MaskInObservation(TextWrapper):
    """Show the mask of the actions beside the observation, in the form of RLlib's action masking.

    **Observation**: ``action_mask``, a 1 for each action that is a command now, else 0, and
    ``observations``, the wrapped observation as one row of numbers from 0 to 1: each number is
    scaled by its bounds. Both are ``float32``. RLlib's ``ActionMaskingTorchRLModule`` reads these
    keys.

    Args:
        env: An environment inside ``ActionMasking``, whose observations are a bounded ``Box`` or a
            ``Dict`` of them, as those of ``TokenIds`` are.

    Raises:
        ValueError: If there is no ``ActionMasking`` inside, or the observations are not bounded
            numbers.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        if not env.has_wrapper_attr("action_masks"):
            raise ValueError(f"{env} masks no actions: wrap it with ActionMasking before this")
        space = env.observation_space
        parts = space.spaces.values() if isinstance(space, Dict) else [space]
        if not all(isinstance(part, Box) and part.is_bounded() for part in parts):
            advice = "wrap text with TokenIds before this"
            raise ValueError(f"expected observations of bounded numbers, got {space}: {advice}")
        numbers: Any = flatten_space(space)
        self._low = numbers.low.astype(np.float64)
        # A number that never changes has no width: it is shown as 0.
        self._width = np.maximum(numbers.high - self._low, np.finfo(np.float64).tiny)
        actions: Any = env.action_space
        self.observation_space = Dict(
            {
                "action_mask": Box(0, 1, (int(actions.n),), np.float32),
                "observations": Box(0, 1, numbers.shape, np.float32),
            }
        )

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a task."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._shown(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play one action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._shown(observation), reward, terminated, truncated, info

    def _shown(self, observation: Any) -> dict[str, Numbers]:
        mask = self.env.get_wrapper_attr("action_masks")()
        numbers = flatten(self.env.observation_space, observation)
        scaled = (np.asarray(numbers) - self._low) / self._width
        return {"action_mask": mask.astype(np.float32), "observations": scaled.astype(np.float32)}
