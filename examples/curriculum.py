"""Trains MaskablePPO on generated recipes, depth by depth and without a curriculum, and plots both.

The training goals are those of the split ``train`` of generated recipes of depths 2 to 4, with the
game's own reward. The goals of TextCraft's split ``test`` are used for evaluation only; no recipe
of theirs is in the training.

    python examples/curriculum.py            # nine runs, some minutes
    python examples/curriculum.py --smoke    # a smoke test of seconds
"""

from __future__ import annotations

import argparse
import csv
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import gymnasium as gym
import torch
from crafting import COMMANDS, CraftingGraph, Graph
from matplotlib import rc_context
from matplotlib.figure import Figure
from sb3_contrib import MaskablePPO
from scorecard import Scores, play
from scorer import GreedyPlayer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv
from train_maskable_ppo import ENVS, PPO, ScorerPolicy

import textcraft_gym
from textcraft_gym.wrappers import ActionMasking

RECIPES = "made:depth=4,items=400,seed=0"
PLANS: Mapping[str, Sequence[tuple[int, ...]]] = {
    "curriculum": ((2,), (2, 3), (2, 3, 4)),
    "all depths at once": ((2, 3, 4),),
    "depth 4 alone": ((4,),),
}
"""The depths of each stage of a run."""
WON, RECENT = 0.8, 50
"""The share of the recent episodes to win for the next stage, and their number."""
STEPS = 12_288
"""Environment steps of training; an evaluation precedes each rollout of 2,048."""
GOALS = 11
"""Maximum number of test goals of each depth."""
DEPTHS = (2, 3, 4)
COLOURS = {
    "curriculum": "#0072b2",
    "all depths at once": "#e69f00",
    "depth 4 alone": "#cc79a7",
}


class Point(NamedTuple):
    """An evaluation: of which run, after how many steps, and in which stage."""

    plan: str
    seed: int
    steps: int
    stage: int
    scores: Scores


class Curriculum(BaseCallback):
    """Goes on to the next stage once most episodes are won; evaluates before each rollout."""

    def __init__(self, plan: str, seed: int, groups: dict[str, Sequence[str]]) -> None:
        super().__init__()
        self.points: list[Point] = []
        self._plan, self._seed, self._groups = plan, seed, groups
        self._stage = 0
        self._won: deque[bool] = deque(maxlen=RECENT)

    def _on_training_start(self) -> None:
        self._enter(0)

    def _on_step(self) -> bool:
        for done, info in zip(self.locals["dones"], self.locals["infos"], strict=True):
            if done:
                self._won.append(info["won"])
        return True

    def _on_rollout_start(self) -> None:
        is_sure = len(self._won) == RECENT and fmean(self._won) >= WON
        if is_sure and self._stage + 1 < len(PLANS[self._plan]):
            self._enter(self._stage + 1)
        self._measure()

    def _on_training_end(self) -> None:
        self._measure()

    def _enter(self, stage: int) -> None:
        """Draw the next episodes from the depths of a stage; those under way go on."""
        self.training_env.env_method("set_split", "train", PLANS[self._plan][stage])
        self._stage = stage
        self._won.clear()

    def _measure(self) -> None:
        scores = play(GreedyPlayer(self.model.policy.features_extractor.scorer), self._groups)
        point = Point(self._plan, self._seed, self.num_timesteps, self._stage, scores)
        self.points.append(point)
        won = ", ".join(f"{score.won}/{score.goals} of {group}" for group, score in scores.items())
        print(f"{point.plan}, seed {point.seed}, {point.steps} steps, stage {point.stage}: {won}")


def make_env() -> gym.Env[Graph, Any]:
    """Return the training environment."""
    env = gym.make("TextCraft-v0", split="train", recipes=RECIPES, admissible=True)
    return CraftingGraph(ActionMasking(env, COMMANDS, overflow="drop"))


def learn(plan: str, seed: int, groups: dict[str, Sequence[str]], steps: int) -> list[Point]:
    """Train one seed by a plan, and return the evaluations."""
    model = MaskablePPO(
        ScorerPolicy, DummyVecEnv([make_env] * ENVS), seed=seed, device="cpu", **PPO
    )
    measured = Curriculum(plan, seed, groups)
    model.learn(steps, callback=measured)
    return measured.points


def test_goals(most: int) -> dict[str, Sequence[str]]:
    """Return goals of TextCraft's split test by depth, evenly spaced."""
    groups: dict[str, Sequence[str]] = {}
    for depth in DEPTHS:
        tasks = textcraft_gym.tasks("TextCraft-v0", "test", depths=depth)
        groups[f"depth {depth}"] = [task.id for task in tasks[:: -(-len(tasks) // most)]]
    return groups


def write_csv(file: Path, points: Sequence[Point]) -> None:
    """Write every evaluation."""
    with file.open("w", encoding="utf-8", newline="") as opened:
        rows = csv.writer(opened, lineterminator="\n")
        rows.writerow(("run", "seed", "steps", "stage", "goals", "episodes", "won", "mean_steps"))
        for plan, seed, steps, stage, scores in points:
            for group, score in scores.items():
                counts = (score.goals, score.won, f"{score.steps:.2f}")
                rows.writerow((plan, seed, steps, stage + 1, group, *counts))


def draw(file: Path, points: Sequence[Point]) -> None:
    """Plot the success rate by training step for each depth: thin lines for seeds, thick means."""
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    panels = figure.subplots(1, len(DEPTHS), sharey=True)
    for panel, depth in zip(panels, DEPTHS, strict=True):
        for plan in dict.fromkeys(point.plan for point in points):
            own = [point for point in points if point.plan == plan]
            lines(panel, own, f"depth {depth}", plan)
        panel.set(title=f"Test goals of depth {depth}", ylim=(-2, 102))
        panel.set_xlabel("thousands of training steps")
        panel.grid(color="#dddddd")
    panels[0].set_ylabel("won, greedy (%)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    with rc_context({"svg.hashsalt": "curriculum"}):
        figure.savefig(file, metadata={"Date": None})


def lines(panel: Any, points: Sequence[Point], group: str, plan: str) -> None:
    """Plot the success rate of a group for each seed of a run, and their mean."""
    by_seed: dict[int, list[tuple[float, float]]] = {}
    by_steps: dict[float, list[float]] = {}
    for point in points:
        rate, thousands = 100 * point.scores[group].rate, point.steps / 1000
        by_seed.setdefault(point.seed, []).append((thousands, rate))
        by_steps.setdefault(thousands, []).append(rate)
    for curve in by_seed.values():
        panel.plot(*zip(*curve, strict=True), color=COLOURS[plan], linewidth=0.6)
    mean = [fmean(rates) for rates in by_steps.values()]
    panel.plot(list(by_steps), mean, color=COLOURS[plan], linewidth=2, label=plan)


def main() -> None:
    """Train, and write ``curriculum.csv`` and ``curriculum.svg``."""
    parser = argparse.ArgumentParser(description="Learn TextCraft depth by depth.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("runs/curriculum"))
    parser.add_argument("--smoke", action="store_true", help="train and evaluate for seconds only")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)  # the network is small: more threads would wait for each other
    runs, steps, groups = [*product(PLANS, arguments.seeds)], STEPS, test_goals(GOALS)
    if arguments.smoke:
        runs, steps, groups = runs[:1], ENVS * PPO["n_steps"], test_goals(1)
    points: list[Point] = []
    for plan, seed in runs:
        points += learn(plan, seed, groups, steps)
    write_csv(arguments.out / "curriculum.csv", points)
    draw(arguments.out / "curriculum.svg", points)


if __name__ == "__main__":
    main()
