"""Speed of TextCraft as ratios to an environment that does nothing.

Both are made by ``gym.make`` with its default wrappers, and play the same actions in turn, round by
round; the median round counts. Seconds depend on the machine, the ratios much less.

A step of the no-op environment takes 0.30 microseconds, of which Gymnasium's wrappers take 0.25,
and one of TextCraft 1.03 on repeated strings, which is 29%. Of these the wrappers take the same
0.25, the checks of ``TextEnv.step``, the info and the tuple of the step 0.2, and the rules 0.1 for
an error to 0.6 for a list of the inventory; the rest is the reset before every 13 steps, which
leaves the processor's caches to the text of a prompt (31% without it). The target of 35% leaves 0.6
microseconds to the game: that would take a step without these layers, or compiled rules.
"""

from __future__ import annotations

import itertools
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
from rates import reset_rate, walk_rate
from rich import box
from rich.console import Console
from rich.table import Table

import textcraft_gym
from textcraft_gym.envs.textcraft.expert import expert_plan
from textcraft_gym.spaces import AnyText

ROUNDS = 7
PASSES = 5
RESETS = 10_000
MANY_RESETS = 100_000

Workload = list[tuple[str, list[str]]]


class NoOpEnv(gym.Env[str, str]):
    """Gives a constant observation."""

    def __init__(self) -> None:
        self.observation_space = self.action_space = AnyText()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Seed and return the observation."""
        super().reset(seed=seed)
        return "Nothing.", {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Return the observation."""
        return "Nothing.", 0.0, False, False, {}


def workload(env: gym.Env[str, str]) -> Workload:
    """Return each test task's shortest solution, with a look and an error every third action."""
    book = env.get_wrapper_attr("book")
    errors = itertools.cycle(
        ["get 3 unobtainium", "craft 1 chest using 9 bedrock", "craft 1 chest using planks", "jump"]
    )
    episodes = []
    for task in textcraft_gym.tasks("TextCraft-v0", "test"):
        actions = []
        for position, action in enumerate(expert_plan(book, task.id, {}), 1):
            if position % 3 == 0:
                actions += ["inventory", next(errors)]
            actions.append(action)
        episodes.append((task.id, actions))
    return episodes


def unseen(episodes: Workload, fresh: Iterator[int]) -> Workload:
    """Return the same episodes with unseen strings; a craft command's count has no effect."""

    def vary(action: str) -> str:
        verb, _, rest = action.partition(" ")
        count = next(fresh)
        if verb == "get":
            return f"get {100_000 + count % 900_000} {rest.partition(' ')[2]}"
        if verb == "craft":
            return f"craft {100_000 + count % 900_000} {rest.partition(' ')[2]}"
        if verb == "inventory":
            return action
        return f"{action} {count}"

    return [(task, [vary(action) for action in actions]) for task, actions in episodes]


def side_by_side(
    ours: Callable[[], float], noop: Callable[[], float]
) -> tuple[float, float, float]:
    """Measure both in turn; return the median of each and of the ratio per round."""
    pairs = [(ours(), noop()) for _ in range(ROUNDS)]
    return (
        statistics.median(pair[0] for pair in pairs),
        statistics.median(pair[1] for pair in pairs),
        statistics.median(a / b for a, b in pairs),
    )


def growth_in_mb(env: gym.Env[str, str]) -> float:
    """Return the growth of this process's peak memory over many resets, in MB."""
    reset_rate(env, range(1000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reset_rate(env, range(MANY_RESETS))
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if sys.platform == "darwin":  # which counts bytes, not kilobytes
        return growth / (1 << 20)
    return growth / 1024


def import_ms() -> float:
    """Return the milliseconds that importing the package adds to importing Gymnasium."""
    code = (
        "import time, gymnasium; t = time.perf_counter(); "
        "import textcraft_gym; print(time.perf_counter() - t)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        for _ in range(ROUNDS)
    ]
    return 1000 * statistics.median(float(run.stdout) for run in runs)


def main() -> None:
    """Measure and print."""
    gym.register("NoOp-v0", entry_point=NoOpEnv, max_episode_steps=100)
    ours, noop = gym.make("TextCraft-v0", split="test"), gym.make("NoOp-v0")
    growth = growth_in_mb(ours)  # first: a higher peak reached elsewhere would hide the growth
    episodes = workload(ours) * PASSES
    fresh = itertools.count()
    table = Table(
        title=f"TextCraft-v0 on Python {sys.version.split()[0]}, Gymnasium {gym.__version__}",
        box=box.SIMPLE_HEAD,
    )
    for heading in ("measure", "TextCraft-v0", "no-op", "ratio", "target"):
        table.add_column(heading, justify="left" if heading == "measure" else "right")

    def row(measure: str, rates: tuple[float, float, float], target: str) -> None:
        table.add_row(measure, f"{rates[0]:,.0f}", f"{rates[1]:,.0f}", f"{rates[2]:.1%}", target)

    repeated = side_by_side(lambda: walk_rate(ours, episodes), lambda: walk_rate(noop, episodes))
    row("steps/s, repeated", repeated, "35% or more")
    new = [unseen(episodes, fresh) for _ in range(ROUNDS)]
    rates = side_by_side(lambda: walk_rate(ours, new[-1]), lambda: walk_rate(noop, new.pop()))
    row("steps/s, new actions", rates, "8% or more")
    seeds = (range(start, start + RESETS) for start in itertools.count(0, RESETS))
    resets = side_by_side(
        lambda: reset_rate(ours, next(seeds)), lambda: reset_rate(noop, next(seeds))
    )
    row("resets/s", resets, "15,000/s or more")
    table.add_row("MB of growth over 100,000 resets", f"{growth:.1f}", "", "", "flat")
    table.add_row("ms to import", f"{import_ms():.0f}", "", "", "below 100")
    Console().print(table)


if __name__ == "__main__":
    main()
