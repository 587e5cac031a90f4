"""Learns the durations of goals in Minecraft's tech tree, for DEPS's selector ``learned``.

DEPS with the expert's plans and goals in random order plays generated tasks of several goals. For
each goal that it reaches, its subgoal and the ticks that it took are logged; the horizon, a softmax
regression over classes of time, is fitted to that log. There is one for each way in which the game
tells distances: exactly, roughly, or not at all. It takes a minute or two.

    python examples/learn_horizons.py --out agents/deps/horizons/minetechtree.json

Source: section 3.3 of Wang et al., Describe, Explain, Plan and Select, 2023.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import statistics
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import textcraft_gym
from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Scene, Subgoal
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.deps.horizon import CLASSES, LONGEST, Horizon, features
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.goals import Goal

ENV = "MineTechTree-v0"
EPISODES, TESTS = 600, 100
FIRST_SEED = 1_000_000
"""Seeds from this one on are for learning, smaller ones for evaluation."""
SIGHTS = ("exact", "rough", "names")

STEPS, RATE, MOMENTUM, DECAY = 1500, 1.0, 0.9, 1e-5
"""Gradient descent: number of steps, first learning rate, momentum and weight decay."""
DECIMALS = 3


class Leg(NamedTuple):
    """A subgoal that was reached, and the ticks that it took."""

    subgoal: Subgoal
    ticks: int


class Logged(DEPSAgent):
    """DEPS with goals in random order, and a log of their durations."""

    def __init__(self) -> None:
        super().__init__(MINETECHTREE, rounds=0, selector="random")
        self.log: list[Leg] = []

    def pursue(self, play: Play, goal: Goal, scene: Scene) -> Generator[Request, Any, str | None]:
        """Pursue a goal, and log its ticks."""
        reason = yield from super().pursue(play, goal, scene)
        after = yield from self.controller.look(play)
        subgoal = self.controller.subgoal(goal, scene)
        if reason is None and subgoal.amount:
            self.log.append(Leg(subgoal, ticks_left(scene) - ticks_left(after)))
        return reason


def ticks_left(scene: Scene) -> int:
    """Return the ticks that are left in a scene."""
    match = re.search(r"Ticks left: ([0-9]+)", scene.view_text)
    return int(match[1]) if match else 0


def several_goals(rng: random.Random) -> str:
    """Draw a task of two to four goals of the paper."""
    ids = [task.id for task in textcraft_gym.tasks(ENV, split="core71")]
    return "+".join(rng.sample(ids, rng.randint(2, 4)))


class Recital(NamedTuple):
    """A model that has one plan, whatever it is asked."""

    plan: str

    def complete(self, prompt: Any, **how: Any) -> Completion:
        """Return the plan."""
        return Completion(self.plan)


def as_goals(actions: Iterable[str]) -> str:
    """Write actions as goals: ``mine 3 iron ore with pickaxe`` as ``mine({'iron ore': 3})``."""
    goals = []
    for action in actions:
        match = re.match(r"(\w+) (?:(\d+) )?(.+?)(?: using .*| with .*)?$", action)
        if match:
            verb, count, item = match.groups()
            goals.append(f"{verb}({{'{item}': {count or 1}}})")
    return "\n".join(goals)


def play(seeds: Iterable[int], around: str = "exact") -> list[Leg]:
    """Return the log of an episode for each seed in a world that tells distances in one way."""
    agent = Logged()
    env = gym.make(ENV, around=around, max_episode_steps=-1)
    planned = gym.make(ENV, around=around, expert=True, max_episode_steps=-1)
    for seed in seeds:
        task = several_goals(random.Random(seed))
        _, info = planned.reset(seed=seed, options={"task": task})
        plan = as_goals(info["expert_plan"])
        textcraft_gym.run_episode(env, agent, task=task, seed=seed, model=Recital(plan))
    return agent.log


def fit(legs: Sequence[Leg]) -> Horizon:
    """Fit a horizon to a log, by gradient descent with momentum.

    Raises:
        ValueError: If the log is empty.
    """
    if not legs:
        raise ValueError("expected one leg or more")
    values = [features(leg.subgoal) for leg in legs]
    names = tuple(sorted(set().union(*values)))
    inputs = np.array([[row.get(name, 0.0) for name in names] for row in values])
    targets = np.eye(CLASSES)[[time_class(leg.ticks) for leg in legs]]  # one-hot rows
    # Zeros are a fair start, since the loss of a softmax regression is convex.
    weights = np.zeros((len(names), CLASSES))
    velocity = np.zeros_like(weights)
    for step in range(STEPS):
        logits = inputs @ weights
        probs = np.exp(logits - logits.max(axis=1, keepdims=True))
        probs /= probs.sum(axis=1, keepdims=True)
        grad = inputs.T @ (probs - targets) / len(legs) + DECAY * weights
        rate = RATE * (1 - step / STEPS)  # falls to 0 by the last step
        velocity = MOMENTUM * velocity - rate * grad
        weights = weights + velocity
    return Horizon(names, weights.round(DECIMALS))


def time_class(ticks: int) -> int:
    """Return the class of a time; the classes divide the logarithm of the longest evenly."""
    return min(CLASSES - 1, int(CLASSES * math.log(max(ticks, 1)) / math.log(LONGEST)))


def as_json(horizons: Mapping[str, Horizon]) -> str:
    """Return horizons as JSON, one line for each feature."""
    entries = {sight: _as_json(horizon) for sight, horizon in horizons.items()}
    return f"{_object(entries)}\n"


def _as_json(horizon: Horizon) -> str:
    rows = zip(horizon.features, horizon.weights.tolist(), strict=True)
    return _object({name: json.dumps(row) for name, row in rows})


def _object(entries: Mapping[str, str]) -> str:
    """Return a JSON object, one line for each of its values, which are JSON."""
    lines = [f"{json.dumps(key)}: {value}" for key, value in entries.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def median_error(horizon: Horizon, legs: Iterable[Leg]) -> float:
    """Return the median relative error of a horizon on legs other than crafting or smelting."""
    mined = [leg for leg in legs if leg.subgoal.source]
    return statistics.median(
        abs(horizon.expected(leg.subgoal) - leg.ticks) / leg.ticks for leg in mined
    )


def main() -> None:
    """Log, fit, write, and print the errors on held-out seeds."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, default=Path("horizons.json"))
    out = arguments.parse_args().out
    horizons: dict[str, Horizon] = {}
    for around in SIGHTS:
        log = play(range(FIRST_SEED, FIRST_SEED + EPISODES), around)
        horizons[around] = fit(log)
        tests = play(range(FIRST_SEED + EPISODES, FIRST_SEED + EPISODES + TESTS), around)
        print(
            f"{around}: {len(log)} goals of {EPISODES} episodes, "
            f"{len(horizons[around].features)} features"
        )
        error = median_error(horizons[around], tests)
        print(
            f"off by {100 * error:.1f}% in the median, "
            f"on {len(tests)} goals of {TESTS} other episodes"
        )
    out.write_text(as_json(horizons), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
