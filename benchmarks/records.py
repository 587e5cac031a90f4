"""Memory and time of the commands that read a run of very many episodes: ``make bench-records``.

A run of few episodes is played, and its records are written again and again, each of another task.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from scripted import models

from textcraft_gym import RunSpec, evaluate
from textcraft_gym.reports.records import line_of

TURNS = {"turns": 12, "patience": 13}
COMMANDS = {
    "report": ["report", "first"],
    "report --json": ["report", "first", "--json"],
    "compare": ["compare", "first", "second"],
}


def write_run(folder: Path, agent: str, episodes: int) -> int:
    """Write a run with many episodes, and return the length of its records in bytes."""
    spec = RunSpec("TextCraft-v0", "test", agent, agent_args=TURNS, model=models(), limit=100)
    records = evaluate(spec, folder)
    texts = [line_of({**record, "task": "<task>"}) for record in records]
    with (folder / "episodes.jsonl").open("w") as file:
        for number in range(episodes):
            file.write(texts[number % len(texts)].replace("<task>", f"task {number}") + "\n")
    return (folder / "episodes.jsonl").stat().st_size


def peak(command: list[str], folder: Path) -> tuple[float, float]:
    """Return a command's peak memory in bytes and its time in seconds, in its own process."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "textcraft_gym", *command], cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} ended with status {os.waitstatus_to_exitcode(status)}")
    return usage.ru_maxrss * 1024, time.perf_counter() - started


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=1_000_000)
    arguments = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = Path(place)
        size = write_run(folder / "first", "react", arguments.episodes)
        write_run(folder / "second", "adapt", arguments.episodes)
        print(f"{arguments.episodes:,} episodes, {size / arguments.episodes / 1000:.1f} kB each")
        started = time.perf_counter()
        with (folder / "first" / "episodes.jsonl").open("rb") as lines:
            for line in lines:
                json.loads(line)
        print(f"{'json.loads alone':20} {time.perf_counter() - started:6.0f} s")
        for name, command in COMMANDS.items():
            memory, seconds = peak(command, folder)
            print(f"{name:20} {seconds:6.0f} s {memory / 1e9:6.2f} GB")


if __name__ == "__main__":
    main()
