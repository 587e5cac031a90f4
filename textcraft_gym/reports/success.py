"""Estimates of success over tasks, each with an interval, from one or more episodes a task.

Episodes of one task are not independent of each other, so that intervals are over tasks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean, variance

import numpy as np

Z_95 = 1.959963984540054
TAIL = 0.025
"""Share of draws below a 95% interval, and above it."""
FINEST = 60
"""Shares of a task are counted in steps of at least 1 in this number."""


@dataclass(frozen=True)
class TaskMean:
    """The mean of a share over tasks, with its 95% interval; the mean is None without tasks."""

    mean: float | None
    low: float
    high: float


@dataclass(frozen=True)
class PassRates:
    """Success with ``k`` attempts at a task.

    Attributes:
        k: Number of attempts.
        tasks: Number of tasks with as many episodes or more, over which the means are.
        at_least_one: ``pass@k``, the chance that at least one of ``k`` attempts wins.
        every: ``pass^k``, the chance that all of ``k`` attempts win.
    """

    k: int
    tasks: int
    at_least_one: TaskMean
    every: TaskMean


def pass_at_k(episodes: int, won: int, k: int) -> float:
    """Return the unbiased estimate of the chance that one or more of ``k`` attempts win.

    Source: Chen et al., Evaluating Large Language Models Trained on Code, 2021, equation 1.

    Args:
        episodes: Number of episodes of the task, at least ``k``.
        won: Number of these that were won.
        k: Number of attempts.
    """
    return 1 - math.comb(episodes - won, k) / math.comb(episodes, k)


def pass_hat_k(episodes: int, won: int, k: int) -> float:
    """Return the unbiased estimate of the chance that all of ``k`` attempts win; see ``pass_at_k``.

    Source: Yao et al., tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World
    Domains, 2024, section 3.
    """
    return math.comb(won, k) / math.comb(episodes, k)


def pass_rates(counts: Iterable[tuple[int, int]]) -> tuple[PassRates, ...]:
    """Return the success with 1, 2, ... attempts.

    Tasks with fewer than ``k`` episodes, of which some failed, are in no mean of ``k`` attempts.

    Args:
        counts: The number of episodes of each task, and of those won.
    """
    counts = list(counts)
    most = max((episodes for episodes, _ in counts), default=0)
    rates = []
    for k in range(1, most + 1):
        known = [(episodes, won) for episodes, won in counts if episodes >= k]
        played = sum(episodes for episodes, _ in known)
        at_least_one = mean_over_tasks([pass_at_k(*count, k) for count in known], played)
        every = mean_over_tasks([pass_hat_k(*count, k) for count in known], played)
        rates.append(PassRates(k, len(known), at_least_one, every))
    return tuple(rates)


def mean_over_tasks(
    shares: Sequence[float],
    episodes: int,
    z: float = Z_95,
) -> TaskMean:
    """Return the mean of a share over tasks, with a Wilson interval.

    The interval is that for the effective number of episodes, which is the number of independent
    episodes whose mean would vary as it does between these tasks: at least the number of tasks, as
    if all episodes of a task were one, and at most the number of episodes. With one episode a task
    it is their number.

    Source: E. L. Korn and B. I. Graubard, Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data, Survey Methodology 24, 1998.

    Args:
        shares: The share of each task, from 0 to 1.
        episodes: Number of episodes of all these tasks.
        z: The normal quantile of the interval.
    """
    if not shares:
        return TaskMean(None, *wilson_interval(0, 0, z))
    tasks, mean = len(shares), fmean(shares)
    # Of independent episodes the mean varies by mean * (1 - mean) / number, of these tasks by
    # spread / tasks.
    spread = variance(shares) if tasks > 1 else 0.0
    if mean in (0, 1):
        effective: float = tasks
    elif not spread:
        effective = episodes
    else:
        effective = mean * (1 - mean) / spread * tasks
    effective = max(tasks, min(episodes, effective))
    return TaskMean(mean, *wilson_interval(math.fsum(shares) * effective / tasks, effective, z))


def cluster_bootstrap(shares: Sequence[Fraction]) -> tuple[float, float]:
    """Return the 95% interval of the mean of a share over tasks, by the bootstrap over tasks.

    A task with all its episodes is drawn or not. The interval is that of endlessly many draws: the
    chances of each sum are a power of those of one share. Where all tasks are alike, and draws tell
    nothing, it is Wilson's for their number.

    Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.

    Args:
        shares: The share of each task, from 0 to 1.
    """
    tasks = len(shares)
    if len(set(shares)) < 2:
        return wilson_interval(float(sum(shares)), tasks)
    scale = min(FINEST, math.lcm(*(share.denominator for share in shares)))
    chances = np.bincount([round(share * scale) for share in shares], minlength=scale + 1) / tasks
    length = tasks * scale + 1
    of_sums = np.fft.irfft(np.fft.rfft(chances, 2 * length) ** tasks, 2 * length)[:length]
    low, high = np.searchsorted(np.cumsum(of_sums), (TAIL, 1 - TAIL))
    return float(low) / (tasks * scale), float(high) / (tasks * scale)


def wilson_interval(
    successes: float,
    trials: float,
    z: float = Z_95,
) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion; (0, 1) without trials.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA
    22, 1927.
    """
    if not trials:
        return 0.0, 1.0
    rate = min(1.0, successes / trials)  # sums of shares are rounded
    scale = 1 + z * z / trials
    centre = (rate + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    # Rounding can put the bounds slightly outside of 0 to 1.
    return max(0.0, centre - half), min(1.0, centre + half)
