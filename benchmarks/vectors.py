"""Steps per second of n environments: Gymnasium's vector environment against ``TextVectorEnv``."""

from __future__ import annotations

import time
from collections.abc import Sequence

import gymnasium as gym

from textcraft_gym.registration import BUNDLED, SUITE
from textcraft_gym.vector import TextVectorEnv

COUNT = 16
CALLS = 1000
TRIES = 3
ACTIONS = {
    "TextCraft-v0": ("get 1 oak log", "inventory"),
    "TextCraftTags-v0": ("get 1 oak log", "inventory"),
    "ALFWorld-v0": ("look", "inventory"),
    "WebShopLite-v0": ("search[red shoes]", "click[next >]"),
    "MineTechTree-v0": ("look", "inventory"),
}


def steps_per_second(vector: gym.vector.VectorEnv[object, Sequence[str], object], actions: Sequence[str]) -> float:
    """Return the best of several tries."""
    vector.reset(seed=0)
    times = []
    for _ in range(TRIES):
        start = time.perf_counter()
        for call in range(CALLS):
            vector.step([actions[call % len(actions)]] * COUNT)
        times.append(time.perf_counter() - start)
    return CALLS * COUNT / min(times)


def main() -> None:
    """Print two lines per environment: without resets, and with a new task after each truncation."""
    for env_id in BUNDLED:
        actions = ACTIONS[env_id]
        for limit, workload in ((-1, "steps alone"), (SUITE[env_id].max_episode_steps, "with resets")):
            sync = steps_per_second(gym.make_vec(env_id, COUNT, "sync", max_episode_steps=limit), actions)
            native = steps_per_second(TextVectorEnv(env_id, COUNT, max_episode_steps=limit), actions)
            rates = f"sync {sync:9,.0f}  in one call {native:9,.0f} steps/s"
            print(f"{env_id:18} {workload}  {rates}  {native / sync:.2f} times")


if __name__ == "__main__":
    main()
