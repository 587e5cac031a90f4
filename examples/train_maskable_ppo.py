"""Trains Stable-Baselines3's MaskablePPO on TextCraft, and plots the learning curve.

Training uses the goals of the split dev, 197 of depth 2, with the game's own reward: 1 for the
goal, else 0. The 77 goals of depth 2 in the split test, and all of depth 3 and 4, are used for
evaluation only.

    python examples/train_maskable_ppo.py            # three seeds, some minutes
    python examples/train_maskable_ppo.py --smoke    # a smoke test of seconds
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import gymnasium as gym
import torch
from crafting import COMMANDS, CraftingGraph, Graph
from matplotlib import rc_context
from matplotlib.figure import Figure
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from scorecard import Score, Scores, play, table
from scorer import GreedyPlayer, Scorer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import Tensor, nn

import textcraft_gym
from textcraft_gym.agents.baselines.random_agent import RandomAgent
from textcraft_gym.wrappers import ActionMasking

PROCESSES = 2
"""Number of seeds trained in parallel."""
ENVS = 16
PPO: dict[str, Any] = {
    "n_steps": 128,
    "batch_size": 256,
    "n_epochs": 4,
    "gamma": 0.97,
    "learning_rate": 1e-3,
    "ent_coef": 0.01,
}
STEPS, BETWEEN = 40_960, 4_096
"""Environment steps of training, and between evaluations."""
SMOKE_STEPS, SMOKE_GOALS = 8_192, 20

LEARNT = "197 of depth 2, learnt on"
UNSEEN = "77 of depth 2, unseen"
WHOLE = "all 274 of depth 2"
DEEPER = {3: "112 of depth 3, unseen", 4: "11 of depth 4, unseen"}
FEW = "a few of depth 2"
COLOURS = {
    WHOLE: "#0072b2",
    FEW: "#0072b2",
    UNSEEN: "#e69f00",
    DEEPER[3]: "#009e73",
    DEEPER[4]: "#cc79a7",
}

ABOUT = """# TextCraft, learnt with MaskablePPO

`examples/train_maskable_ppo.py` trains MaskablePPO of Stable-Baselines3 (sb3-contrib). The 197
goals of the split dev, all of depth 2, give the game's own reward: 1 for the goal, else 0. Neither
the expert nor the recipe book is used. The network observes a graph that `examples/crafting.py`
parses from the text. An edge says which admissible command, or which recipe, makes a missing
ingredient of a recipe. The network learns which of them lead to the goal.

The table shows greedy play on prompts not used in training, each goal once. The game's limit is 100
steps, and the intervals are Wilson's of 95%. *Untrained* is the same network before its first step.
*Random* plays random admissible commands. Every seed is trained for the same number of steps,
regardless of the unseen goals. No seed was selected.

![Learning curve](learning.svg)

{table}
Training steps: {steps} per seed. {times} [learning.csv](learning.csv) has every measurement. `make
learn` reproduces these files. Digits may differ between machines and versions of PyTorch.
"""


class Point(NamedTuple):
    """An evaluation after a number of training steps and seconds."""

    seed: int
    steps: int
    seconds: float
    processor_seconds: float
    scores: Scores


class ScorerExtractor(BaseFeaturesExtractor):
    """Its features are the scores of the commands, and the value as the last column."""

    def __init__(self, space: gym.Space[Any]) -> None:
        super().__init__(space, COMMANDS + 1)
        self.scorer = Scorer()

    def forward(self, graph: dict[str, Tensor]) -> Tensor:
        """Return scores and value side by side."""
        return torch.cat(self.scorer(graph), dim=1)


class Columns(nn.Module):
    """Selects columns; it has no weights."""

    def __init__(self, first: int, end: int) -> None:
        super().__init__()
        self._columns = slice(first, end)

    def forward(self, features: Tensor) -> Tensor:
        """Return the columns."""
        return features[:, self._columns]


class ScorerPolicy(MaskableMultiInputActorCriticPolicy):
    """A policy of Stable-Baselines3 that consists of a ``Scorer``."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(
            *arguments, net_arch=[], features_extractor_class=ScorerExtractor, **settings
        )

    def _build(self, lr_schedule: Callable[[float], float]) -> None:
        # The scorer already ends in scores and a value, so the heads only select its columns.
        self._build_mlp_extractor()
        self.action_net = Columns(0, COMMANDS)
        self.value_net = Columns(COMMANDS, COMMANDS + 1)
        self.optimizer = self.optimizer_class(
            self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )


