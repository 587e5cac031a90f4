"""A reward for every step on the way, which changes no optimal policy."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from textcraft_gym.errors import at_least, number
from textcraft_gym.registration import how_to_make
from textcraft_gym.wrappers.text_wrapper import TextWrapper


class SubgoalReward(TextWrapper):
    """Add to the reward of a step ``gamma * potential(after) - potential(before)``.

    The potential of a state is minus ``scale`` times the length of the expert's plan from there; at
    the end of an episode it is 0. So a step along the shortest plan is rewarded, and a step away
    from the goal is penalised. With any potential, the optimal policies are the same as without it
    (Ng, Harada and Russell 1999), provided that ``gamma`` is the learner's discount. A truncation
    is not an end: the learner bootstraps from the value of the last state, and the potential is
    kept.

    If the goal is out of reach, or the expert finds no plan, its plan is empty though the episode
    goes on: it then counts as ``stuck`` actions.

    **Info**: ``shaping``, the added reward. The reward of the game itself is the reward less this;
    ``won`` says whether the task was done.

    Args:
        env: An environment with an expert, made with ``expert=True``; of any spaces.
        gamma: The learner's discount, above 0 and at most 1.
        scale: Potential of one action less, above 0. With 1 / (the length of the plan) a flawless
            episode earns 1.
        stuck: Number of actions that a state without a plan counts as, 1 or more.

    Raises:
        ValueError: For a number out of bounds, or an environment that was made without its expert.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        gamma: float,
        *,
        scale: float = 0.1,
        stuck: int = 100,
    ) -> None:
        number("gamma", gamma)
        number("scale", scale)
        if not 0 < gamma <= 1:
            raise ValueError(f"expected gamma above 0 and at most 1, got {gamma!r}")
        if not 0 < scale < float("inf"):
            raise ValueError(f"expected a scale above 0, got {scale!r}")
        at_least("stuck", stuck, 1)
        super().__init__(env, gamma=gamma, scale=scale, stuck=stuck)
        if not (env.has_wrapper_attr("expert") and env.get_wrapper_attr("expert")):
            raise ValueError(f"{env} has no expert plan: {how_to_make('expert')}")
        self.gamma = gamma
        self.scale = scale
        self.stuck = stuck
        self._potential = 0.0

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a task."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._potential = self._worth(info, over=False)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        before, self._potential = self._potential, self._worth(info, over=terminated)
        info["shaping"] = self.gamma * self._potential - before
        return observation, float(reward) + info["shaping"], terminated, truncated, info

    def _worth(
        self,
        info: dict[str, Any],
        *,
        over: bool,
    ) -> float:
        if over:
            return 0.0
        return -self.scale * (len(info["expert_plan"]) or self.stuck)

    def _state(self) -> float:
        return self._potential

    def _set_state(self, state: float) -> None:
        self._potential = state
