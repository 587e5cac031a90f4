"""Differences between runs on the same tasks: p-values, intervals, and what few tasks hide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist, fmean
from typing import NamedTuple

import numpy as np

from textcraft_gym.reports.success import FINEST, Z_95

SIGNIFICANT = 0.05
"""A difference is clear if its p-value is below this."""


class Adjusted(NamedTuple):
    """A p-value adjusted for several tests, and the normal quantile of an interval beside it."""

    p_value: float
    z: float


def holm(p_values: Sequence[float]) -> list[Adjusted]:
    """Return p-values adjusted for their number, so that one level suits all at once.

    An interval beside one is of the level at which its step of the procedure tests; all that come
    after the first that is not rejected have its level.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal
    of Statistics 6, 1979.
    """
    adjusted = [Adjusted(0.0, 0.0)] * len(p_values)
    largest = 0.0  # an adjusted p-value is never below that of a smaller one
    tests = len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if largest < SIGNIFICANT:
            tests = len(p_values) - rank
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        z = -NormalDist().inv_cdf(SIGNIFICANT / (2 * tests))
        adjusted[index] = Adjusted(largest, z)
    return adjusted


def paired_p_value(changes: Sequence[Fraction]) -> float:
    """Return the exact two-sided p-value of the null hypothesis: the runs are alike on every task.

    Then each task's change is as likely as its opposite. Changes of a whole task only are McNemar's
    case.
    """
    if any(change.denominator > 1 for change in changes):
        return sign_flip_p_value(changes)
    gained = sum(change > 0 for change in changes)
    lost = sum(change < 0 for change in changes)
    return mcnemar_p_value(gained, lost)


def sign_flip_p_value(changes: Sequence[Fraction]) -> float:
    """Return the share of all choices of signs of the changes whose sum is as far from 0 as theirs.

    Source: R. A. Fisher, The Design of Experiments, 1935, section 21; E. J. G. Pitman, Significance
    tests which may be applied to samples from any populations, Supplement to the Journal of the
    Royal Statistical Society 4, 1937.
    """
    # In whole steps, so that the sums are indices.
    scale = min(FINEST, math.lcm(*(change.denominator for change in changes)))
    sizes = [round(change * scale) for change in changes]
    reach = sum(map(abs, sizes))
    # The chance of each sum from -reach to reach.
    chances = np.zeros(2 * reach + 1)
    chances[reach] = 1.0
    for size in filter(None, sizes):
        chances = (np.roll(chances, size) + np.roll(chances, -size)) / 2  # no sum is beyond reach
    sums = np.abs(np.arange(-reach, reach + 1))
    return min(1.0, float(chances[sums >= abs(sum(sizes))].sum()))


def mcnemar_p_value(gained: int, lost: int) -> float:
    """Return the exact two-sided p-value of the null hypothesis: as many gains as losses.

    Source: Q. McNemar, Note on the sampling error of the difference between correlated proportions,
    Psychometrika 12, 1947; exact, by the binomial distribution.
    """
    flipped = gained + lost
    # Each binomial coefficient comes from the one before: by itself it takes long for thousands of
    # tasks.
    tail = ways = 1
    for k in range(min(gained, lost)):
        ways = ways * (flipped - k) // (k + 1)
        tail += ways
    # Twice the smaller tail exceeds 1 when gains equal losses, since the middle is in both tails.
    return min(1.0, 2 * tail / (1 << flipped))


def two_sample_p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p-value of Student's t-test for two samples.

    It is 1 where no sample varies and their means agree.
    """
    difference = abs(fmean(first) - fmean(second))
    if not difference:
        return 1.0
    freedom = len(first) + len(second) - 2
    squares = sum((value - fmean(sample)) ** 2 for sample in (first, second) for value in sample)
    error = math.sqrt(squares / freedom * (1 / len(first) + 1 / len(second)))

    def tail(angle: float, steps: int = 2000) -> float:
        """Return the integral of the density beyond t.

        The angle is that whose tangent is t over the root of the degrees of freedom.
        """
        width = (math.pi / 2 - angle) / steps
        return width * sum(
            math.cos(angle + (step + 0.5) * width) ** (freedom - 1) for step in range(steps)
        )

    return tail(math.atan2(difference, error * math.sqrt(freedom))) / tail(0.0)


def paired_interval(changes: Sequence[Fraction], z: float = Z_95) -> tuple[float, float]:
    """Return the adjusted Wald interval of the mean change of a task, which is from -1 to 1.

    Source: D. G. Bonett and R. M. Price, Adjusted Wald confidence interval for a difference of
    binomial proportions based on paired data, Journal of Educational and Behavioral Statistics 37,
    2012; there with changes of whole tasks.
    """
    # The adjustment adds one gained and one lost task, so that small samples keep their coverage.
    tasks = len(changes) + 2
    mean = float(sum(changes)) / tasks
    square = (float(sum(change * change for change in changes)) + 2) / tasks
    half = z * math.sqrt((square - mean * mean) / tasks)
    return max(-1.0, mean - half), min(1.0, mean + half)


def power(tasks: int, repeats: int = 1, pairs: int = 1) -> str:
    """Return from which difference on a p-value can be below ``SIGNIFICANT``, as a sentence.

    With one episode a task the least p-value is that of as many tasks gained and none lost. With
    repeats a task may change by a part, so that only too few tasks can be told.

    Args:
        tasks: Number of tasks.
        repeats: Largest number of episodes of one task.
        pairs: Number of pairs for which p-values are adjusted.
    """
    least = 1
    while pairs * mcnemar_p_value(least, 0) >= SIGNIFICANT:
        least += 1
    of_pairs = f" and {pairs} pairs of runs" if pairs > 1 else ""
    few = f"With {tasks} {'task' if tasks == 1 else 'tasks'}{of_pairs}"
    if tasks < least:
        return f"{few} no difference can reach p < {SIGNIFICANT:g}."
    if repeats > 1:
        return ""
    points = f"{100 * least / tasks:.3g} points"
    if pairs > 1:
        return f"{few} nothing can reach p < {SIGNIFICANT:g} unless one pair differs by {points}."
    return f"{few} nothing below {points} can reach p < {SIGNIFICANT:g}."