class Measurements(BaseCallback):
    """Evaluates before training and at regular intervals; the clocks stop meanwhile."""

    def __init__(self, seed: int, groups: dict[str, Sequence[str]], between: int) -> None:
        super().__init__()
        self.points: list[Point] = []
        self._seed, self._groups, self._between = seed, groups, between
        self._seconds = self._processor_seconds = 0.0

    def _on_rollout_start(self) -> None:
        if self.num_timesteps % self._between == 0:
            self._measure()

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self._measure()

    def _on_training_start(self) -> None:
        self._wind()

    def _wind(self) -> None:
        self._started = time.perf_counter(), time.process_time()

    def _measure(self) -> None:
        self._seconds += time.perf_counter() - self._started[0]
        self._processor_seconds += time.process_time() - self._started[1]
        scores = play(GreedyPlayer(self.model.policy.features_extractor.scorer), self._groups)
        point = Point(
            self._seed, self.num_timesteps, self._seconds, self._processor_seconds, scores
        )
        self.points.append(point)
        won = ", ".join(f"{score.won} of {group}" for group, score in scores.items())
        print(
            f"seed {point.seed}, {point.steps} steps, {point.seconds:.0f} s: won {won}", flush=True
        )
        self._wind()


def make_env() -> gym.Env[Graph, Any]:
    """Return the training environment."""
    env = gym.make("TextCraft-v0", split="dev", admissible=True)
    return CraftingGraph(ActionMasking(env, COMMANDS, overflow="drop"))


def learn(
    seed: int, out: Path, groups: dict[str, Sequence[str]], steps: int, between: int
) -> list[Point]:
    """Train one seed, write the weights, and return the evaluations."""
    torch.set_num_threads(1)  # the network is small: more threads would wait for each other
    model = MaskablePPO(
        ScorerPolicy, DummyVecEnv([make_env] * ENVS), seed=seed, device="cpu", **PPO
    )
    measurements = Measurements(seed, groups, between)
    model.learn(steps, callback=measurements)
    torch.save(model.policy.features_extractor.scorer.state_dict(), out / f"scorer-{seed}.pt")
    return measurements.points


def all_groups() -> dict[str, Sequence[str]]:
    """Return the groups of TextCraft's tasks, by depth and use in training."""
    tasks = textcraft_gym.tasks("TextCraft-v0")
    learnt = [task.id for task in textcraft_gym.tasks("TextCraft-v0", split="dev")]
    whole = [task.id for task in tasks if task.depth == 2]
    unseen = [task for task in whole if task not in learnt]
    groups: dict[str, Sequence[str]] = {WHOLE: whole, LEARNT: learnt, UNSEEN: unseen}
    for depth, name in DEEPER.items():
        groups[name] = [task.id for task in tasks if task.depth == depth]
    return groups


def write_csv(file: Path, points: Sequence[Point]) -> None:
    """Write every evaluation."""
    with file.open("w", encoding="utf-8", newline="") as opened:
        rows = csv.writer(opened, lineterminator="\n")
        rows.writerow(
            ("seed", "steps", "seconds", "goals", "episodes", "won", "low", "high", "mean_steps")
        )
        for seed, steps, seconds, _, scores in points:
            for group, score in scores.items():
                low, high = score.interval
                about = (seed, steps, f"{seconds:.1f}", group)
                counts = (score.goals, score.won, f"{low:.4f}", f"{high:.4f}")
                rows.writerow((*about, *counts, f"{score.steps:.2f}"))


