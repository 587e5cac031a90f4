"""Learns how long goals take in Minecraft's tech tree, for DEPS's selector ``learned``.

A player of DEPS that takes its goals in random order, planned by the simulated model, plays made tasks with several
goals at once. For each goal that it reached stands in the log what was to be done and how many ticks it took; the
horizon is fitted to that and written down. It takes less than a minute.

    python examples/learn_horizons.py --out agents/deps/horizons/minetechtree.json

Source: section 3.4 of Wang et al., Describe, Explain, Plan and Select, 2023.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym

import textcraft_gym
from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Errand, Scene
from textcraft_gym.agents.contract.goals import Goal
from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.deps.horizon import Horizon, fit
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.evaluation.schedule import run_episodes

ENV = "MineTechTree-v0"
EPISODES, TESTS = 600, 100
FIRST_SEED = 1_000_000
"""Seeds from here on are for learning, those below it for playing."""
SPAN = 99


class Leg(NamedTuple):
    """A goal that was reached, and the ticks that it took."""

    errand: Errand
    ticks: int


class Logged(DEPSAgent):
    """Takes goals in random order, and keeps what each came to."""

    def __init__(self) -> None:
        super().__init__(MINETECHTREE, rounds=0, selector="random")
        self.log: list[Leg] = []

    def pursue(self, play: Play, goal: Goal, scene: Scene) -> Generator[Request, Any, str | None]:
        """Pursue a goal, and see how late it is then."""
        reason = yield from super().pursue(play, goal, scene)
        after = yield from self.controller.look(play)
        errand = self.controller.errand(goal, scene)
        if reason is None and errand.amount:
            self.log.append(Leg(errand, ticks_left(scene) - ticks_left(after)))
        return reason


def ticks_left(scene: Scene) -> int:
    """Return how much time a scene says there is."""
    found = re.search(r"Ticks left: ([0-9]+)", scene.seen)
    return int(found[1]) if found else 0


def several_goals(number: random.Random) -> str:
    """Return a task of two to four goals of the paper."""
    ids = [task.id for task in textcraft_gym.tasks(ENV, split="core71")]
    return "+".join(number.sample(ids, number.randint(2, 4)))


def play(seeds: Iterable[int]) -> list[Leg]:
    """Play an episode for each seed, and return what was logged."""
    jobs = [(several_goals(random.Random(seed)), seed) for seed in seeds]
    agent = Logged()
    env = gym.make(ENV, max_episode_steps=-1)
    for _ in run_episodes([env], agent, jobs, model=SimulatedModel(SPAN)):
        pass
    return agent.log


def off_by(horizon: Horizon, legs: Iterable[Leg]) -> float:
    """Return how far off it is, in the median, as a fraction of the ticks that what is got takes."""
    got = [leg for leg in legs if leg.errand.source]
    return statistics.median(abs(horizon.expected(leg.errand) - leg.ticks) / leg.ticks for leg in got)


def main() -> None:
    """Log, fit, write, and say how good it is on seeds that it was not fitted to."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, default=Path("horizons.json"))
    out = arguments.parse_args().out
    log = play(range(FIRST_SEED, FIRST_SEED + EPISODES))
    horizon = fit([leg.errand for leg in log], [leg.ticks for leg in log])
    out.write_text(horizon.dumps(), encoding="utf-8", newline="\n")
    tests = play(range(FIRST_SEED + EPISODES, FIRST_SEED + EPISODES + TESTS))
    print(f"{len(log)} goals of {EPISODES} episodes, {len(horizon.features)} features")
    print(f"off by {100 * off_by(horizon, tests):.1f}% in the median, on {len(tests)} goals of {TESTS} other episodes")


if __name__ == "__main__":
    main()
