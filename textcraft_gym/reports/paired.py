"""Differences between runs on the same tasks: p-values, intervals, and what few tasks hide.

Where tasks form families, a family is what may change: its tasks' changes are one sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from statistics import NormalDist, fmean
from typing import NamedTuple

import numpy as np

from textcraft_gym.reports.success import by_family, interval, jackknife

FINEST = 60
"""Shares of a task are counted in steps of at least 1 in this number."""
SIGNIFICANT = 0.05
"""A difference is clear if its p-value is below this."""


class Adjusted(NamedTuple):
    """A p-value adjusted for several tests, and the level of an interval beside it."""

    p_value: float
    level: float


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
        adjusted[index] = Adjusted(largest, SIGNIFICANT / tests)
    return adjusted


def paired_p_value(
    changes: Sequence[Fraction],
    families: Sequence[object] | None = None,
) -> float:
    """Return the exact two-sided p-value of the null hypothesis: the runs are alike on every task.

    Then each family's change is as likely as its opposite. Changes by one whole task are McNemar's
    case.

    Args:
        changes: The change of each task.
        families: The family of each task; None if no two are alike.
    """
    sums, _ = by_family(changes, families)
    if any(change not in (-1, 0, 1) for change in sums):
        return sign_flip_p_value(sums)
    return mcnemar_p_value(sums.count(Fraction(1)), sums.count(Fraction(-1)))


def sign_flip_p_value(changes: Sequence[Fraction]) -> float:
    """Return the share of all choices of signs of the changes whose sum is as far from 0 as theirs.

    A change may be larger than 1.

    Source: R. A. Fisher, The Design of Experiments, 1935, section 21; E. J. G. Pitman, Significance
    tests which may be applied to samples from any populations, Supplement to the Journal of the
    Royal Statistical Society 4, 1937.
    """
    # In whole steps, so that the sums are indices.
    sizes = _in_steps(changes).tolist()
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


def paired_interval(
    changes: Sequence[Fraction],
    families: Sequence[object] | None = None,
    level: float = SIGNIFICANT,
) -> tuple[float, float]:
    """Return the interval of the mean change of a task, which is from -1 to 1.

    It excludes 0 exactly where ``paired_p_value`` is below the level. The mean is the product of
    how much families change and of the balance of gains and losses, from -1 to 1. That of the
    balance inverts the exact test; with changes of whole tasks it is Clopper and Pearson's. That of
    the size is ``success.interval``. The limits are the extremes of the product on the ellipse of
    both.

    Source: C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits illustrated in
    the case of the binomial, Biometrika 26, 1934.

    Args:
        changes: The change of each task.
        families: The family of each task; None if no two are alike.
        level: The level of the test; the interval covers the rest.
    """
    sums, sizes = by_family(changes, families)
    return _lower(sums, sizes, level), -_lower([-change for change in sums], sizes, level)


def _lower(sums: Sequence[Fraction], sizes: Sequence[int], level: float) -> float:
    steps = _in_steps(sums)
    moved, members = [], []  # of each task, as if its family's change were shared evenly
    for family, (change, tasks) in enumerate(zip(sums, sizes, strict=True)):
        moved += [abs(float(change)) / tasks] * tasks
        members += [family] * tasks
    z = -NormalDist().inv_cdf(level / 2)
    share = interval(moved, len(moved) * _scale(sums), members, z)
    total = int(np.abs(steps).sum())
    if not total or share.mean is None:  # nothing tells gains from losses
        return -share.high
    balance = int(steps.sum()) / total
    drop = balance - _least_balance(steps, paired_p_value(sums) < level, level / 2)
    angles = np.linspace(0, math.pi / 2, 301)
    ends = []
    for end in (share.low, share.high):
        size = float(share.mean) + (end - float(share.mean)) * np.sin(angles)
        ends.append(float(((balance - drop * np.cos(angles)) * size).min()))
    return max(-1.0, min(ends))


def _least_balance(sizes: np.ndarray, is_clear: bool, tail: float) -> float:
    """Return the balance at which sums as large as that of the changes have the chance ``tail``.

    A change of size ``v`` is a gain with the odds ``exp(2 * tilt * v)``; at the tilt 0 that is the
    null hypothesis of the exact test.

    Args:
        sizes: The changes in whole steps.
        is_clear: Whether the test rejects its null hypothesis.
        tail: The chance.
    """
    observed, weights = int(sizes.sum()), np.abs(sizes[sizes != 0]).astype(float)
    total = float(weights.sum())
    if observed == -total:
        return -1.0

    def expected(tilt: float) -> float:
        return float((weights * np.tanh(tilt * weights)).sum())

    # The chances of all sums about the observed one, so that none that matters is rounded to 0.
    middle = _root(lambda tilt: expected(tilt) - min(observed, total - 0.5), -20.0, 20.0)
    chances = np.ones(1)
    for size in weights.astype(int):
        gain = 1 / (1 + math.exp(-2 * middle * size))
        longer = np.zeros(len(chances) + 2 * size)
        longer[2 * size :] = gain * chances
        longer[: len(chances)] += (1 - gain) * chances
        chances = longer
    sums = np.arange(-total, total + 1) - observed
    with np.errstate(divide="ignore"):
        logs = np.log(chances)

    def excess(tilt: float) -> float:
        tilted = logs + (tilt - middle) * sums
        shares = np.exp(tilted - tilted.max())
        return float(shares[sums >= 0].sum() / shares.sum()) - tail

    if is_clear and observed > 0:
        return expected(_root(excess, 0.0, middle)) / total
    highest = min(0.0, middle)
    lowest = highest - 1 / total
    while excess(lowest) > 0:
        lowest = 2 * lowest - highest
    return expected(_root(excess, lowest, highest)) / total


def _root(
    function: Callable[[float], float],
    low: float,
    high: float,
) -> float:
    """Return where a growing function is 0, between two values; never the lower of them."""
    # It leaves less than a billionth of the range.
    for _ in range(40):
        middle = (low + high) / 2
        if function(middle) > 0:
            high = middle
        else:
            low = middle
    return high


def _scale(changes: Sequence[Fraction]) -> int:
    """Return the number of steps of a whole task, in which changes are counted."""
    return min(FINEST, math.lcm(*(change.denominator for change in changes)))


def _in_steps(changes: Sequence[Fraction]) -> np.ndarray:
    scale = _scale(changes)
    return np.array([round(change * scale) for change in changes], dtype=np.int64)


def power(
    tasks: int,
    families: int,
    repeats: int = 1,
    pairs: int = 1,
) -> str:
    """Return from which difference on a p-value can be below ``SIGNIFICANT``, as a sentence.

    The least p-value is that of as many families with a task gained and none lost. With repeats a
    task may change by a part, so that only too few families can be told.

    Args:
        tasks: Number of tasks.
        families: Number of their families.
        repeats: Largest number of episodes of one task.
        pairs: Number of pairs for which p-values are adjusted.
    """
    least = least_changes(pairs)
    of_families = f" in {families} families" if families < tasks else ""
    of_pairs = f" and {pairs} pairs of runs" if pairs > 1 else ""
    few = f"With {tasks} {'task' if tasks == 1 else 'tasks'}{of_families}{of_pairs}"
    if families < least:
        return f"{few} no difference can reach p < {SIGNIFICANT:g}."
    if repeats > 1:
        return ""
    points = f"{100 * least / tasks:.3g} points"
    if pairs > 1:
        return f"{few} nothing can reach p < {SIGNIFICANT:g} unless one pair differs by {points}."
    return f"{few} nothing below {points} can reach p < {SIGNIFICANT:g}."


def least_changes(pairs: int = 1, level: float = SIGNIFICANT) -> int:
    """Return how many families must change, all in one direction, for a p-value to be clear.

    Args:
        pairs: Number of pairs for which p-values are adjusted.
        level: The level below which it is clear.
    """
    least = 1
    while pairs * mcnemar_p_value(least, 0) >= level:
        least += 1
    return least


def decidable(families: Sequence[int]) -> int:
    """Return of how many pairs at most the adjusted p-values can be below ``SIGNIFICANT`` at once.

    At best all families of a pair change the same way.

    Args:
        families: The number of families of tasks of each pair.
    """
    adjusted = holm([mcnemar_p_value(count, 0) for count in families])
    return sum(p_value < SIGNIFICANT for p_value, _ in adjusted)


@cache
def fisher_p_value(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the exact two-sided p-value of the null hypothesis: two shares are alike.

    Source: R. A. Fisher, The logic of inductive inference, Journal of the Royal Statistical Society
    98, 1935; two-sided by the tables that are at most as likely as the observed one.

    Args:
        first: The successes and the trials of the one.
        second: Those of the other.
    """
    (won, episodes), (other_won, others) = first, second
    total = won + other_won
    least, most = max(0, total - others), min(episodes, total)
    ways = [math.comb(episodes, least) * math.comb(others, total - least)]
    for count in range(least, most):  # each from the one before, which is quicker than by itself
        more = ways[-1] * (episodes - count) * (total - count)
        ways.append(more // ((count + 1) * (others - total + count + 1)))
    observed = ways[won - least]
    return sum(way for way in ways if way <= observed) / sum(ways)


def sum_of_means_interval(
    samples: Sequence[tuple[Sequence[Fraction], Sequence[object]]],
    level: float = SIGNIFICANT,
) -> tuple[float, float]:
    """Return the normal interval of the sum of the means of independent samples of tasks.

    It is meant for samples of tens of families of tasks; its variance is the jackknife's.

    Args:
        samples: A value of each task, such as its calls, and the families of these tasks, two at
            least.
        level: The level of the test; the interval covers the rest.
    """
    total = squares = 0.0
    for values, families in samples:
        mean = float(sum(values) / len(values))
        sums, sizes = by_family(values, families)
        total += mean
        squares += jackknife(mean, [*map(float, sums)], sizes)
    reach = -NormalDist().inv_cdf(level / 2) * math.sqrt(squares)
    return total - reach, total + reach


def episodes_for_power(
    first: float,
    second: float,
    level: float = SIGNIFICANT,
    chance: float = 0.8,
) -> int:
    """Return about how many paired episodes McNemar's test takes to tell two success rates apart.

    The two players' episodes of a task are taken to be independent, each with its player's rate.

    Source: R. J. Connett, J. A. Smith and R. B. McHugh, Sample size and power for pair-matched
    case-control studies, Statistics in Medicine 6, 1987.

    Args:
        first: The one rate.
        second: The other, which differs.
        level: The level of the test.
        chance: The chance that it tells them apart.
    """
    flips = first * (1 - second) + second * (1 - first)
    difference = first - second
    z_level, z_chance = -NormalDist().inv_cdf(level / 2), NormalDist().inv_cdf(chance)
    spread = math.sqrt(max(0.0, flips - difference**2))
    about = math.ceil((z_level * math.sqrt(flips) + z_chance * spread) ** 2 / difference**2)
    return max(about, least_changes(level=level))
