"""Runs on the same tasks, compared task by task by the share of its episodes won."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

from textcraft_gym.reports.metrics import Errors, outcome_of
from textcraft_gym.reports.paired import (
    SIGNIFICANT,
    holm,
    paired_interval,
    paired_p_value,
    power,
)
from textcraft_gym.reports.success import Outcomes

MIN_SHARED = 0.5
"""Runs are compared if they share this share of the tasks of the larger one."""


@dataclass(frozen=True)
class Comparison:
    """Paired comparison on the tasks of which both runs have an outcome.

    Attributes:
        tasks: Number of these tasks.
        families: Number of families of these tasks; a task unlike all others is a family.
        left_out: Number of tasks that only one run has, or of which one of them has only errors or
            unknown outcomes.
        repeats: Largest number of episodes of one task.
        both: Number of tasks that both runs won equally often, at least once.
        neither: Number of tasks that neither run won.
        gained: Tasks that the second run won more often; with one episode a task, those that only
            it won.
        lost: Tasks that the first run won more often.
        difference: Success rate of the second run minus that of the first; None without tasks.
        low, high: Its 95% interval, for families of tasks, which excludes 0 where the p-value is
            below 0.05.
        p_value: Exact two-sided p-value: McNemar's, or with repeats or families that of the
            sign-flip test.
    """

    tasks: int
    families: int
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

    @property
    def reverse(self) -> Comparison:
        """The comparison of the first run with the second."""
        return replace(
            self,
            gained=self.lost,
            lost=self.gained,
            difference=None if self.difference is None else -self.difference,
            low=-self.high,
            high=-self.low,
        )


@dataclass(frozen=True)
class Pair:
    """Two runs among several, the better one first.

    Attributes:
        better, worse: Their names.
        comparison: The better one compared with the worse one, by itself.
        p_value: Its p-value, adjusted for all pairs of the runs.
        low, high: The interval of the difference, adjusted likewise.
    """

    better: str
    worse: str
    comparison: Comparison
    p_value: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether the runs differ by more than chance explains."""
        return self.p_value < SIGNIFICANT


@dataclass(frozen=True)
class Standing:
    """A run among others.

    Attributes:
        run: Its name.
        won: Number of the shared tasks that it won; with repeats the sum of the shares won.
        behind: The best run with this one; None for the best run itself.
    """

    run: str
    won: float
    behind: Pair | None

    @property
    def is_clear(self) -> bool:
        """Whether it is behind by more than chance explains."""
        return self.behind is not None and self.behind.is_clear


@dataclass(frozen=True)
class Verdict:
    """Ranking of runs by the tasks of which all of them have an outcome.

    Attributes:
        tasks: Number of these tasks.
        families: Number of families of these tasks.
        left_out: Number of tasks that a run lacks, or of which it has only errors or unknown
            outcomes.
        repeats: Largest number of episodes of one task.
        pairs: All pairs of runs, for whose number p-values and intervals are adjusted.
        standings: The runs, best first; runs that won equally many are in the order given.
    """

    tasks: int
    families: int
    left_out: int
    repeats: int
    pairs: tuple[Pair, ...]
    standings: tuple[Standing, ...]

    @property
    def winner(self) -> str | None:
        """The best run, if every other is clearly behind it."""
        best, *others = self.standings
        return best.run if others and all(other.is_clear for other in others) else None

    def among(self, runs: Collection[str]) -> Verdict:
        """Return the verdict on some of the runs, whose pairs stay adjusted for all of them."""
        chosen = [standing for standing in self.standings if standing.run in runs]
        pairs = tuple(pair for pair in self.pairs if {pair.better, pair.worse} <= {*runs})
        behind = {pair.worse: pair for pair in pairs if pair.better == chosen[0].run}
        standings = [replace(standing, behind=behind.get(standing.run)) for standing in chosen]
        return replace(self, pairs=pairs, standings=tuple(standings))

    @property
    def power(self) -> str:
        """What chance hides with so few tasks, where a pair is not clear; else empty."""
        if not self.tasks or all(pair.is_clear for pair in self.pairs):
            return ""
        return power(self.tasks, self.families, self.repeats, len(self.pairs))


@dataclass(frozen=True)
class _Pairing:
    """The outcomes of runs on the tasks that they share.

    Attributes:
        shares: For each run, the share of the episodes won, by task.
        families: The family of each of these tasks.
        left_out: Number of other tasks.
        repeats: Largest number of episodes of one task.
    """

    shares: list[dict[str, Fraction]]
    families: list[str]
    left_out: int
    repeats: int


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
    runs: Mapping[str, Iterable[Mapping[str, Any]]],
    *,
    errors: Errors = "exclude",
) -> Verdict:
    """Rank runs by their episode records, paired by task; ``errors`` as in ``compare``.

    Each pair of runs is compared, since the best and the next best are known only afterwards:
    Holm's adjustment for all pairs keeps the chance that any difference is wrongly called clear
    below ``SIGNIFICANT``.
    """
    return _verdict({run: _counts_by_task(records, errors) for run, records in runs.items()})


def test_of(tasks: int, families: int, repeats: int) -> str:
    """Return the name of the test that p-values are of."""
    if families < tasks:
        return "the sign-flip test over families"
    return "McNemar's test" if repeats == 1 else "the sign-flip test over tasks"


