"""What was played for a table: the numbers of its cells, and which rows are above which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from statistics import NormalDist, stdev
from typing import Any, Literal, NamedTuple, TypeAlias

from textcraft_gym.papers.table import (
    PERCENT,
    Claim,
    Column,
    Measure,
    Order,
    Row,
    Setting,
    Statement,
    Table,
    Term,
)
from textcraft_gym.reports.metrics import (
    ALL,
    Pooled,
    Summary,
    claim_of,
    outcome_of,
    pool_by_group,
)
from textcraft_gym.reports.paired import (
    SIGNIFICANT,
    fisher_p_value,
    holm,
    paired_interval,
    paired_p_value,
    sum_of_means_interval,
    two_sample_p_value,
)
from textcraft_gym.reports.success import interval

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
        low, high: Its 95% interval, adjusted for all pairs that are judged with it.
        p_value: The p-value of the difference, adjusted likewise.
        judgement: What follows.
        families: Number of families of tasks that both rows have.
    """

    order: Order
    difference: float
    low: float
    high: float
    p_value: float
    judgement: Judgement
    families: int


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
    A fitted row is in no order.
    """
    orders: dict[tuple[Setting | None, Setting | None, Column], Order] = {}
    for index, column in enumerate(table.columns):
        if column.measure not in COMPARED:
            continue
        rows = [
            row for row in table.rows if row.published and row.published[index] and not row.fitted
        ]
        for first, second in combinations(rows, 2):
            above, below = sorted((first, second), key=lambda row: -_published(row, index))
            settings = above.setting(index), below.setting(index)
            is_tie = _published(above, index) == _published(below, index)
            if is_tie or first.task != second.task or settings[0] == settings[1]:
                continue
            orders.setdefault((*settings, column), Order(above.key, below.key, column.heading))
    return list(orders.values())


def is_told_apart(table: Table, order: Order) -> bool:
    """Return whether the paper's own episodes tell two rows apart, by Fisher's exact test.

    A score counts as a share of wins, which has the largest variance that a mean score allows.
    """
    _, column = table.column(order.column)
    if column.episodes is None:
        return False
    first, second = (
        (round(published_rate(table, order.column, key) * column.episodes), column.episodes)
        for key in order[:2]
    )
    return fisher_p_value(first, second) < SIGNIFICANT


def judged_together(table: Table, orders: Iterable[Order]) -> dict[str, list[Order]]:
    """Return orders by the tests that are adjusted together: main columns, and groups of tasks."""
    by_name: dict[str, list[Order]] = {}
    mains = [
        column.heading for column in table.columns if column.is_main and column.measure in COMPARED
    ]
    for order in orders:
        _, column = table.column(order.column)
        name = " and ".join(mains) if column.is_main else "the groups"
        by_name.setdefault(name, []).append(order)
    return by_name


def published_rate(table: Table, heading: str, key: str) -> float:
    """Return the published number of a row in a column of percentages, from 0 to 1."""
    index, _ = table.column(heading)
    return _published(table.row(key), index) / 100


def _published(row: Row, index: int) -> float:
    """Return the published number of a row that has one in a column."""
    published = row.published[index]
    assert published is not None  # noqa: S101  # for the type checker
    return published.value


def played_orders(table: Table, played: Played) -> list[Order]:
    """Return the published orders of rows that share tasks that were played."""
    return [order for order in published_orders(table) if _changes(table, order, played).values]


def verdicts(table: Table, orders: Iterable[Order], played: Played) -> list[Verdict]:
    """Return whether rows are in the order that the paper has, each pair whose tasks were played.

    Rows are compared task by task, over all runs; p-values are adjusted for all these pairs.
    """
    changes: dict[Order, Parts] = {}
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
    changes: Parts,
    p_value: float,
    level: float,
) -> Verdict:
    difference = float(sum(changes.values) / len(changes.values))
    low, high = paired_interval(*changes, level)
    judgement: Judgement = "as published" if difference > 0 else "the other way"
    if p_value >= SIGNIFICANT or not difference:
        judgement = "too close to tell"
    bounds = 100 * low, 100 * high
    count = len({*changes.families})
    return Verdict(order, 100 * difference, *bounds, p_value, judgement, count)


class Parts(NamedTuple):
    """A number of each task, such as a change or a weighted sum, and the tasks' families."""

    values: Sequence[Fraction] = ()
    families: Sequence[str] = ()


Task: TypeAlias = tuple[str, str]
"""A task and its family."""


def _changes(table: Table, order: Order, played: Played) -> Parts:
    """Return how much more the upper row has of each shared task; nothing if one was not played."""
    index, column = table.column(order.column)
    values = []
    for key in (order.above, order.below):
        setting = table.row(key).setting(index)
        if setting is None or setting not in played:
            return Parts()
        values.append(_by_task(played[setting], column))
    above, below = values
    return _sums([(Fraction(1), above), (Fraction(-1), below)])


def _by_task(runs: Runs, column: Column) -> dict[Task, Fraction]:
    """Return the mean of a measure for each task, over all runs, without failed episodes.

    Success, scores and claims are shares, from 0 to 1.
    """
    values: dict[Task, list[Fraction]] = {}
    for records in runs.records:
        for record in records:
            if column.group in (ALL, record["group"]):
                part = _of_episode(record, column.measure)
                if part is not None:
                    task = record["task"], record["family"]
                    values.setdefault(task, []).append(part)
    return {task: sum(of_task, Fraction()) / len(of_task) for task, of_task in values.items()}


