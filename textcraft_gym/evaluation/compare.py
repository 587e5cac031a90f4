"""Runs on the same tasks, compared task by task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from textcraft_gym.evaluation.metrics import Z_95

SIGNIFICANT = 0.05
"""A difference is clear if its p-value is below this."""


@dataclass(frozen=True)
class Comparison:
    """Paired comparison on the tasks that both runs played without an error.

    Attributes:
        tasks: Number of these tasks.
        left_out: Number of tasks that only one run has, or that one of them has an error on.
        both, neither: Number of tasks won by both runs, and by neither.
        gained: Tasks that only the second run won.
        lost: Tasks that only the first run won.
        difference: Success rate of the second run minus that of the first; None without tasks.
        low, high: Its 95% interval.
        p_value: McNemar's exact two-sided p-value.
    """

    tasks: int
    left_out: int
    both: int
    neither: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    difference: float | None
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Standing:
    """A run among others.

    Attributes:
        run: Its name.
        won: Number of the shared tasks that it won.
        behind: The best run compared with this one, so that the difference is how far this one is behind; None for the
            best run itself.
        p_value: McNemar's p-value of that difference, adjusted for all pairs of runs; None for the best run.
    """

    run: str
    won: int
    behind: Comparison | None
    p_value: float | None

    @property
    def is_clear(self) -> bool:
        """Whether it is behind by more than chance explains."""
        return self.p_value is not None and self.p_value < SIGNIFICANT


@dataclass(frozen=True)
class Verdict:
    """Ranking of runs by the tasks that all of them played without an error.

    Attributes:
        tasks: Number of these tasks.
        left_out: Number of tasks that a run lacks, or has an error on.
        pairs: Number of pairs of runs, for which the p-values are adjusted.
        standings: The runs, best first; runs that won equally many are in the order given.
    """

    tasks: int
    left_out: int
    pairs: int
    standings: tuple[Standing, ...]

    @property
    def winner(self) -> str | None:
        """The best run, if every other is clearly behind it."""
        best, *others = self.standings
        return best.run if others and all(other.is_clear for other in others) else None


def compare(first: Iterable[Mapping[str, Any]], second: Iterable[Mapping[str, Any]]) -> Comparison:
    """Compare the episode records of two runs (see ``run_folder``), paired by task."""
    (before, after), tasks, left_out = _paired([first, second])
    return _compare(before, after, tasks, left_out)


def verdict(runs: Mapping[str, Iterable[Mapping[str, Any]]]) -> Verdict:
    """Rank runs by their episode records, paired by task.

    Each pair of runs is compared, since the best and the next best are known only afterwards: Holm's adjustment for all
    pairs keeps the chance that any difference is wrongly called clear below ``SIGNIFICANT``.
    """
    outcomes, tasks, left_out = _paired(runs.values())
    won = {run: {task: of_run[task] for task in tasks} for run, of_run in zip(runs, outcomes, strict=True)}
    ranked = sorted(won, key=lambda run: -sum(won[run].values()))
    found = {pair: _compare(won[pair[1]], won[pair[0]], tasks, left_out) for pair in combinations(ranked, 2)}
    p_values = dict(zip(found, holm([comparison.p_value for comparison in found.values()]), strict=True))
    standings = (
        Standing(run, sum(won[run].values()), found.get((ranked[0], run)), p_values.get((ranked[0], run)))
        for run in ranked
    )
    return Verdict(len(tasks), left_out, len(found), tuple(standings))


def _paired(runs: Iterable[Iterable[Mapping[str, Any]]]) -> tuple[list[dict[str, bool]], list[str], int]:
    """Return who won what, the tasks that all runs played without an error, and the number of all others."""
    by_task = [{record["task"]: record for record in records} for records in runs]
    outcomes = [
        {task: bool(record["won"]) for task, record in records.items() if not record.get("error")}
        for records in by_task
    ]
    shared = set.intersection(*map(set, outcomes))
    return outcomes, sorted(shared), len(set().union(*by_task)) - len(shared)


def _compare(before: Mapping[str, bool], after: Mapping[str, bool], tasks: Sequence[str], left_out: int) -> Comparison:
    gained = tuple(task for task in tasks if after[task] and not before[task])
    lost = tuple(task for task in tasks if before[task] and not after[task])
    low, high = paired_interval(len(gained), len(lost), len(tasks))
    return Comparison(
        tasks=len(tasks),
        left_out=left_out,
        both=sum(before[task] and after[task] for task in tasks),
        neither=sum(not before[task] and not after[task] for task in tasks),
        gained=gained,
        lost=lost,
        difference=(len(gained) - len(lost)) / len(tasks) if tasks else None,
        low=low,
        high=high,
        p_value=mcnemar_p_value(len(gained), len(lost)),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number, so that all can be compared with one level at once.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6,
    1979.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def mcnemar_p_value(gained: int, lost: int) -> float:
    """Return the exact two-sided p-value for the null hypothesis that gains and losses are equally likely.

    Source: Q. McNemar, Note on the sampling error of the difference between correlated proportions, Psychometrika 12,
    1947; exact, by the binomial distribution.
    """
    flipped = gained + lost
    tail = ways = 1  # binomial coefficients one from the other, since each by itself takes long for thousands of tasks
    for k in range(min(gained, lost)):
        ways = ways * (flipped - k) // (k + 1)
        tail += ways
    # Twice the smaller tail exceeds 1 when gains equal losses, since the middle is in both tails.
    return min(1.0, 2 * tail / (1 << flipped))


def paired_interval(gained: int, lost: int, tasks: int, z: float = Z_95) -> tuple[float, float]:
    """Return the adjusted Wald interval of a difference of paired proportions.

    Source: D. G. Bonett and R. M. Price, Adjusted Wald confidence interval for a difference of binomial proportions
    based on paired data, Journal of Educational and Behavioral Statistics 37, 2012.
    """
    # The adjustment adds one gained and one lost task, so that small samples keep their coverage.
    gain, loss = (gained + 1) / (tasks + 2), (lost + 1) / (tasks + 2)
    half = z * math.sqrt((gain + loss - (gain - loss) ** 2) / (tasks + 2))
    return max(-1.0, gain - loss - half), min(1.0, gain - loss + half)
