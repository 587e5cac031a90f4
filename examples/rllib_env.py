"""Registers a text environment with RLlib: observations as token ids, a discrete action per admissible command.

Needs Ray with its training libraries: ``pip install 'textcraft-gym[ray]' 'ray[rllib]'``, or ``'ray[tune]'`` for the
registration alone. Run as a script, it plays a random episode of the registered environment.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from ray.tune.registry import ENV_CREATOR, _global_registry, register_env

from textcraft_gym.wrappers import ActionMasking, TokenIds

NAME = "TextCraft-numbers"
LENGTH, CHOICES = 512, 64


def make_env(env_config: dict[str, Any]) -> ActionMasking:
    """Make the environment; ``info["action_mask"]`` marks the actions that are commands now."""
    game = gym.make("TextCraft-v0", admissible=True, **env_config)
    return ActionMasking(TokenIds(game, LENGTH), CHOICES, overflow="drop")


def register() -> None:
    """Register the environment for ``PPOConfig().environment("TextCraft-numbers", env_config={"split": "dev"})``."""
    register_env(NAME, make_env)


if __name__ == "__main__":
    register()
    env = _global_registry.get(ENV_CREATOR, NAME)({"split": "dev"})
    env.action_space.seed(0)
    observation, info = env.reset(seed=0)
    steps, over = 0, False
    while not over:
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        steps, over = steps + 1, terminated or truncated
    shape = observation["tokens"].shape
    print(f"{info['task']} {'won' if info['won'] else 'not won'} after {steps} random actions, {shape}")
