"""Answers that explain why an action did nothing."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from textcraft_gym.spaces import AnyText
from textcraft_gym.wrappers.text_wrapper import TextWrapper


class HelpfulFeedback(TextWrapper):
    """Explain why an action did nothing, on a separate line after the game's answer.

    The code in ``info["invalid_reason"]`` stays, and so does everything else. The words are the
    game's: an environment has a method ``explain(action, reason) -> str``, which uses only
    information that the player can see: the names in the action, the held items, the prompt. An
    agent with this wrapper plays an easier game than the published one; say so next to its results.
    ``MineTechTree-v0`` explains by itself, as in the paper; use this wrapper with
    ``feedback="terse"`` only. ``Tabletop-v0`` explains by itself as well, but for how goals are
    written.

        > craft 1 chest using 8 oak planks
        Could not find enough items to craft minecraft:chest
        You need 8 oak planks and hold 3.

    Args:
        env: An environment of text that can explain, its actions not numbered yet.

    Raises:
        ValueError: If the environment cannot explain, or its observations or actions are not text.
    """

    def __init__(self, env: gym.Env[str, str]) -> None:
        super().__init__(env)
        self._expect_text()
        if not env.has_wrapper_attr("explain"):
            raise ValueError(
                f"{env} has no method explain(action, reason), which says what was missing"
            )
        self.observation_space = AnyText()

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Play one action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if "invalid_reason" in info:
            explanation = self.env.get_wrapper_attr("explain")(action, info["invalid_reason"])
            observation = f"{observation}\n{explanation}"
        return observation, reward, terminated, truncated, info
