"""How fast the tech tree is played: through ``gym.make`` with its default wrappers; the middle round counts.

A walk follows the expert through each of the 76 tasks, a look and a mistake among its actions; resets are not counted.
The random policy plays what is admissible, which is worked out anew at each step, resets counted in. Planning is a plan
for each of the tasks in a new world.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import gymnasium as gym
from rates import random_rate, reset_rate, walk_rate

import textcraft_gym

ID = "MineTechTree-v0"
ROUNDS = 5
PASSES = 20
STEPS = 5_000
RESETS = 5_000


def walks() -> list[tuple[str, list[str]]]:
    """Return the expert's plan for every task, a look and a mistake before every third action."""
    env = gym.make(ID, expert=True)
    found = []
    for task in textcraft_gym.tasks(ID):
        _, info = env.reset(seed=0, options={"task": task.id})
        actions: list[str] = []
        for number, action in enumerate(info["expert_plan"]):
            actions += ["look", "mine 1 bedrock", action] if number % 3 == 2 else [action]
        found.append((task.id, actions))
    return found


def plan_ms(env: gym.Env[str, str]) -> float:
    """Return how long a reset with a plan takes, in milliseconds."""
    tasks = textcraft_gym.tasks(ID)
    began = time.perf_counter()
    for task in tasks:
        env.reset(seed=1, options={"task": task.id})
    return 1000 * (time.perf_counter() - began) / len(tasks)


def middle(measure: Callable[[], float]) -> float:
    """Return the middle of some rounds."""
    return statistics.median(measure() for _ in range(ROUNDS))


def main() -> None:
    """Measure and print."""
    found = walks()
    plain, listing, planning = gym.make(ID), gym.make(ID, admissible=True), gym.make(ID, expert=True)
    print(f"{middle(lambda: walk_rate(plain, found * PASSES)):,.0f} steps/s along the expert's plans")
    print(f"{middle(lambda: random_rate(listing, STEPS)):,.0f} steps/s of a random policy on admissible commands")
    print(f"{middle(lambda: reset_rate(plain, range(RESETS))):,.0f} resets/s, each with a new seed")
    print(f"{middle(lambda: plan_ms(planning)):.1f} ms for a reset with a plan")


if __name__ == "__main__":
    main()
