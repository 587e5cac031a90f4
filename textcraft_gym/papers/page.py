"""The page of a table: published numbers beside those of models, and what agrees."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, TypeAlias

from jinja2 import Template
from markupsafe import Markup, escape

from textcraft_gym.papers.results import Played, Value, Verdict, cell, counted, verdicts
from textcraft_gym.papers.table import MARKS, PERCENT, Cell, Paper, Row, Table
from textcraft_gym.reports.metrics import outcome_of
from textcraft_gym.reports.page import html_environment
from textcraft_gym.reports.success import in_words
from textcraft_gym.reports.tables import markdown_table

HEADINGS = (
    "paper",
    "table",
    "row",
    "column",
    "published",
    "published_spread",
    "mark",
    "model",
    "value",
    "between_runs",
    "low",
    "high",
    "runs",
    "tasks",
    "families",
    "errors",
)
"""Columns of the CSV file."""
MAX_BESIDE = 8
"""Maximum number of columns with numbers of a table that has the models beside the paper."""

Grid: TypeAlias = list[list[str]]
"""The headings and the rows of a table as texts."""


@dataclass(frozen=True)
class Page:
    """A table as it was reproduced.

    Attributes:
        paper: The paper.
        table: The table.
        rows: The keys of the rows that were asked for.
        models: The names of the models.
        played: The runs with each model.
        notes: What a reader must know about the runs: data, unfinished runs, limits.
        sources: What played the runs: the models with their digests, prompts, version and dates.
    """

    paper: Paper
    table: Table
    rows: Sequence[str]
    models: tuple[str, ...]
    played: Sequence[Played]
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def shown(self) -> list[Row]:
        """The rows that were asked for, in the table's order."""
        return [row for row in self.table.rows if row.key in self.rows]

    @property
    def source(self) -> str:
        """The paper, and where in it the table is described, if that is known."""
        return ", ".join(filter(None, (self.paper.citation, self.table.section)))

    @property
    def origins(self) -> tuple[str, ...]:
        """Where the numbers of a cell are from: the paper, then each model."""
        return "published", *self.models

    @property
    def is_stacked(self) -> bool:
        """Whether models stand below the published numbers: a wide table has no room beside."""
        return len(self.table.columns) * len(self.origins) > MAX_BESIDE

    @property
    def grid(self) -> Grid:
        """The headings and the rows of the table as it stands on the page."""
        return self.stacked if self.is_stacked else self.beside

    @property
    def beside(self) -> Grid:
        """The table with the models beside the published numbers."""
        headings = [""]
        for column in self.table.columns:
            headings += [f"{column.heading}, {origin}" for origin in self.origins]
        grid = [headings]
        for row in self.shown:
            grid.append([row.label])
            for _, cells in self.by_column(row):
                grid[-1] += [text for _, text in cells]
        return grid

    @property
    def stacked(self) -> Grid:
        """The table with the models below the published numbers."""
        grid = [["", "", *(column.heading for column in self.table.columns)]]
        for row in self.shown:
            label = row.label
            for origin, texts in self.by_origin(row):
                grid.append([label, origin, *texts])
                label = ""
        return grid

    @property
    def listed(self) -> Grid:
        """The table with a line for each cell, the models beside the published number."""
        grid = [["", "", *self.origins]]
        for row in self.shown:
            label = row.label
            for heading, cells in self.by_column(row):
                grid.append([label, heading, *(text for _, text in cells)])
                label = ""
        return grid

    def by_origin(self, row: Row) -> list[tuple[str, list[str]]]:
        """Return the numbers of a row by origin: the paper, then the models if they play it."""
        numbers = list(zip(self.origins, self._texts[row.key], strict=True))
        return numbers[:1] if row.missing else numbers

    def by_column(self, row: Row) -> list[tuple[str, list[tuple[str, str]]]]:
        """Return the numbers of a row by column, each with its origin."""
        columns = []
        for column, *texts in zip(self.table.columns, *self._texts[row.key], strict=True):
            columns.append((column.heading, list(zip(self.origins, texts, strict=True))))
        return columns

    @cached_property
    def _texts(self) -> dict[str, list[list[str]]]:
        """The numbers of each row by its key: a list for each origin, column by column."""
        columns = list(enumerate(self.table.columns))
        texts = {}
        for row in self.shown:
            numbers: list[Sequence[Cell | Value | None]] = [row.published or [None] * len(columns)]
            for played in self.played:
                numbers.append([cell(row, index, column, played) for index, column in columns])
            texts[row.key] = [list(map(_text, of_origin)) for of_origin in numbers]
        return texts

    @cached_property
    def sentences(self) -> list[str]:
        """What agrees with the paper, for each model."""
        sentences: list[str] = []
        for model, played in zip(self.models, self.played, strict=True):
            sentences += self._of(model, played)
        return sentences

    def _of(self, model: str, played: Played) -> Iterator[str]:
        pairs = verdicts(self.table, played)
        if pairs:
            yield f"{model}: {_counts(pairs)}"
        by_order = {verdict.order: verdict for verdict in pairs}
        for statement in self.table.statements:
            of_statement = [by_order[order] for order in statement.orders if order in by_order]
            if of_statement:
                place = f" in {statement.section}" if statement.section else ""
                claim = f"the paper says{place} that {statement.text}"
                yield f"{model}: {claim}. {_counts(of_statement)}"

    def marks(self) -> list[str]:
        """Return what the marks at published numbers mean, of those that stand in the table."""
        used: set[str] = set()
        for row in self.shown:
            used.update(published.mark for published in row.published if published)
        return [f"{mark} {meaning}" for mark, meaning in MARKS.items() if mark in used]

    def about(self) -> list[str]:
        """Return what stands above the table."""
        sentences = []
        if any(column.measure in PERCENT for column in self.table.columns):
            sentences.append("Success, scores and claims are in percent.")
        if self._has_several_runs():
            sentences.append("± is the standard deviation between runs.")
        else:
            sentences.append("Brackets hold the 95% interval over the tasks of one run.")
        sentences += self._tasks()
        return [self.table.about, " ".join(sentences), *self.notes, *self._losses()]

    def _tasks(self) -> Iterator[str]:
        """Yield how many tasks stand behind the success rates, and in how many families."""
        tasks: dict[str, str] = {}
        for row in self.shown:
            for index, column in enumerate(self.table.columns):
                for played in self.played:
                    value = cell(row, index, column, played)
                    if value is not None and column.measure == "success":
                        of_column = in_words(value.tasks, value.families)
                        tasks.setdefault(column.heading, of_column)
        if len(set(tasks.values())) == 1:
            yield f"Success is over {max(tasks.values())}."
        elif tasks:
            numbers = ", ".join(f"{count} in {name}" for name, count in tasks.items())
            yield f"Success is over {numbers}."

    def _has_several_runs(self) -> bool:
        numbers = [len(runs.records) for played in self.played for runs in played.values()]
        return max(numbers, default=0) > 1

    def _losses(self) -> Iterator[str]:
        """Yield what a model's numbers leave out, and what they hold against it."""
        for model, played in zip(self.models, self.played, strict=True):
            outcomes: Counter[str] = Counter()
            limits: Counter[str] = Counter()
            for record in self._records(played):
                outcomes[outcome_of(record)] += 1
                if outcome_of(record) == "limit":
                    limits[record["limit"]] += 1
            if outcomes["error"]:
                yield f"{model}: {outcomes['error']} episodes failed, and count in no number."
            if limits:
                names = ", ".join(f"{name} {count}" for name, count in limits.items())
                count = f"{limits.total()} of {outcomes.total()} episodes"
                yield f"{model}: {count} were lost at a limit of the model or the run ({names})."

    def _records(self, played: Played) -> Iterator[Mapping[str, Any]]:
        for setting in self.table.settings_of(self.rows):
            for records in played[setting].records if setting in played else ():
                yield from records

    def missing(self) -> list[str]:
        """Return which rows were not played, and why."""
        return [f"{row.label}: not played; {row.missing}." for row in self.shown if row.missing]

    def lists(self) -> list[tuple[str, Sequence[str]]]:
        """Return the lists below the table, each with its heading."""
        return [
            ("In the published order?", self.sentences),
            ("About the published numbers", self.table.notes),
            ("Played with", self.sources),
        ]

    def markdown(self) -> str:
        """Return the page as Markdown."""
        headings, *rows = self.grid
        below = [*self.marks(), *self.missing()]
        parts = [f"# {self.table.title}\n", f"{self.source}.\n"]
        parts += [f"{line}\n" for line in self.about()]
        parts.append(markdown_table(headings, rows))
        parts += [f"{line}\n" for line in below]
        for heading, lines in self.lists():
            if lines:
                parts.append(f"## {heading}\n")
                parts.append("".join(f"- {line}\n" for line in lines))
        return "\n".join(parts)

    def html(self) -> str:
        """Return the page as HTML, complete in itself."""
        return _template().render(page=self)

    def csv(self) -> str:
        """Return a row for each cell and model, with full numbers."""
        text = io.StringIO()
        writer = csv.DictWriter(text, HEADINGS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.cells())
        return text.getvalue()

    def cells(self) -> Iterator[Mapping[str, str]]:
        """Yield each cell of the table for each model, as ``csv`` has them."""
        for row in self.shown:
            for index, column in enumerate(self.table.columns):
                about = {
                    "paper": self.paper.key,
                    "table": self.table.key,
                    "row": row.key,
                    "column": column.heading,
                }
                published = row.published[index] if row.published else None
                if published:
                    about["published"] = f"{published.value:g}"
                    about["published_spread"] = _number(published.spread, "g")
                    about["mark"] = published.mark
                for model, played in zip(self.models, self.played, strict=True):
                    value = cell(row, index, column, played)
                    if value is None:
                        yield about
                    else:
                        yield {**about, "model": model, **_numbers(value)}


