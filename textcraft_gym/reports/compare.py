"""Runs on the same tasks, compared task by task by the share of its episodes won."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from textcraft_gym.reports.metrics import Errors, outcome_of
from textcraft_gym.reports.success import Z_95
from textcraft_gym.reports.tables import codes

SIGNIFICANT = 0.05
"""A difference is clear if its p-value is below this."""
FINEST = 60
"""Differences between shares of a task are tested in steps of at least 1 in this number."""
_SETTINGS = (
    "env",
    "split",
    "wrappers",
    "seed",
    "limit",
    "tasks",
    "max_steps",
    "max_calls",
    "reading",
    "won_at",
    "repeats",
    "temperature",
    "env_sha256",
    "tasks_sha256",
    "version",
)
_SHOWN = 40
"""Maximum number of characters of a setting that are shown."""


@dataclass(frozen=True)
class Comparison:
    """Paired comparison on the tasks of which both runs have an outcome.

    Attributes:
        tasks: Number of these tasks.
        left_out: Number of tasks that only one run has, or of which one of them has only errors or
            unknown outcomes.
        repeats: Largest number of episodes of one task.
        both: Number of tasks that both runs won equally often, at least once.
        neither: Number of tasks that neither run won.
        gained: Tasks that the second run won more often; with one episode a task, those that only
            it won.
        lost: Tasks that the first run won more often.
        difference: Success rate of the second run minus that of the first; None without tasks.
        low, high: Its 95% interval, over tasks.
        p_value: Exact two-sided p-value: McNemar's, or with repeats that of the sign-flip test.
    """

    tasks: int
    left_out: int
    repeats: int
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
        won: Number of the shared tasks that it won; with repeats the sum of the shares won.
        behind: The best run compared with this one, so that the difference is how far this one is
            behind; None for the best run itself.
        p_value: The p-value of that difference, adjusted for all pairs of runs; None for the best
            run.
    """

    run: str
    won: float
    behind: Comparison | None
    p_value: float | None

    @property
    def is_clear(self) -> bool:
        """Whether it is behind by more than chance explains."""
        return self.p_value is not None and self.p_value < SIGNIFICANT


@dataclass(frozen=True)
class Verdict:
    """Ranking of runs by the tasks of which all of them have an outcome.

    Attributes:
        tasks: Number of these tasks.
        left_out: Number of tasks that a run lacks, or of which it has only errors or unknown
            outcomes.
        repeats: Largest number of episodes of one task.
        pairs: Number of pairs of runs, for which the p-values are adjusted.
        standings: The runs, best first; runs that won equally many are in the order given.
    """

    tasks: int
    left_out: int
    repeats: int
    pairs: int
    standings: tuple[Standing, ...]

    @property
    def winner(self) -> str | None:
        """The best run, if every other is clearly behind it."""
        best, *others = self.standings
        return best.run if others and all(other.is_clear for other in others) else None


@dataclass(frozen=True)
class _Pairing:
    """The outcomes of runs on the tasks that they share.

    Attributes:
        shares: For each run, the share of the episodes won, by task.
        left_out: Number of other tasks.
        repeats: Largest number of episodes of one task.
    """

    shares: list[dict[str, Fraction]]
    left_out: int
    repeats: int


