"""Experiments behind the pages of results: each is played with several seeds, and kept as one row per task group."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, TypeAlias

from textcraft_gym.evaluation.metrics import Summary, summarise_by_group
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.runner import evaluate
from textcraft_gym.evaluation.spread import spread

SEEDS = range(5)
SPAN = 5
"""Span of the simulated model wherever a page shows one span only; the default of the model itself."""
FAULTS = {"false_claim": 0.2, "slip": 0.05, "misjudge": 0.1}
"""The standard faults: round numbers, chosen before any table was made, the same for every world and agent."""

Args: TypeAlias = tuple[tuple[str, Any], ...]


def simulated(span: int = SPAN, **changes: Any) -> str:
    """Return the simulated model with the standard faults, of which ``changes`` replaces some or adds options."""
    options = {"span": span, **FAULTS, **changes}
    return "simulated:" + ",".join(f"{name}={_literal(value)}" for name, value in options.items())


def _literal(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"


@dataclass(frozen=True)
class Experiment:
    """Runs that differ only in their seed.

    Attributes:
        env: Environment id.
        split: Split, played as a whole.
        agent: Name of the agent.
        args: Its arguments.
        model: Its model.
        planner: Another model for its planner; empty for the same one.
        env_args: Arguments of the environment.
        max_calls: Maximum number of completions per episode.
        workers: Number of concurrent episodes, which changes no result.
    """

    env: str
    split: str
    agent: str
    args: Args = ()
    model: str = simulated()
    planner: str = ""
    env_args: Args = ()
    max_calls: int = 1000
    workers: int = 1

    @property
    def name(self) -> str:
        """Everything that tells it from others, as one text."""
        parts = [self.env, self.split, *_pairs(self.env_args), self.agent, *_pairs(self.args), self.model]
        if self.planner:
            parts.append(f"planner={self.planner}")
        if self.max_calls != 1000:
            parts.append(f"max_calls={self.max_calls}")
        return " ".join(parts)

    def spec(self, seed: int) -> RunSpec:
        """Return the run with a seed."""
        return RunSpec(
            self.env,
            self.split,
            self.agent,
            dict(self.args),
            self.model,
            planner=self.planner or None,
            env_args=dict(self.env_args),
            seed=seed,
            max_calls=self.max_calls,
            workers=self.workers,
        )

    def folder(self, runs: Path, seed: int) -> Path:
        """Return the folder of the run with a seed."""
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:8]
        return runs / f"{re.sub(r'[^A-Za-z0-9.=-]+', '_', self.name)[:120]}_{digest}" / f"seed{seed}"


def _pairs(args: Args) -> list[str]:
    return [f"{name}={value}" for name, value in args]


@dataclass(frozen=True)
class Result:
    """One task group of an experiment, over all its runs. Rates are from 0 to 1.

    Attributes:
        rates: Success rate of each run, in the order of the seeds.
        tasks: Number of tasks in the group.
        errors: Episodes that ended with an error, over all runs.
        rate: Mean success rate.
        between_runs: Standard deviation of the success rate between runs.
        low, high: 95% interval of the rate over tasks.
        score: Mean reward.
        score_between_runs: Standard deviation of the mean reward between runs.
        calls: Mean number of completions per episode.
        steps: Mean number of actions per episode.
        k_max, k_max_won: Mean deepest level of decomposition, of all episodes and of those won; None without any.
        claimed: Share of episodes that the agent claimed to have won.
        precision: Share of the claimed episodes that were won; None without claims.
        recall: Share of the won episodes that were claimed; None without wins.
    """

    rates: tuple[float, ...]
    tasks: int
    errors: int
    rate: float
    between_runs: float
    low: float
    high: float
    score: float
    score_between_runs: float
    calls: float
    steps: float
    k_max: float
    k_max_won: float | None
    claimed: float
    precision: float | None
    recall: float | None


NUMBERS = [field for field in fields(Result) if field.name != "rates"]

Found: TypeAlias = Mapping[str, Mapping[str, Result]]
"""The results of experiments by their names, then by task group."""


def result(summaries: Sequence[Summary]) -> Result:
    """Return the result of one group from its summary in each run."""
    success = spread(summaries)
    scores = [summary.reward or 0.0 for summary in summaries]
    episodes = sum(summary.episodes for summary in summaries)
    claimed = sum(summary.claimed for summary in summaries)
    right = sum(summary.rightly_claimed for summary in summaries)
    won = sum(summary.won for summary in summaries)
    deepest = [summary.k_max_won for summary in summaries if summary.k_max_won is not None]
    return Result(
        rates=tuple(summary.rate or 0.0 for summary in summaries),
        tasks=summaries[0].episodes + summaries[0].errors,
        errors=sum(summary.errors for summary in summaries),
        rate=success.rate or 0.0,
        between_runs=success.between_runs or 0.0,
        low=success.low,
        high=success.high,
        score=fmean(scores),
        score_between_runs=stdev(scores) if len(scores) > 1 else 0.0,
        calls=fmean(sum(summary.calls.values()) for summary in summaries),
        steps=fmean(summary.steps or 0.0 for summary in summaries),
        k_max=fmean(summary.k_max or 0.0 for summary in summaries),
        k_max_won=fmean(deepest) if deepest else None,
        claimed=claimed / episodes if episodes else 0.0,
        precision=right / claimed if claimed else None,
        recall=right / won if won else None,
    )


def play(experiment: Experiment, runs: Path, seeds: Iterable[int] = SEEDS) -> dict[str, Result]:
    """Play the missing episodes of an experiment, and return its results by group."""
    by_run = [summarise_by_group(evaluate(experiment.spec(seed), experiment.folder(runs, seed))) for seed in seeds]
    return {group: result([of_run[group] for of_run in by_run]) for group in by_run[0]}


def play_all(experiments: Iterable[Experiment], runs: Path, on_played: Callable[[str], None] = print) -> Found:
    """Play experiments in parallel processes; an interrupted call continues where it stopped."""
    distinct = list(dict.fromkeys(experiments))
    found: dict[str, dict[str, Result]] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        pending = {pool.submit(play, experiment, runs): experiment for experiment in distinct}
        for count, future in enumerate(as_completed(pending), 1):
            name = pending[future].name
            found[name] = future.result()
            on_played(f"{count}/{len(distinct)} {name}: {100 * found[name]['all'].rate:.1f}%")
    return {experiment.name: found[experiment.name] for experiment in distinct}


def write_csv(found: Found) -> str:
    """Return results as CSV: a row for each experiment and group, numbers with six digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["experiment", "group", *(field.name for field in fields(Result))])
    for name, by_group in found.items():
        for group, of_group in by_group.items():
            writer.writerow([name, group, *(_shown(value) for value in asdict(of_group).values())])
    return text.getvalue()


def read_csv(text: str) -> Found:
    """Return the results that ``write_csv`` wrote."""
    found: dict[str, dict[str, Result]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        values: dict[str, Any] = {of.name: float(row[of.name]) if row[of.name] else None for of in NUMBERS}
        values["rates"] = tuple(map(float, row["rates"].split()))
        found.setdefault(row["experiment"], {})[row["group"]] = Result(**values)
    return found


def _shown(value: float | tuple[float, ...] | None) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_shown, value))
    return "" if value is None else f"{value:.6g}"