def points(difference: float | None) -> str:
    """Return a difference of success in points with its sign; a dash for None."""
    if difference is None:
        return "-"
    return f"{round(100 * difference, 1) + 0.0:+.1f}"  # without the sum, -0.0 would show


def verdicts(
    runs: Mapping[str, Iterable[Mapping[str, Any]]],
    *,
    errors: Errors = "exclude",
) -> list[Verdict]:
    """Rank runs as ``verdict`` does, those that share few tasks apart from each other."""
    counts = {run: _counts_by_task(records, errors) for run, records in runs.items()}
    known = {run: _known(of_run) for run, of_run in counts.items()}
    ranked = []
    for names in task_sets(known):
        ranked.append(_verdict({run: counts[run] for run in names}))
    return ranked


def task_sets(tasks: Mapping[str, Set[str]]) -> list[list[str]]:
    """Return the names of runs in sets, each two of which share enough tasks.

    That is ``MIN_SHARED`` of the larger one's. A run joins the first set that it fits. Otherwise a
    run of six tasks would reduce those of two hundred to six.

    Args:
        tasks: The tasks of each run.
    """
    sets: list[list[str]] = []
    for run, own in tasks.items():
        for members in sets:
            if all(_share_enough(own, tasks[other]) for other in members):
                members.append(run)
                break
        else:
            sets.append([run])
    return sets


def _share_enough(first: Set[str], second: Set[str]) -> bool:
    return len(first & second) >= MIN_SHARED * max(len(first), len(second))


def _verdict(counts: Mapping[str, Mapping[str, Outcomes]]) -> Verdict:
    pairing = _pairing(list(counts.values()))
    shares = dict(zip(counts, pairing.shares, strict=True))
    won = {run: sum(of_run.values()) for run, of_run in shares.items()}
    ranked = sorted(won, key=lambda run: -won[run])
    pairs = _pairs(ranked, shares, pairing)
    behind = {pair.worse: pair for pair in pairs if pair.better == ranked[0]}
    return Verdict(
        tasks=len(pairing.shares[0]),
        families=len({*pairing.families}),
        left_out=pairing.left_out,
        repeats=pairing.repeats,
        pairs=tuple(pairs),
        standings=tuple(Standing(run, float(won[run]), behind.get(run)) for run in ranked),
    )


def _pairs(
    ranked: Sequence[str],
    shares: Mapping[str, Mapping[str, Fraction]],
    pairing: _Pairing,
) -> list[Pair]:
    names = list(combinations(ranked, 2))
    comparisons = [_compare(shares[worse], shares[better], pairing) for better, worse in names]
    adjusted = holm([comparison.p_value for comparison in comparisons])
    pairs = []
    for (better, worse), comparison, (p_value, level) in zip(
        names,
        comparisons,
        adjusted,
        strict=True,
    ):
        changes = _changes(shares[worse], shares[better])
        low, high = paired_interval(changes, pairing.families, level)
        pairs.append(Pair(better, worse, comparison, p_value, low, high))
    return pairs


def _paired(runs: Iterable[Iterable[Mapping[str, Any]]], errors: Errors) -> _Pairing:
    return _pairing([_counts_by_task(records, errors) for records in runs])


def _known(counts: Mapping[str, Outcomes]) -> set[str]:
    """Return the tasks of which an outcome is known."""
    return {task for task, count in counts.items() if count.episodes}


def _pairing(counts: Sequence[Mapping[str, Outcomes]]) -> _Pairing:
    # A set has another order in every process; reports are to have one.
    shared = sorted(set.intersection(*map(_known, counts)))

    shares = []
    repeats = 1
    for of_run in counts:
        shares.append({task: _share(*of_run[task][1:]) for task in shared})
        repeats = max([repeats, *(of_run[task].episodes for task in shared)])
    families = [counts[0][task].family for task in shared]
    return _Pairing(shares, families, len(set().union(*counts)) - len(shared), repeats)


def _counts_by_task(records: Iterable[Mapping[str, Any]], errors: Errors) -> dict[str, Outcomes]:
    """Return the outcomes of each task, also of one of which no episode counts."""
    counts: dict[str, Outcomes] = {}
    left_out = ("unknown",) if errors == "count" else ("unknown", "error")
    for record in records:
        outcome = outcome_of(record)
        family, won, episodes = counts.get(record["task"], (record["family"], 0, 0))
        if outcome not in left_out:
            won, episodes = won + (outcome == "won"), episodes + 1
        counts[record["task"]] = Outcomes(family, won, episodes)
    return counts


@cache  # so that the many tasks of a large run share few objects
def _share(won: int, episodes: int) -> Fraction:
    # Exact: two shares that are equal must not differ by rounding.
    return Fraction(won, episodes)


def _compare(
    before: Mapping[str, Fraction],
    after: Mapping[str, Fraction],
    pairing: _Pairing,
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

    changes = _changes(before, after)
    low, high = paired_interval(changes, pairing.families)
    return Comparison(
        tasks=len(changes),
        families=len({*pairing.families}),
        left_out=pairing.left_out,
        repeats=pairing.repeats,
        both=both,
        neither=neither,
        gained=tuple(gained),
        lost=tuple(lost),
        difference=float(sum(changes) / len(changes)) if changes else None,
        low=low,
        high=high,
        p_value=paired_p_value(changes, pairing.families),
    )


def _changes(before: Mapping[str, Fraction], after: Mapping[str, Fraction]) -> list[Fraction]:
    return [after[task] - before[task] for task in before]
