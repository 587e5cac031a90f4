"""Success over several runs of the same tasks that differ only in their seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from textcraft_gym.reports.metrics import Summary
from textcraft_gym.reports.success import wilson_interval


@dataclass(frozen=True)
class Spread:
    """Success of several runs: how far the runs differ, and how far the tasks leave it open.

    Attributes:
        runs: Number of runs with an episode without an error.
        rate: Mean of their success rates, from 0 to 1; None without such a run.
        between_runs: Sample standard deviation of their success rates; None with fewer than two
            runs.
        low, high: 95% Wilson interval of the mean rate for the number of tasks of one run. More
            seeds do not narrow it, since they play the same tasks.
    """

    runs: int
    rate: float | None
    between_runs: float | None
    low: float
    high: float

    def __str__(self) -> str:
        """Return mean, spread and interval in percent, such as ``43.1 ± 1.9 [36.4, 50.1]``."""
        if self.rate is None:
            return "-"
        spread = "" if self.between_runs is None else f" ± {100 * self.between_runs:.1f}"
        return f"{100 * self.rate:.1f}{spread} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def spread(summaries: Sequence[Summary]) -> Spread:
    """Return the success over runs, of which each summary is one run's."""
    rates = [summary.rate for summary in summaries if summary.rate is not None]
    if not rates:
        return Spread(0, None, None, *wilson_interval(0, 0))
    tasks = fmean(summary.tasks for summary in summaries if summary.rate is not None)
    low, high = wilson_interval(fmean(rates) * tasks, tasks)
    between_runs = stdev(rates) if len(rates) > 1 else None
    return Spread(len(rates), fmean(rates), between_runs, low, high)