def unlike(configs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what differs between runs besides agent, model and prompts, with every run's value.

    A difference of success may come from any of it.

    Args:
        configs: The configs of the runs, as ``read_config`` returns them.
    """
    settings = [_settings(config) for config in configs]
    names: dict[str, None] = {}  # in the order of the first run that has them
    for setting in settings:
        names |= dict.fromkeys(setting)

    differences = []
    for name in names:
        values = [setting.get(name, "not given") for setting in settings]
        if len(set(values)) > 1:
            differences.append(f"{name}: {', '.join(map(_brief, values))}")
    return differences


def _brief(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _settings(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of a run that decide what is played, and how it is counted, in words."""
    settings = {name: config.get(name) for name in _SETTINGS}
    arguments = config.get("env_args")
    if isinstance(arguments, Mapping):
        settings |= arguments
    else:
        settings["env_args"] = arguments
    settings["code"] = " and ".join(codes(config))
    return {name: str(value) for name, value in settings.items() if value is not None}


def compare(
    first: Iterable[Mapping[str, Any]],
    second: Iterable[Mapping[str, Any]],
    *,
    errors: Errors = "exclude",
) -> Comparison:
    """Compare the episode records of two runs (see ``records.py``), paired by task.

    Args:
        first: The records of one run.
        second: The records of the other.
        errors: Whether episodes that broke are left out, or count as lost.
    """
    pairing = _paired([first, second], errors)
    before, after = pairing.shares
    return _compare(before, after, pairing)


def verdict(
    runs: Mapping[str, Iterable[Mapping[str, Any]]], *, errors: Errors = "exclude"
) -> Verdict:
    """Rank runs by their episode records, paired by task; ``errors`` as in ``compare``.

    Each pair of runs is compared, since the best and the next best are known only afterwards:
    Holm's adjustment for all pairs keeps the chance that any difference is wrongly called clear
    below ``SIGNIFICANT``.
    """
    pairing = _paired(runs.values(), errors)
    shares = dict(zip(runs, pairing.shares, strict=True))
    won = {run: sum(of_run.values()) for run, of_run in shares.items()}
    ranked = sorted(won, key=lambda run: -won[run])

    pairs = list(combinations(ranked, 2))
    comparisons = [_compare(shares[worse], shares[better], pairing) for better, worse in pairs]
    p_values = holm([comparison.p_value for comparison in comparisons])
    behind: dict[str, tuple[Comparison, float]] = {}
    for (better, worse), comparison, p_value in zip(pairs, comparisons, p_values, strict=True):
        if better == ranked[0]:
            behind[worse] = comparison, p_value

    standings = []
    for run in ranked:
        comparison_and_p_value = behind.get(run, (None, None))
        standings.append(Standing(run, float(won[run]), *comparison_and_p_value))
    return Verdict(
        tasks=len(pairing.shares[0]),
        left_out=pairing.left_out,
        repeats=pairing.repeats,
        pairs=len(pairs),
        standings=tuple(standings),
    )


def _paired(runs: Iterable[Iterable[Mapping[str, Any]]], errors: Errors) -> _Pairing:
    counts = [_counts_by_task(records, errors) for records in runs]
    known = []
    for of_run in counts:
        known.append({task for task, count in of_run.items() if count.episodes})
    shared = sorted(set.intersection(*known))

    shares = []
    repeats = 1
    for of_run in counts:
        shares.append({task: _share(of_run[task]) for task in shared})
        repeats = max([repeats, *(of_run[task].episodes for task in shared)])
    return _Pairing(shares, len(set().union(*counts)) - len(shared), repeats)


class _Count(NamedTuple):
    """How many of the episodes of a task were won, of those of which that is known."""

    won: int = 0
    episodes: int = 0


def _counts_by_task(records: Iterable[Mapping[str, Any]], errors: Errors) -> dict[str, _Count]:
    counts: dict[str, _Count] = {}
    left_out = ("unknown",) if errors == "count" else ("unknown", "error")
    for record in records:
        outcome = outcome_of(record)
        # A task of which no episode counts is known, too.
        count = counts.setdefault(record["task"], _Count())
        if outcome not in left_out:
            counts[record["task"]] = _one_more(count, outcome == "won")
    return counts


@cache  # so that the many tasks of a large run share few objects
def _one_more(count: _Count, won: bool) -> _Count:
    return _Count(count.won + won, count.episodes + 1)


@cache
def _share(count: _Count) -> Fraction:
    return Fraction(count.won, count.episodes)


def _compare(
    before: Mapping[str, Fraction], after: Mapping[str, Fraction], pairing: _Pairing
) -> Comparison:
    gained, lost = [], []
    both = neither = 0
    for task, share in before.items():
        if after[task] > share:
            gained.append(task)
        elif after[task] < share:
            lost.append(task)
        elif share:
            both += 1
        else:
            neither += 1

    changes = [after[task] - before[task] for task in before]
    low, high = paired_interval(changes)
    return Comparison(
        tasks=len(changes),
        left_out=pairing.left_out,
        repeats=pairing.repeats,
        both=both,
        neither=neither,
        gained=tuple(gained),
        lost=tuple(lost),
        difference=float(sum(changes) / len(changes)) if changes else None,
        low=low,
        high=high,
        p_value=paired_p_value(changes),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for their number, so that one level suits all at once.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal
    of Statistics 6, 1979.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0  # an adjusted p-value is never below that of a smaller one
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
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
