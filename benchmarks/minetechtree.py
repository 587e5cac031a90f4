"""Speed of the tech tree through ``gym.make`` with default wrappers: median of several rounds.

A walk follows the expert through each of the 76 tasks, with looks and mistakes in between; resets
are not counted. The random policy plays admissible commands, which are recomputed at each step; its
resets are counted. Planning is one plan for each of the tasks in a new world.
"""

from __future__ import annotations

import time

import gymnasium as gym
from rates import expert_walks, median, random_rate, reset_rate, walk_rate

import textcraft_gym

ID = "MineTechTree-v0"
PASSES = 20
STEPS = 5_000
RESETS = 5_000


def plan_ms(env: gym.Env[str, str]) -> float:
    """Return the milliseconds of a reset with a plan."""
    tasks = textcraft_gym.tasks(ID)
    start = time.perf_counter()
    for task in tasks:
        env.reset(seed=1, options={"task": task.id})
    return 1000 * (time.perf_counter() - start) / len(tasks)


def main() -> None:
    """Measure and print."""
    paths = expert_walks(ID, ["look", "mine 1 bedrock"])
    plain, listing, planning = (
        gym.make(ID),
        gym.make(ID, admissible=True),
        gym.make(ID, expert=True),
    )
    print(
        f"{median(lambda: walk_rate(plain, paths * PASSES)):,.0f} steps/s along the expert's plans"
    )
    print(
        f"{median(lambda: random_rate(listing, STEPS)):,.0f} steps/s "
        f"of a random policy on admissible commands"
    )
    print(f"{median(lambda: reset_rate(plain, range(RESETS))):,.0f} resets/s, each with a new seed")
    print(f"{median(lambda: plan_ms(planning)):.1f} ms for a reset with a plan")


if __name__ == "__main__":
    main()
