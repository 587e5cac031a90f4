"""Estimates of success over tasks, each with an interval, from one or more episodes a task.

Episodes of one task are not independent of each other, nor are tasks of one family. One function,
``interval``, gives the 95% interval of every rate that the suite shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeVar

Z_95 = 1.959963984540054
Value = TypeVar("Value", float, Fraction)


class Outcomes(NamedTuple):
    """Outcomes of a task's episodes.

    Attributes:
        family: The family of the task; its own id where no other task is like it.
        won: Number of episodes won.
        episodes: Number of episodes, 1 or more.
    """

    family: str
    won: int
    episodes: int


@dataclass(frozen=True)
class Estimate:
    """Mean of a share over tasks with its 95% interval; the mean is None without tasks."""

    mean: float | None
    low: float
    high: float


UNKNOWN = Estimate(None, 0.0, 1.0)
"""The estimate of a rate of which nothing is known."""


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
    at_least_one: Estimate
    every: Estimate


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


def pass_rates(outcomes: Iterable[Outcomes]) -> tuple[PassRates, ...]:
    """Return the success with 1, 2, ... attempts.

    Tasks with fewer than ``k`` episodes, because some failed, are in no mean of ``k`` attempts.
    """
    outcomes = list(outcomes)
    rates = []
    for k in range(1, max((task.episodes for task in outcomes), default=0) + 1):
        known = [task for task in outcomes if task.episodes >= k]
        families = [task.family for task in known]
        episodes = sum(task.episodes for task in known)
        means = []
        for estimate in (pass_at_k, pass_hat_k):
            shares = [estimate(task.episodes, task.won, k) for task in known]
            means.append(interval(shares, episodes, families))
        rates.append(PassRates(k, len(known), *means))
    return tuple(rates)


def in_words(tasks: int, families: int) -> str:
    """Return numbers of tasks and families in words: ``200 tasks in 107 families``."""
    count = "1 task" if tasks == 1 else f"{tasks} tasks"
    if families == tasks:
        return count
    return f"{count} in {'1 family' if families == 1 else f'{families} families'}"


def success(outcomes: Iterable[Outcomes]) -> Estimate:
    """Return the mean over tasks of the share of episodes won, with its interval."""
    outcomes = list(outcomes)
    return interval(
        [task.won / task.episodes for task in outcomes],
        sum(task.episodes for task in outcomes),
        [task.family for task in outcomes],
    )


def interval(
    shares: Sequence[float],
    episodes: int,
    families: Sequence[object] | None = None,
    z: float = Z_95,
) -> Estimate:
    """Return the mean of a share over tasks, with its interval.

    The interval is Wilson's for the effective number of episodes: the number of independent
    episodes whose mean would vary as this one does between families, by the jackknife that leaves
    out a family at a time. It is at most the number of episodes, and at least what it would be if
    all episodes of a family came out alike. With one episode a task, and no two tasks of a family,
    it is their number. The variance between few families is itself uncertain, which Student's t
    makes up for.

    Sources: E. L. Korn and B. I. Graubard, Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data, Survey Methodology 24, 1998; for families
    of unequal sizes L. Kish, Survey Sampling, 1965; B. Efron and C. Stein, The jackknife estimate
    of variance, Annals of Statistics 9, 1981.

    Args:
        shares: The share of each task, from 0 to 1.
        episodes: Number of episodes of all these tasks, over all seeds.
        families: The family of each task; None if no two are alike.
        z: The normal quantile of the interval.
    """
    if not shares:
        return Estimate(None, *wilson_interval(0, 0, z))
    sums, sizes = by_family(shares, families)
    tasks, mean = len(shares), math.fsum(shares) / len(shares)
    least = tasks**2 / sum(size**2 for size in sizes)
    effective = least
    if len(sizes) > 1 and 0 < mean < 1:
        # Of independent episodes the mean varies by mean * (1 - mean) / number.
        variance = jackknife(mean, sums, sizes)
        certain = (z / _student(z, least - 1)) ** 2
        effective = certain * mean * (1 - mean) / variance if variance else episodes
        effective = max(least, min(episodes, effective))
    return Estimate(mean, *wilson_interval(mean * effective, effective, z))


def jackknife(mean: float, sums: Sequence[float], sizes: Sequence[int]) -> float:
    """Return the variance of a mean over tasks, by how it shifts without each of the families."""
    tasks, families = sum(sizes), len(sizes)
    shifts = []
    for total, size in zip(sums, sizes, strict=True):
        shifts.append((mean * size - total) / (tasks - size))
    return math.fsum(shift**2 for shift in shifts) * (families - 1) / families


def by_family(
    values: Sequence[Value],
    families: Sequence[object] | None,
) -> tuple[list[Value], list[int]]:
    """Return the sum of the tasks' values in each family, and its number of tasks.

    Args:
        values: The value of each task.
        families: The family of each task; None if no two are alike.
    """
    members: dict[object, list[Value]] = {}
    for value, family in zip(values, families or range(len(values)), strict=True):
        members.setdefault(family, []).append(value)
    sums = [sum(of_family[1:], of_family[0]) for of_family in members.values()]
    return sums, [len(of_family) for of_family in members.values()]


def _student(z: float, freedom: float) -> float:
    """Return the quantile of Student's t at the level of a normal one, by its expansion.

    Source: M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 1964, 26.7.5. With
    one degree of freedom it is too small, where ``interval`` has its lower bound anyway.
    """
    freedom = max(1.0, freedom)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


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
