"""What was played for a table: the numbers of its cells, and which rows are above which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from statistics import stdev
from typing import Any, Literal, NamedTuple, TypeAlias

from textcraft_gym.papers.table import Column, Measure, Order, Row, Setting, Table
from textcraft_gym.reports.metrics import ALL, Pooled, Summary, outcome_of, pool_by_group
from textcraft_gym.reports.paired import (
    SIGNIFICANT,
    holm,
    paired_interval,
    paired_p_value,
    two_sample_p_value,
)

PARTS = 60
"""A score is compared in steps of one part in this number."""
COMPARED: tuple[Measure, ...] = ("success", "score")
"""The measures of which each task has a value, so that rows can be compared task by task."""

Judgement: TypeAlias = Literal["as published", "the other way", "too close to tell"]


@dataclass(frozen=True)
class Runs:
    """The runs of a setting with one model, one for each seed.

    Attributes:
        records: The records of each.
    """

    records: tuple[Sequence[Mapping[str, Any]], ...]

    @cached_property
    def by_group(self) -> dict[str, Pooled]:
        """The summary over all runs, by group."""
        return pool_by_group(self.records)

    def of_task(self, task: str) -> Pooled | None:
        """Return the summary of a task's episodes; None if no run has the task."""
        chosen = []
        for records in self.records:
            chosen.append([record for record in records if record["task"] == task])
        return pool_by_group(chosen)[ALL] if any(chosen) else None


class Value(NamedTuple):
    """A number of ours, in the unit of the paper's.

    Attributes:
        value: The mean over runs.
        between_runs: Its standard deviation between runs; None for one run.
        low, high: The 95% interval over tasks of a success rate; None of other measures.
        runs: Number of runs.
        tasks: Number of tasks.
        families: Number of families of these tasks.
        errors: Episodes that broke, over all runs; no number counts them.
    """

    value: float
    between_runs: float | None
    low: float | None
    high: float | None
    runs: int
    tasks: int
    families: int
    errors: int

    def __str__(self) -> str:
        """Return the value with its spread, or with its interval where there is one run."""
        digits = ".2g" if 0 < self.value < 1 else ".1f"
        text = f"{self.value:{digits}}"
        if self.between_runs is not None:
            return f"{text} ± {self.between_runs:{digits}}"
        if self.low is None or self.high is None:
            return text
        return f"{text} [{self.low:.0f}, {self.high:.0f}]"


Played: TypeAlias = Mapping[Setting, Runs]
"""The runs of each setting with one model."""


class Verdict(NamedTuple):
    """Whether two rows are in the published order.

    Attributes:
        order: The published order.
        difference: How far the upper row is above the lower one here, in points; negative if it is
            below.
        low, high: Its 95% interval over tasks, adjusted for all pairs of the table.
        p_value: The p-value of the difference, adjusted likewise.
        judgement: What follows.
    """

    order: Order
    difference: float
    low: float
    high: float
    p_value: float
    judgement: Judgement


def value(pooled: Pooled | None, measure: Measure) -> Value | None:
    """Return a number of runs from their summary; None where there is none."""
    number = _number(pooled, measure) if pooled else None
    if not pooled or number is None:
        return None
    of_runs = [_number(run, measure) for run in pooled.runs]
    known = [of_run for of_run in of_runs if of_run is not None]
    has_interval = measure == "success"
    return Value(
        value=number,
        between_runs=stdev(known) if len(known) > 1 else None,
        low=100 * pooled.low if has_interval else None,
        high=100 * pooled.high if has_interval else None,
        runs=len(known),
        tasks=pooled.tasks,
        families=pooled.families,
        errors=pooled.errors,
    )


def _number(summary: Summary, measure: Measure) -> float | None:
    if measure == "k_max":
        return summary.k_max_won
    if not summary.episodes:
        return None
    if measure == "calls":
        return sum(summary.calls.values())
    if measure == "tokens":
        return summary.tokens
    if measure == "claimed":  # a win that the game ended left the agent nothing to claim
        return None if summary.won_by_game else 100 * (summary.claimed or 0) / summary.episodes
    if measure == "cost":  # 0 is no price: that of the model is not known
        return summary.cost / (summary.episodes + summary.errors) or None
    share = summary.rate if measure == "success" else summary.reward
    return None if share is None else 100 * share


def cell(
    row: Row,
    index: int,
    column: Column,
    played: Played,
) -> Value | None:
    """Return the number of a row in a column; None if it was not played."""
    setting = row.setting(index)
    if setting is None or setting not in played:
        return None
    runs = played[setting]
    if column.measure == "p_value":
        other = played.get(row.against[index])
        if other is None:
            return None
        return _p_value(runs.by_group.get(column.group), other.by_group.get(column.group))
    if row.task:
        return value(runs.of_task(row.task), column.measure)
    return value(runs.by_group.get(column.group), column.measure)