def draw(file: Path, points: Sequence[Point], at_random: Scores) -> None:
    """Plot success rate and steps by training step: thin lines for seeds, thick for the mean."""
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    won, steps = figure.subplots(1, 2)
    for group in at_random:
        if group != LEARNT:  # it would coincide with the line of all 274
            lines(won, points, group, lambda score: 100 * score.rate)
    first = next(iter(at_random))
    lines(steps, points, first, lambda score: score.steps)
    won.axhline(
        100 * at_random[first].rate, color="#666666", linestyle=":", label=f"random, {first}"
    )
    steps.axhline(at_random[first].steps, color="#666666", linestyle=":", label=f"random, {first}")
    won.set(title="Goals won, greedy (%)", ylim=(-2, 102))
    steps.set(title="Steps an episode, greedy (at most 100)", ylim=(0, 102))
    for panel in (won, steps):
        panel.set_xlabel("steps learnt")
        panel.grid(color="#dddddd")
        panel.legend()
    with rc_context({"svg.hashsalt": "learning"}):
        figure.savefig(file, metadata={"Date": None})


def lines(panel: Any, points: Sequence[Point], group: str, value: Callable[[Score], float]) -> None:
    """Plot one value of a group for each seed, and the mean."""
    colour = COLOURS[group]
    by_seed: dict[int, list[tuple[int, float]]] = {}
    by_steps: dict[int, list[float]] = {}
    for point in points:
        measured = value(point.scores[group])
        by_seed.setdefault(point.seed, []).append((point.steps, measured))
        by_steps.setdefault(point.steps, []).append(measured)
    for curve in by_seed.values():
        panel.plot(*zip(*curve, strict=True), color=colour, linewidth=0.6)
    at = sorted(by_steps)
    mean = [fmean(by_steps[steps]) for steps in at]
    # Dashes keep the unseen goals of depth 2 visible on the line of all 274.
    style = "--" if group == UNSEEN else "-"
    panel.plot(at, mean, color=colour, linewidth=2, linestyle=style, label=group)


def report(points: Sequence[Point], at_random: Scores, total: float) -> str:
    """Return the final results of every seed as Markdown."""
    first = {point.seed: point for point in reversed(points)}
    last = {point.seed: point for point in points}
    players = [("random", at_random)]
    for seed in last:
        players += [
            (f"untrained, seed {seed}", first[seed].scores),
            (f"learnt, seed {seed}", last[seed].scores),
        ]
    clocks = []
    for seed, point in last.items():
        processor = f"{point.processor_seconds:.0f} s of processor time"
        clocks.append(f"seed {seed} {point.seconds:.0f} s ({processor})")
    times = (
        f"Training times, in one thread each and {PROCESSES} at a time: {'; '.join(clocks)}. "
        f"With all measurements and start-up: {total:.0f} s."
    )
    return ABOUT.format(
        table=table(players), steps=max(point.steps for point in points), times=times
    )


def main() -> None:
    """Train, and write ``learning.svg``, ``.csv``, ``.md`` and the weights of each seed."""
    parser = argparse.ArgumentParser(description="Learn TextCraft with MaskablePPO.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("runs/learning"))
    parser.add_argument(
        "--smoke", action="store_true", help="train for seconds only, and evaluate on a few goals"
    )
    arguments = parser.parse_args()
    started = time.perf_counter()
    arguments.out.mkdir(parents=True, exist_ok=True)
    groups, steps, between = all_groups(), STEPS, BETWEEN
    if arguments.smoke:
        groups = {FEW: groups[WHOLE][:: len(groups[WHOLE]) // SMOKE_GOALS]}
        steps = between = SMOKE_STEPS
    runs = [(seed, arguments.out, groups, steps, between) for seed in arguments.seeds]
    with get_context("spawn").Pool(min(len(runs), PROCESSES)) as pool:
        points: list[Point] = []
        for measured in pool.starmap(learn, runs, chunksize=1):
            points += measured
    at_random = play(RandomAgent(), groups)
    write_csv(arguments.out / "learning.csv", points)
    draw(arguments.out / "learning.svg", points, at_random)
    text = report(points, at_random, time.perf_counter() - started)
    (arguments.out / "learning.md").write_text(text, encoding="utf-8", newline="\n")
    print(text)


if __name__ == "__main__":
    main()
