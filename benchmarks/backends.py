"""Episodes per second of each backend: one process, a pool of processes, and Ray.

There are two workloads: the expert, which takes the environment's time only, and an agent that
keeps a core busy before each action, as a model in the process does. Rates exclude the start-up
time, which is printed beside them. Ray, where it is installed, runs on a cluster of this machine.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import time
from typing import Any

from textcraft_gym import tasks
from textcraft_gym.agents.baselines.expert import ExpertAgent
from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.runs.rollouts import rollouts
from textcraft_gym.runs.run_spec import RunSpec

WORKERS = min(4, os.cpu_count() or 1)
WARM_UP = 0.2
"""Fraction of episodes left out of the rate: workers start in turn, with empty caches."""


class BusyAgent:
    """Works for some milliseconds before each of ten actions."""

    def episode(self, play: Play) -> Routine:
        """Claim no success."""
        for _ in range(10):
            hashlib.pbkdf2_hmac("sha256", b"busy", b"", 5000)
            yield from play.act("inventory")
        return False


def measure(backend: str, agent: Any, episodes: int) -> tuple[float, float]:
    """Return the seconds until the first episode, and the episodes per second after the warm-up."""
    ids = [task.id for task in tasks("TextCraft-v0", "test")]
    jobs = [(ids[seed % len(ids)], seed) for seed in range(episodes)]
    # Without model calls, more workers would not help the loop.
    workers = 1 if backend == "loop" else WORKERS
    spec = RunSpec("TextCraft-v0", agent=agent, backend=backend, workers=workers)
    start = time.perf_counter()
    times = [time.perf_counter() for _ in rollouts(spec, jobs)]
    warm_up = int(WARM_UP * episodes)
    return times[0] - start, (episodes - warm_up) / (times[-1] - times[warm_up - 1])


def main() -> None:
    """Print the table."""
    backends = ["loop", "process"]
    if importlib.util.find_spec("ray"):
        backends.append("ray")
    workloads: list[tuple[str, Any, int]] = [
        ("the expert, the environment's time only", ExpertAgent(), 20_000),
        ("an agent that keeps a core busy", BusyAgent(), 500),
    ]
    for name, agent, episodes in workloads:
        print(f"episodes per second of {name}, {WORKERS} workers:")
        rates: dict[str, float] = {}
        for backend in backends:
            startup, rate = measure(backend, agent, episodes)
            figures = [f"  {backend}: {rate:,.0f}"]
            figures += [f"{rate / other:.2f} times {name}" for name, other in rates.items()]
            print("; ".join([*figures, f"{startup:.1f} s to the first episode"]))
            rates[backend] = rate
    if "ray" not in backends:
        print("Ray is not installed: make bench-ray")


if __name__ == "__main__":
    main()