def _text(value: Cell | Value | None) -> str:
    return "-" if value is None else str(value)


def _numbers(value: Value) -> dict[str, str]:
    return {name: _number(number, ".6g") for name, number in value._asdict().items()}


def _number(number: float | None, form: str) -> str:
    return "" if number is None else f"{number:{form}}"


def _counts(verdicts: Sequence[Verdict]) -> str:
    """Return how many pairs of rows are in which order, and which are the other way."""
    counts = counted(verdicts)
    line = f"{counts['as published']} of {len(verdicts)} pairs of rows are as published"
    if close := counts["too close to tell"]:
        line += f", {close} too close to tell"
    opposite = [verdict for verdict in verdicts if verdict.judgement == "the other way"]
    if opposite:
        line += f", {len(opposite)} the other way ({'; '.join(map(_other_way, opposite))})"
    return f"{line}."


def _other_way(verdict: Verdict) -> str:
    above, below, column = verdict.order
    margin = f"{-verdict.difference:.1f} points, p {verdict.p_value:.2g}"
    return f"{below} above {above} in {column} by {margin}"


@cache
def _template() -> Template:
    environment = html_environment("textcraft_gym.papers")
    environment.filters["code"] = _code
    environment.filters["name"] = _name_html
    environment.filters["number"] = _number_html
    return environment.get_template("table.html")


def _code(text: str) -> Markup:
    """Return a text as HTML, what stands between backticks as code."""
    html = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    return Markup(html)  # noqa: S704 (it is escaped)


def _name_html(text: str) -> Markup:
    """Return a model's name as HTML that breaks behind punctuation."""
    html = re.sub(r"[/:,_=](?=\w)", r"\g<0><wbr>", str(escape(text)))
    return Markup(html)  # noqa: S704 (it is escaped)


def _number_html(text: str) -> Markup:
    """Return a number as HTML, its interval or spread as a part that stays whole."""
    value, blank, spread = text.partition(" ")
    if not blank:
        return escape(value)
    return Markup('{} <span class="spread">{}</span>').format(value, spread)