def _of_episode(record: Mapping[str, Any], measure: Measure) -> Fraction | None:
    """Return a measure of an episode; None where it has none."""
    outcome = outcome_of(record)
    # An unknown outcome is neither a win nor a loss.
    if outcome in ("error", "unknown"):
        return None
    if measure == "success":
        return Fraction(outcome == "won")
    if measure == "score":
        return Fraction(round(record["reward"] * PARTS), PARTS)
    if measure == "claimed":
        return None if claim_of(record) == "game" else Fraction(claim_of(record) == "success")
    if measure == "calls":
        return Fraction(sum(record["calls"].values()))
    if measure == "tokens":
        return Fraction(sum(record["tokens"].values()))
    if measure == "cost":  # 0 is no price
        return Fraction(record["cost"]) if record["cost"] else None
    return Fraction(record["k_max"]) if outcome == "won" and record["k_max"] else None


def counted(findings: Iterable[Verdict | Finding]) -> dict[Judgement, int]:
    """Return how many there are of each judgement."""
    counts: dict[Judgement, int] = {"as published": 0, "the other way": 0, "too close to tell": 0}
    for finding in findings:
        counts[finding.judgement] += 1
    return counts


class Finding(NamedTuple):
    """Whether a claim of a statement holds.

    Attributes:
        claim: The claim.
        value: The sum that it is about.
        low, high: Its interval over tasks, of 95% for all claims of the statement at once.
        judgement: What follows.
    """

    claim: Claim
    value: float
    low: float
    high: float
    judgement: Judgement


def judged(table: Table, statement: Statement, players: Sequence[Played]) -> list[Finding]:
    """Return whether each claim of a statement holds, of those whose rows were played.

    Args:
        table: The table.
        statement: The statement.
        players: The runs with each model that it compares, or with one.
    """
    level = SIGNIFICANT / len(statement.claims)
    findings = (_finding(table, claim, players, level) for claim in statement.claims)
    return [finding for finding in findings if finding]


def conclusion(statement: Statement, findings: Sequence[Finding]) -> Judgement:
    """Return what the findings on its claims mean for a statement."""
    counts = counted(findings)
    if counts["as published"] >= statement.needed:
        return "as published"
    if counts["the other way"] > len(statement.claims) - statement.needed:
        return "the other way"
    return "too close to tell"


def _finding(table: Table, claim: Claim, players: Sequence[Played], level: float) -> Finding | None:
    """Return whether a claim holds; None if one of its numbers was not played."""
    measures = {table.column(term.column)[1].measure for term in claim.terms}
    is_share = measures <= {*PERCENT}
    sums = _weighted_sums(table, claim, players)
    if not sums or min(len({*parts.families}) for parts in sums) < (
        1 if is_share and len(sums) == 1 else 2
    ):
        return None
    scale = 100 if is_share else 1
    value = scale * float(sum(sum(parts.values) / len(parts.values) for parts in sums))
    low, high = (scale * end for end in _interval(claim, sums, level, is_share=is_share))
    least = -math.inf if claim.above is None else claim.above
    most = math.inf if claim.below is None else claim.below
    judgement: Judgement = "too close to tell"
    if least < low and high < most:
        judgement = "as published"
    elif high <= least or low >= most:
        judgement = "the other way"
    return Finding(claim, value, low, high, judgement)


def _weighted_sums(table: Table, claim: Claim, players: Sequence[Played]) -> list[Parts]:
    """Return a claim's sum on each task, apart for each set of tasks; empty if it lacks a run.

    Groups of tasks, and means of other episodes such as those won, are sets of their own.
    """
    samples: dict[tuple[Any, ...], list[tuple[Fraction, dict[Task, Fraction]]]] = {}
    for term in claim.terms:
        index, column = table.column(term.column)
        rows = {row.key: row for row in table.rows}
        setting = rows[term.row].setting(index) if term.row in rows else None
        if setting is None or setting not in players[term.model]:
            return []
        values = _by_task(players[term.model][setting], column)
        if not values:
            return []
        kind = "share" if column.measure in PERCENT else column.measure
        parts = samples.setdefault((setting.env, setting.split, column.group, kind), [])
        parts.append((_weight(term), values))
    return [_sums(parts) for parts in samples.values()]


def _weight(term: Term) -> Fraction:
    return Fraction(term.weight).limit_denominator(PARTS)


def _sums(parts: Sequence[tuple[Fraction, Mapping[Task, Fraction]]]) -> Parts:
    """Return the weighted sum of each task that all parts have."""
    shared = [task for task in parts[0][1] if all(task in values for _, values in parts)]
    sums = []
    for task in shared:
        sums.append(sum((weight * values[task] for weight, values in parts), Fraction()))
    return Parts(sums, [family for _, family in shared])


def _interval(
    claim: Claim,
    sums: Sequence[Parts],
    level: float,
    *,
    is_share: bool,
) -> tuple[float, float]:
    """Return the interval of a claim's sum, in shares or in its own unit."""
    if not is_share or len(sums) > 1:
        return sum_of_means_interval(sums, level)
    (parts,) = sums
    if len(claim.terms) == 1:
        z = -NormalDist().inv_cdf(level / 2)
        share = interval([*map(float, parts.values)], len(parts.values), parts.families, z)
        return share.low, share.high
    # In parts of the largest sum that there can be.
    reach = sum(_weight(term) for term in claim.terms if term.weight > 0)
    changes = [change / reach for change in parts.values]
    low, high = paired_interval(changes, parts.families, level)
    return float(reach) * low, float(reach) * high
