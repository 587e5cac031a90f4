"""Steps per second of n environments: Gymnasium's vector environment against ``TextVectorEnv``.

The last lines are a thousand games of TextCraft in one call, with infos in Gymnasium's form and as
a list, and the time that it takes to make them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import gymnasium as gym

from textcraft_gym.registration import SUITE
from textcraft_gym.vector import INFOS, TextVectorEnv

COUNT = 16
MANY = 1000
STEPS = 16_000
TRIES = 3
ACTIONS = {
    "TextCraft-v0": ("get 1 oak log", "inventory"),
    "TextCraftTags-v0": ("get 1 oak log", "inventory"),
    "ALFWorld-v0": ("look", "inventory"),
    "WebShopLite-v0": ("search[red shoes]", "click[next >]"),
    "MineTechTree-v0": ("look", "inventory"),
}


def steps_per_second(
    vector: gym.vector.VectorEnv[object, Sequence[str], object], actions: Sequence[str]
) -> float:
    """Return the best of several tries."""
    vector.reset(seed=0)
    times = []
    calls = STEPS // vector.num_envs
    for _ in range(TRIES):
        start = time.perf_counter()
        for call in range(calls):
            vector.step([actions[call % len(actions)]] * vector.num_envs)
        times.append(time.perf_counter() - start)
    return calls * vector.num_envs / min(times)


def main() -> None:
    """Print the speed of each environment, without resets and with new tasks; then many games."""
    for env_id in ACTIONS:
        actions = ACTIONS[env_id]
        for limit, workload in (
            (-1, "steps alone"),
            (SUITE[env_id].max_episode_steps, "with resets"),
        ):
            sync = steps_per_second(
                gym.make_vec(env_id, COUNT, "sync", max_episode_steps=limit), actions
            )
            native = steps_per_second(
                TextVectorEnv(env_id, COUNT, max_episode_steps=limit), actions
            )
            rates = f"sync {sync:9,.0f}  in one call {native:9,.0f} steps/s"
            print(f"{env_id:18} {workload}  {rates}  {native / sync:.2f} times")
    start = time.perf_counter()
    sync = gym.make_vec("TextCraft-v0", MANY, "sync", max_episode_steps=-1)
    made = time.perf_counter() - start
    rate = steps_per_second(sync, ACTIONS["TextCraft-v0"])
    print(f"{MANY} TextCraft  sync         made in {1000 * made:.0f} ms  {rate:9,.0f} steps/s")
    for infos in INFOS:
        start = time.perf_counter()
        vector = TextVectorEnv("TextCraft-v0", MANY, max_episode_steps=-1, infos=infos)
        made = time.perf_counter() - start
        rate = steps_per_second(vector, ACTIONS["TextCraft-v0"])
        print(
            f"{MANY} TextCraft  infos={infos:5}  made in {1000 * made:.0f} ms  {rate:9,.0f} steps/s"
        )


if __name__ == "__main__":
    main()
