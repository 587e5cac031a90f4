"""A paper as values: its tables, what is played for each row, and what the paper states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from textcraft_gym.errors import UnknownName
from textcraft_gym.reports.metrics import ALL

Measure: TypeAlias = Literal[
    "success", "score", "k_max", "calls", "tokens", "claimed", "cost", "p_value"
]
PERCENT: tuple[Measure, ...] = ("success", "score", "claimed")
"""Measures in percent.

Of the others, k_max is of the episodes won, calls are completions an episode, tokens are those that
the models counted in them, cost is their price, and p_value is of the difference in success between
the runs of two settings.
"""

MARKS = {
    "*": "from memory of the printed paper; not in the text that the other cells were read from",
    "†": "as the paper reports it from another paper",
    "=": "not printed; follows from other numbers of the paper",
    "b": "from the authors' blog",
}
"""Marks of published cells that are not printed in the table of the paper as its own."""


SHORT = "short"
"""The bundled set of prompts without instructions and examples."""


class Cell(NamedTuple):
    """A published number.

    Attributes:
        value: The number, in the paper's unit.
        spread: What stands after ±; None without.
        mark: A key of ``MARKS``; empty for a number that is printed in the table.
        text: The number with all digits that are printed, its spread and its mark.
    """

    value: float
    spread: float | None
    mark: str
    text: str

    def __str__(self) -> str:
        """Return the cell as a table has it."""
        return self.text


Cells: TypeAlias = tuple[Cell | None, ...]
_CELL = re.compile(r"(?P<value>[\d.]+)(?:±(?P<spread>[\d.]+))?(?P<mark>[*†=b]?)")


def cells(text: str) -> Cells:
    """Read a row of published cells: ``33.3 79.77±8.5 ? 71.6b``; ``?`` is one without a number.

    Raises:
        ValueError: If a cell is neither.
    """
    return tuple(None if word == "?" else _cell(word) for word in text.split())


def _cell(text: str) -> Cell:
    read = _CELL.fullmatch(text)
    if read is None:
        raise ValueError(f"expected a number or ?, got {text!r}")
    spread = float(read["spread"]) if read["spread"] else None
    return Cell(float(read["value"]), spread, read["mark"], text.replace("±", " ± "))


@dataclass(frozen=True)
class Training:
    """What an agent learns before it is tested: AutoPlan's plan.

    Attributes:
        limit: Number of training tasks.
        batch: Episodes before each update.
        iterations: Number of updates.
        reflect: What is asked after an episode.
    """

    limit: int
    batch: int = 4
    iterations: int = 3
    reflect: str = "full"


@dataclass(frozen=True)
class Setting:
    """A run but for its model and its seed.

    Attributes:
        env: Environment id.
        split: Split, played as a whole.
        agent: Name of the agent.
        args: Its arguments.
        env_args: Arguments of the environment.
        wrappers: Wrappers of the environment.
        max_calls: Maximum number of completions an episode.
        max_steps: Maximum number of actions an episode; None for what the agent allows itself.
        asks: Whether the agent asks a model; a scripted player is played once.
        roles: Which of the models given plays the executor, and which the planner, by number. A
            setting with a second model is played only where two models are given.
        training: What the agent learns before; None for nothing.
    """

    env: str
    split: str
    agent: str
    args: Mapping[str, Any] = field(default_factory=dict, hash=False)
    env_args: Mapping[str, Any] = field(default_factory=dict, hash=False)
    wrappers: tuple[str, ...] = ()
    max_calls: int = 1000
    max_steps: int | None = None
    asks: bool = True
    roles: tuple[int, int] = (0, 0)
    training: Training | None = None

    @property
    def name(self) -> str:
        """All that tells it from others, as one text."""
        parts = [self.env, self.split, self.agent]
        for arguments in (self.env_args, self.args):
            parts += [f"{key}={value}" for key, value in arguments.items()]
        parts += self.wrappers
        if self.max_calls != Setting.max_calls:
            parts.append(f"max_calls={self.max_calls}")
        if self.max_steps is not None:
            parts.append(f"max_steps={self.max_steps}")
        if self.training:
            size = f"{self.training.batch}x{self.training.iterations}"
            parts.append(f"trained={size} {self.training.reflect}")
        return " ".join(parts)


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        heading: Its heading, as the paper has it.
        group: The group of tasks.
        measure: What is measured.
        episodes: The paper's number of episodes behind a cell; None where it does not tell.
    """

    heading: str
    group: str = ALL
    measure: Measure = "success"
    episodes: int | None = None

    @property
    def is_main(self) -> bool:
        """Whether it is over all tasks, and not over a group of them."""
        return self.group == ALL


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        key: Its name on the command line.
        label: Its name in the paper.
        played: What is played for all columns, or for each; None where the suite cannot play it.
        published: The paper's numbers, one for each column; empty without any.
        missing: Why it is not played.
        against: What it is compared with for each column of the measure ``p_value``; empty without
            any.
        task: The task that alone it counts, of those of the columns' groups; empty for all. Rows of
            different tasks are not compared.
        needs_examples: Whether its point is the examples in its prompts, so that prompts without
            any cannot play it.
        fitted: Whether what plays it was fitted to its published numbers, so that its place among
            the rows is no result.
    """

    key: str
    label: str
    played: Setting | Sequence[Setting | None] | None
    published: Cells = ()
    missing: str = ""
    against: Sequence[Setting] = ()
    task: str = ""
    needs_examples: bool = False
    fitted: bool = False

    def setting(self, column: int) -> Setting | None:
        """Return what is played for a column; None where nothing is."""
        if self.played is None or isinstance(self.played, Setting):
            return self.played
        return self.played[column]

    @property
    def is_scripted(self) -> bool:
        """Whether it is played, and no model is asked for it."""
        played = [self.played] if isinstance(self.played, Setting) else [*(self.played or ())]
        settings = [setting for setting in played if setting]
        return bool(settings) and not any(setting.asks for setting in settings)


def can_play(row: Row, prompts: Iterable[str]) -> bool:
    """Return whether some of the sets of prompts have the examples that a row needs, if any."""
    return not row.needs_examples or any(name != SHORT for name in prompts)


class Order(NamedTuple):
    """That one row is above another in a column, by their keys and its heading."""

    above: str
    below: str
    column: str


class Term(NamedTuple):
    """A number of a table as a part of a sum.

    Attributes:
        row: The key of its row.
        column: The heading of its column.
        weight: What it is multiplied by.
        model: Which model's number it is, of those that a statement is about.
    """

    row: str
    column: str
    weight: float = 1.0
    model: int = 0


class Claim(NamedTuple):
    """That a sum of numbers of a table lies between two bounds, in the unit of its columns.

    Attributes:
        terms: The numbers.
        above: What the sum is above; None for no bound.
        below: What it is below; None for no bound.
    """

    terms: tuple[Term, ...]
    above: float | None = 0.0
    below: float | None = None

    def __str__(self) -> str:
        """Return the numbers that are added and those that are taken away."""
        added, taken = (
            " and ".join(
                dict.fromkeys(
                    f"{term.row} in {term.column}" for term in self.terms if sign * term.weight > 0
                )
            )
            for sign in (1, -1)
        )
        return f"{added} against {taken}" if taken else added


def is_above(row: str, other: str, column: str, by: float = 0.0) -> Claim:
    """Return that a row is above another in a column by more than some points."""
    return Claim((Term(row, column), Term(other, column, -1.0)), by)


def gains_more(row: str, other: str, column: str, other_column: str) -> Claim:
    """Return that a row is further above another in one column than in a second one."""
    return Claim(
        (
            Term(row, column),
            Term(other, column, -1.0),
            Term(row, other_column, -1.0),
            Term(other, other_column),
        )
    )


def is_comparable(row: str, other: str, column: str, ratio: float) -> tuple[Claim, Claim]:
    """Return that neither of two rows is more than some times the other in a column."""
    return (
        Claim((Term(row, column, ratio), Term(other, column, -1.0))),
        Claim((Term(other, column, ratio), Term(row, column, -1.0))),
    )


@dataclass(frozen=True)
class Statement:
    """What the paper says in words about a table.

    Attributes:
        text: What it says, in our words.
        claims: What follows from it.
        section: Where, such as ``section 6.1``; empty where the text that was read does not tell.
        least: How many of the claims it needs at least; None for all.
        models: How many models it compares.
    """

    text: str
    claims: tuple[Claim, ...]
    section: str = ""
    least: int | None = None
    models: int = 1

    @property
    def needed(self) -> int:
        """How many of its claims have to hold."""
        return len(self.claims) if self.least is None else self.least

    @property
    def rows(self) -> set[str]:
        """The keys of the rows that it is about."""
        return {term.row for claim in self.claims for term in claim.terms}


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper.

    Attributes:
        key: Its name on the command line, such as ``table2``.
        title: Its number and subject.
        about: What is played with any prompts, and how that differs from the paper.
        prompted: What the standard prompts show, and how that differs from the paper.
        columns: Its columns.
        rows: Its rows, in the paper's order; without any, it has no numbers to play.
        statements: What the paper says about it in words.
        notes: What the paper leaves open, or where it contradicts itself.
        section: Where the paper describes it; empty where the text that was read does not tell.
    """

    key: str
    title: str
    about: str
    columns: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()
    statements: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()
    section: str = ""
    prompted: str = ""

    @property
    def settings(self) -> tuple[Setting, ...]:
        """What is played, each setting once."""
        return self.settings_of(row.key for row in self.rows)

    def settings_of(self, rows: Iterable[str]) -> tuple[Setting, ...]:
        """Return what is played for rows, by their keys, each setting once."""
        settings: dict[Setting | None, None] = {}
        for key in rows:
            row = self.row(key)
            settings |= dict.fromkeys(row.setting(index) for index in range(len(self.columns)))
            settings |= dict.fromkeys(row.against)
        return tuple(setting for setting in settings if setting is not None)

    def place(self, setting: Setting, rows: Sequence[str]) -> str:
        """Return for which of some rows a setting is played, and for which of their columns.

        Rows are left out where it is played for all, and columns where the rows have no other
        setting; empty for the only setting of a table.
        """
        played = [row for row in map(self.row, rows) if not row.missing]
        of_rows: dict[str, None] = {}
        of_columns: dict[str, None] = {}
        for row in played:
            for index, column in enumerate(self.columns):
                if setting in (row.setting(index), *row.against[index : index + 1]):
                    of_rows[row.key] = of_columns[column.heading] = None
        named = []
        if len(of_rows) < len(played):
            named.append("+".join(of_rows))
        if len(self.settings_of(of_rows)) > 1:
            named.append("+".join(of_columns))
        return ", ".join(named)

    def column(self, heading: str) -> tuple[int, Column]:
        """Return a column by its heading, behind its index.

        Raises:
            UnknownName: If there is none of this heading.
        """
        for index, column in enumerate(self.columns):
            if column.heading == heading:
                return index, column
        raise UnknownName.of("column", heading, [column.heading for column in self.columns])

    def row(self, key: str) -> Row:
        """Return a row.

        Raises:
            UnknownName: If there is none of this name.
        """
        for row in self.rows:
            if row.key == key:
                return row
        raise UnknownName.of("row", key, [row.key for row in self.rows])


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        key: Its name on the command line.
        citation: Authors, title and year.
        tables: Its tables and figures, in its order.
        missing: Its tables and figures that cannot be played, each with the reason.
    """

    key: str
    citation: str
    tables: tuple[Table, ...]
    missing: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __getitem__(self, key: str) -> Table:
        """Return a table.

        Raises:
            UnknownName: If there is none of this name.
        """
        for table in self.tables:
            if table.key == key:
                return table
        raise UnknownName.of("table", key, [table.key for table in self.tables])