def _p_value(first: Pooled | None, second: Pooled | None) -> Value | None:
    """Return the p-value of the difference in success; None without several runs of both."""
    if not first or not second:
        return None
    both = (first, second)
    rates = [[run.rate for run in pooled.runs if run.rate is not None] for pooled in both]
    if min(map(len, rates)) < 2:
        return None
    return Value(
        value=two_sample_p_value(*rates),
        between_runs=None,
        low=None,
        high=None,
        runs=min(map(len, rates)),
        tasks=max(pooled.tasks for pooled in both),
        families=max(pooled.families for pooled in both),
        errors=sum(pooled.errors for pooled in both),
    )


def published_orders(table: Table) -> list[Order]:
    """Return the published order of each pair of rows in a column of a compared measure.

    Rows that are played alike are not compared; where several pairs are, the first stands for all.
    """
    orders: dict[tuple[Setting | None, Setting | None, Column], Order] = {}
    for index, column in enumerate(table.columns):
        if column.measure not in COMPARED:
            continue
        rows = [row for row in table.rows if row.published and row.published[index]]
        for first, second in combinations(rows, 2):
            above, below = sorted((first, second), key=lambda row: -_published(row, index))
            settings = above.setting(index), below.setting(index)
            is_tie = _published(above, index) == _published(below, index)
            if is_tie or first.task != second.task or settings[0] == settings[1]:
                continue
            orders.setdefault((*settings, column), Order(above.key, below.key, column.heading))
    return list(orders.values())


def _published(row: Row, index: int) -> float:
    """Return the published number of a row that has one in a column."""
    published = row.published[index]
    assert published is not None  # noqa: S101  # for the type checker
    return published.value


def verdicts(table: Table, played: Played) -> list[Verdict]:
    """Return whether each pair of rows is in the order that the table or a statement about it has.

    Rows are compared task by task, over all runs; p-values are adjusted for all these pairs.
    """
    orders = dict.fromkeys(published_orders(table))
    for statement in table.statements:
        orders |= dict.fromkeys(statement.orders)

    changes: dict[Order, Changes] = {}
    for order in orders:
        of_order = _changes(table, order, played)
        if of_order.values:
            changes[order] = of_order
    adjusted = holm([paired_p_value(*of_order) for of_order in changes.values()])
    return [
        _verdict(*item, *of_pair) for item, of_pair in zip(changes.items(), adjusted, strict=True)
    ]


def _verdict(
    order: Order,
    changes: Changes,
    p_value: float,
    level: float,
) -> Verdict:
    difference = float(sum(changes.values) / len(changes.values))
    low, high = paired_interval(*changes, level)
    judgement: Judgement = "as published" if difference > 0 else "the other way"
    if p_value >= SIGNIFICANT or not difference:
        judgement = "too close to tell"
    return Verdict(order, 100 * difference, 100 * low, 100 * high, p_value, judgement)


class Changes(NamedTuple):
    """How much more one row has than another of each shared task, and the tasks' families."""

    values: Sequence[Fraction] = ()
    families: Sequence[str] = ()


def _changes(
    table: Table,
    order: Order,
    played: Played,
) -> Changes:
    """Return how much more the upper row has than the lower; nothing if one was not played."""
    headings = [column.heading for column in table.columns]
    index = headings.index(order.column)
    values = []
    for key in (order.above, order.below):
        setting = table.row(key).setting(index)
        if setting is None or setting not in played:
            return Changes()
        values.append(_by_task(played[setting], table.columns[index]))
    above, below = values
    shared = [task for task in above if task in below]
    changes = [above[task] - below[task] for task in shared]
    return Changes(changes, [family for _, family in shared])


def _by_task(runs: Runs, column: Column) -> dict[tuple[str, str], Fraction]:
    """Return the mean of a measure for each task and its family, without failed episodes."""
    values: dict[tuple[str, str], list[Fraction]] = {}
    for records in runs.records:
        for record in records:
            outcome = outcome_of(record)
            # An unknown outcome is neither a win nor a loss.
            if column.group not in (ALL, record["group"]) or outcome in ("error", "unknown"):
                continue
            if column.measure == "success":
                share = Fraction(outcome == "won")
            else:
                share = Fraction(round(record["reward"] * PARTS), PARTS)
            values.setdefault((record["task"], record["family"]), []).append(share)
    return {task: sum(of_task, Fraction()) / len(of_task) for task, of_task in values.items()}


def counted(verdicts: Iterable[Verdict]) -> dict[Judgement, int]:
    """Return how many pairs of rows there are of each judgement."""
    counts: dict[Judgement, int] = {"as published": 0, "the other way": 0, "too close to tell": 0}
    for verdict in verdicts:
        counts[verdict.judgement] += 1
    return counts
