"""Trains RLlib's PPO on TextCraft, with a mask over the commands.

The policy observes the first text and the last turns as token ids, and has a number for each
command of the goals; the mask in the observation keeps it to the commands that have an effect now.
Needs RLlib and PyTorch: ``pip install '.[ray]' 'ray[rllib]' torch``.

    python examples/rllib_env.py                   # seven minutes on two cores
    python examples/rllib_env.py --iterations 1    # a smoke test
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from textcraft_gym.wrappers import ActionMasking, MaskInObservation, TextHistory, TokenIds

NAME = "TextCraft-numbers"
LENGTH, TURNS = 256, 2


def make_env(env_config: dict[str, Any]) -> MaskInObservation:
    """Make the environment from the arguments of ``gym.make``."""
    game = gym.make("TextCraft-v0", admissible=True, distractors=0, **env_config)
    commands = game.get_wrapper_attr("possible_commands")()
    numbers = ActionMasking(TokenIds(TextHistory(game, TURNS), LENGTH), commands=commands)
    return MaskInObservation(numbers)


def config() -> PPOConfig:
    """Return PPO with a network that masks its actions, on the goals of the split dev."""
    register_env(NAME, make_env)
    network = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule, model_config={"head_fcnet_hiddens": [128]}
    )
    return (
        PPOConfig()
        .environment(NAME, env_config={"split": "dev"})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .rl_module(rl_module_spec=network)
        .training(
            train_batch_size_per_learner=2048, minibatch_size=256, num_epochs=4, lr=5e-4, gamma=0.97
        )
    )


def main() -> None:
    """Train, and print the mean length and return of the episodes of each iteration."""
    parser = argparse.ArgumentParser(description="Learn TextCraft with RLlib's PPO.")
    parser.add_argument("--iterations", type=int, default=40)
    algorithm = config().build_algo()
    for iteration in range(parser.parse_args().iterations):
        episodes = algorithm.train()["env_runners"]
        length, reward = episodes["episode_len_mean"], episodes["episode_return_mean"]
        print(
            f"iteration {iteration}: {length:.1f} steps an episode, return {reward:.2f}", flush=True
        )
    algorithm.stop()


if __name__ == "__main__":
    main()
