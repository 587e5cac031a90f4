"""Steps and resets a second, as the benchmarks of several games count them."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable

import gymnasium as gym


def walk_rate(env: gym.Env[str, str], walks: Iterable[tuple[str, list[str]]]) -> float:
    """Return steps a second along the actions for each task, resets not counted."""
    spent, steps = 0.0, 0
    step = env.step
    for task, actions in walks:
        env.reset(seed=0, options={"task": task})
        begun = time.perf_counter()
        for action in actions:
            step(action)
        spent += time.perf_counter() - begun
        steps += len(actions)
    return steps / spent


def random_rate(env: gym.Env[str, str], steps: int) -> float:
    """Return steps a second of a random policy on what is admissible, resets counted in."""
    number = random.Random(0).random
    begun = time.perf_counter()
    _, info = env.reset(seed=0)
    for _ in range(steps):
        commands = info["admissible_commands"]
        _, _, terminated, truncated, info = env.step(commands[int(number() * len(commands))])
        if terminated or truncated:
            _, info = env.reset()
    return steps / (time.perf_counter() - begun)


def reset_rate(env: gym.Env[str, str], seeds: range) -> float:
    """Return resets a second, each with a new seed."""
    begun = time.perf_counter()
    for seed in seeds:
        env.reset(seed=seed)
    return len(seeds) / (time.perf_counter() - begun)
