"""How many episodes a second each backend plays: the loop of one process, a pool of processes, and Ray.

Two kinds of episodes: an expert's, which take the environment's time alone, and those of an agent that keeps a core
busy before each action, as a model in the process does. Rates are of the time from the first episodes on; what a
backend takes until then stands beside them. Ray runs on a cluster of this machine, where it is installed.
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
from textcraft_gym.evaluation.rollouts import rollouts
from textcraft_gym.evaluation.run_spec import RunSpec

WORKERS = min(4, os.cpu_count() or 1)
WARM = 0.2
"""The part of the episodes that is not counted: workers begin one after the other, with nothing worked out yet."""


class BusyAgent:
    """Works for some milliseconds before each of ten actions."""

    def episode(self, play: Play) -> Routine:
        """Return that nothing was won."""
        for _ in range(10):
            hashlib.pbkdf2_hmac("sha256", b"busy", b"", 5000)
            yield from play.act("inventory")
        return False


def measure(backend: str, agent: Any, episodes: int) -> tuple[float, float]:
    """Return the seconds until the first episode was there, and episodes a second after the first of them."""
    ids = [task.id for task in tasks("TextCraft-v0", "test")]
    jobs = [(ids[number % len(ids)], number) for number in range(episodes)]
    workers = 1 if backend == "loop" else WORKERS  # more would change nothing where no model is asked
    begun = time.perf_counter()
    times = [
        time.perf_counter()
        for _ in rollouts(RunSpec("TextCraft-v0", agent=agent, backend=backend, workers=workers), jobs)
    ]
    warm = int(WARM * episodes)
    return times[0] - begun, (episodes - warm) / (times[-1] - times[warm - 1])


def main() -> None:
    """Print the table."""
    backends = ["loop", "process", *(["ray"] if importlib.util.find_spec("ray") else [])]
    workloads: list[tuple[str, Any, int]] = [
        ("the expert, the environment's time alone", ExpertAgent(), 20_000),
        ("an agent that keeps a core busy", BusyAgent(), 500),
    ]
    for name, agent, episodes in workloads:
        print(f"episodes a second of {name}, {WORKERS} workers:")
        rates: dict[str, float] = {}
        for backend in backends:
            start, rates[backend] = measure(backend, agent, episodes)
            against = [f"{rates[backend] / rates[other]:.2f} times {other}" for other in rates if other != backend]
            print("; ".join([f"  {backend}: {rates[backend]:,.0f}", *against, f"{start:.1f} s to the first episode"]))
    if "ray" not in backends:
        print("Ray is not installed here: make bench-ray")


if __name__ == "__main__":
    main()
