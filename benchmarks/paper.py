"""A paper's table beside ours: the published numbers, those of a model here, and whether their order agrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Literal, NamedTuple, TypeAlias

from experiments import Experiment, Found, Result

from textcraft_gym.evaluation.metrics import ALL
from textcraft_gym.evaluation.report import markdown_table

Value: TypeAlias = Literal["rate", "score", "k_max_won", "calls", "claimed", "precision", "recall"]
PERCENT: tuple[Value, ...] = ("rate", "score", "claimed", "precision", "recall")


class Column(NamedTuple):
    """A column of numbers.

    Attributes:
        heading: Heading, as the paper has it.
        group: Task group.
        value: Field of ``Result``.
        interval: Whether to print the interval over tasks.
    """

    heading: str
    group: str = ALL
    value: Value = "rate"
    interval: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        label: Name of the method, as the paper has it.
        played: What is played, for all columns or one for each; None for a method that is missing here.
        published: The paper's numbers, one per column, in its units; None where it has none, empty without any.
        note: Text in place of our numbers, for a method that is missing here.
    """

    label: str
    played: Experiment | Sequence[Experiment] | None
    published: Sequence[float | None] = ()
    note: str = ""

    def of(self, index: int, column: Column, found: Found) -> Result | None:
        """Return the result in a column; None for a method that is missing here."""
        if self.played is None:
            return None
        experiment = self.played if isinstance(self.played, Experiment) else self.played[index]
        return found[experiment.name][column.group]


class Claim(NamedTuple):
    """A statement of the paper or of another source, and its check on our numbers."""

    text: str
    holds: Callable[[Found], bool]
    source: str = "Published"


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper.

    Attributes:
        title: Its number and subject.
        about: What is played, and how it differs from the paper.
        columns: Columns.
        rows: Rows, in the paper's order.
        claims: Statements of the paper without numbers here.
        cause: Likely cause of a disagreement, printed if there is one.
    """

    title: str
    about: str
    columns: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()
    claims: tuple[Claim, ...] = ()
    cause: str = ""

    @property
    def experiments(self) -> list[Experiment]:
        """What has to be played."""
        played = [[row.played] if isinstance(row.played, Experiment) else row.played or () for row in self.rows]
        return list(dict.fromkeys(chain.from_iterable(played)))

    def markdown(self, found: Found) -> str:
        """Return the section of the page."""
        parts = [f"## {self.title}\n", f"{self.about}\n"]
        if self.rows:
            cells = [(row.label, *self._cells(row, found)) for row in self.rows]
            parts.append(markdown_table(("", *(column.heading for column in self.columns)), cells))
        parts += [f"{verdict}\n" for verdict in self._verdicts(found)]
        return "\n".join(parts)

    def _cells(self, row: Row, found: Found) -> Iterable[str]:
        published = row.published or (None,) * len(self.columns)
        for index, (column, theirs) in enumerate(zip(self.columns, published, strict=True)):
            ours = row.of(index, column, found)
            text = shown(ours, column) if ours else row.note or "-"
            yield text if theirs is None else f"{text} ({theirs:g})"

    def _verdicts(self, found: Found) -> list[str]:
        lines = []
        agreement = self.agreement(found)
        if agreement.pairs:
            lines.append(f"Shape: {agreement}")
        held = [claim.holds(found) for claim in self.claims]
        lines += [
            f"{claim.source}: {claim.text}. Here: {'it holds' if holds else '**it does not hold**'}."
            for claim, holds in zip(self.claims, held, strict=True)
        ]
        if self.cause and (agreement.opposite or not all(held)):
            lines.append(f"Likely cause: {self.cause}")
        return lines

    def agreement(self, found: Found) -> Agreement:
        """Return how the order of each pair of rows compares with the published order, column by column."""
        agreement = Agreement()
        for index, column in enumerate(self.columns):
            compared = [
                (row.label, row.published[index], ours)
                for row in self.rows
                if row.published and (ours := row.of(index, column, found)) is not None
            ]
            for (first, theirs, ours), (second, others, our_second) in combinations(compared, 2):
                if theirs is not None and others is not None and theirs != others:
                    agreement.add(column, (first, second), theirs > others, ours, our_second)
        return agreement


class Agreement:
    """Pairs of rows by how their order compares with the published one."""

    def __init__(self) -> None:
        self.same = 0
        self.close = 0
        self.opposite: list[str] = []

    @property
    def pairs(self) -> int:
        """Number of pairs compared."""
        return self.same + self.close + len(self.opposite)

    def add(self, column: Column, labels: tuple[str, str], first_above: bool, first: Result, second: Result) -> None:
        """Compare one pair, of which the paper has the first above the second or not."""
        difference = getattr(first, column.value) - getattr(second, column.value)
        if abs(difference) <= 2 * _standard_error(first, second, column):
            self.close += 1
        elif (difference > 0) == first_above:
            self.same += 1
        else:
            higher, lower = labels if difference > 0 else labels[::-1]
            self.opposite.append(f"{higher} above {lower} ({column.heading})")

    def __str__(self) -> str:
        """Return a sentence."""
        if not self.opposite:
            verdict = "agrees" if self.same else "cannot be told"
        else:
            verdict = "agrees in part" if self.same > len(self.opposite) else "**disagrees**"
        counts = f"{self.same} of {self.pairs} pairs of rows are ordered as published"
        others = [f"{self.close} are too close to tell"] if self.close else []
        if self.opposite:
            others.append(f"{len(self.opposite)} the other way: {'; '.join(self.opposite)}")
        return f"{verdict}; {', '.join([counts, *others])}."


def _standard_error(first: Result, second: Result, column: Column) -> float:
    """Return the standard error of a difference of means over runs."""
    field = {"rate": "between_runs", "score": "score_between_runs"}.get(column.value)
    if field is None:
        return 0.0
    return math.sqrt(sum(getattr(of, field) ** 2 / len(of.rates) for of in (first, second)))


def shown(of: Result, column: Column) -> str:
    """Return a number of ours: rates and scores in percent with the deviation between runs, if there are several."""
    value = getattr(of, column.value)
    if value is None:
        return "-"
    text = f"{100 * value if column.value in PERCENT else value:.1f}"
    between = {"rate": of.between_runs, "score": of.score_between_runs}.get(column.value)
    if between is not None and len(of.rates) > 1:
        text += f" ± {100 * between:.1f}"
    return f"{text} [{100 * of.low:.0f}, {100 * of.high:.0f}]" if column.interval else text
