"""Overhead of the framework per model call, and throughput of workers that share a slow model.

Everything is measured through ``evaluate``, records and summary included; times are the best of
several runs.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from scripted import models

from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate

SLOW_SECONDS = 0.1
SLOW_TURNS = 5


def measure(
    config: RunSpec, workers: int, repeats: int, seconds_of_model: float = 0.0
) -> tuple[float, int]:
    """Return the seconds of the fastest run, and its number of calls."""
    seconds, calls = float("inf"), 0
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            records = evaluate(
                replace(config, model=models(seconds_of_model), workers=workers),
                Path(folder) / "run",
            )
            seconds = min(seconds, time.perf_counter() - start)
            calls = sum(sum(record["calls"].values()) for record in records)
    return seconds, calls


def overhead_per_call() -> None:
    """Print the framework's milliseconds per call of a model that answers immediately."""
    print(
        "milliseconds of overhead per model call, "
        "with a model that answers immediately (target: below 1):"
    )
    for agent, workers in (("react", 1), ("react", 8), ("adapt", 1)):
        seconds, calls = measure(RunSpec("TextCraft-v0", "test", agent), workers, repeats=5)
        print(f"  {agent}, {workers} workers: {1000 * seconds / calls:.3f} ({calls} calls)")


def throughput_of_workers() -> None:
    """Print the throughput of 8 workers relative to 1, with a model that takes 100 ms."""
    rates = {}
    for workers in (1, 8):
        episodes = 4 * workers
        config = RunSpec(
            "TextCraft-v0", "test", "react", agent_args={"turns": SLOW_TURNS}, limit=episodes
        )
        rates[workers] = (
            episodes / measure(config, workers, repeats=3, seconds_of_model=SLOW_SECONDS)[0]
        )
    print(
        f"episodes a second with a model of {1000 * SLOW_SECONDS:.0f} ms, "
        f"{SLOW_TURNS} calls per episode:"
    )
    print(
        f"  1 worker {rates[1]:.2f}, 8 workers {rates[8]:.2f}: "
        f"{rates[8] / rates[1]:.2f} times (target: 6.8 to 8)"
    )


if __name__ == "__main__":
    overhead_per_call()
    throughput_of_workers()
