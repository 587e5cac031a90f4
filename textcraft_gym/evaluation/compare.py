"""Two runs on the same tasks, compared task by task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from textcraft_gym.evaluation.metrics import Z_95


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


def compare(first: Iterable[Mapping[str, Any]], second: Iterable[Mapping[str, Any]]) -> Comparison:
    """Compare the episode records of two runs (see ``run_folder``), paired by task."""
    before, after = ({record["task"]: record for record in records} for records in (first, second))
    pairs = {
        task: (bool(before[task]["won"]), bool(after[task]["won"]))
        for task in sorted(before.keys() & after.keys())
        if not before[task].get("error") and not after[task].get("error")
    }
    outcomes = list(pairs.values())
    gained = tuple(task for task, pair in pairs.items() if pair == (False, True))
    lost = tuple(task for task, pair in pairs.items() if pair == (True, False))
    low, high = paired_interval(len(gained), len(lost), len(pairs))
    return Comparison(
        tasks=len(pairs),
        left_out=len(before.keys() | after.keys()) - len(pairs),
        both=outcomes.count((True, True)),
        neither=outcomes.count((False, False)),
        gained=gained,
        lost=lost,
        difference=(len(gained) - len(lost)) / len(pairs) if pairs else None,
        low=low,
        high=high,
        p_value=mcnemar_p_value(len(gained), len(lost)),
    )


def mcnemar_p_value(gained: int, lost: int) -> float:
    """Return the exact two-sided p-value for the null hypothesis that gains and losses are equally likely.

    Source: Q. McNemar, Note on the sampling error of the difference between correlated proportions, Psychometrika 12,
    1947; exact, by the binomial distribution.
    """
    flipped = gained + lost
    tail = sum(math.comb(flipped, k) for k in range(min(gained, lost) + 1))
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
