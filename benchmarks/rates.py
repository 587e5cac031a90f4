"""Steps and resets per second, measured in the same way for several games."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterable, Sequence

import gymnasium as gym

import textcraft_gym

ROUNDS = 5


def expert_walks(env_id: str, mistakes: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the expert's plan for every task, with some useless actions before every third one."""
    env = gym.make(env_id, expert=True)
    walked = []
    for task in textcraft_gym.tasks(env_id):
        _, info = env.reset(seed=0, options={"task": task.id})
        actions: list[str] = []
        for index, action in enumerate(info["expert_plan"]):
            if index % 3 == 2:
                actions += mistakes
            actions.append(action)
        walked.append((task.id, actions))
    return walked


def median(measure: Callable[[], float]) -> float:
    """Return the median of several rounds."""
    return statistics.median(measure() for _ in range(ROUNDS))


def walk_rate(env: gym.Env[str, str], walks: Iterable[tuple[str, list[str]]]) -> float:
    """Return steps per second along the actions for each task; resets are not counted."""
    seconds, steps = 0.0, 0
    step = env.step
    for task, actions in walks:
        env.reset(seed=0, options={"task": task})
        start = time.perf_counter()
        for action in actions:
            step(action)
        seconds += time.perf_counter() - start
        steps += len(actions)
    return steps / seconds


def random_rate(env: gym.Env[str, str], steps: int) -> float:
    """Return steps per second of a random policy on admissible commands; resets are counted."""
    uniform = random.Random(0).random
    start = time.perf_counter()
    _, info = env.reset(seed=0)
    for _ in range(steps):
        commands = info["admissible_commands"]
        _, _, terminated, truncated, info = env.step(commands[int(uniform() * len(commands))])
        if terminated or truncated:
            _, info = env.reset()
    return steps / (time.perf_counter() - start)


def reset_rate(env: gym.Env[str, str], seeds: range) -> float:
    """Return resets per second, each with a new seed."""
    start = time.perf_counter()
    for seed in seeds:
        env.reset(seed=seed)
    return len(seeds) / (time.perf_counter() - start)
