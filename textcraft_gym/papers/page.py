"""The page of a table: published numbers beside those of models, what agrees, and where the numbers are from."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from jinja2 import Template
from markupsafe import Markup, escape

from textcraft_gym.papers.results import Played, Value, Verdict, cell, counted, verdicts
from textcraft_gym.papers.table import MARKS, PERCENT, Paper, Row, Table
from textcraft_gym.reports.page import html_environment
from textcraft_gym.reports.tables import markdown_table

HEADINGS = (
    "paper", "table", "row", "column", "published", "published_spread", "mark", "model", "value", "between_runs", "low",
    "high", "runs", "tasks", "errors",
)  # fmt: skip
"""Columns of the CSV file."""


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

    @cached_property
    def grid(self) -> list[tuple[str, ...]]:
        """The headings and the rows of the table as texts: each column published, then by model."""
        sources = ("published", *self.models)
        headings = (
            "",
            *(f"{column.heading}, {source}" for column in self.table.columns for source in sources),
        )
        return [headings, *((row.label, *self._texts(row)) for row in self.shown)]

    def _texts(self, row: Row) -> Iterator[str]:
        for index, column in enumerate(self.table.columns):
            published = row.published[index] if row.published else None
            yield "-" if published is None else str(published)
            for played in self.played:
                value = cell(row, index, column, played)
                yield "-" if value is None else str(value)

    @cached_property
    def sentences(self) -> list[str]:
        """What agrees with the paper, for each model."""
        return [
            line
            for model, played in zip(self.models, self.played, strict=True)
            for line in self._of(model, played)
        ]

    def _of(self, model: str, played: Played) -> Iterator[str]:
        found = verdicts(self.table, played)
        if found:
            yield f"{model}: {_counts(found)}"
        by_order = {verdict.order: verdict for verdict in found}
        for statement in self.table.statements:
            of_statement = [by_order[order] for order in statement.orders if order in by_order]
            if of_statement:
                place = f" in {statement.section}" if statement.section else ""
                says = f"the paper says{place} that {statement.text}"
                yield f"{model}: {says}. {_counts(of_statement)}"

    def marks(self) -> list[str]:
        """Return what the marks at published numbers mean, of those that stand in the table."""
        used = {published.mark for row in self.shown for published in row.published if published}
        return [f"{mark} {meaning}" for mark, meaning in MARKS.items() if mark in used]

    def about(self) -> list[str]:
        """Return what stands above the table."""
        unit = "Success, scores and claims are in percent." if self._has_percent() else ""
        several = any(len(runs.records) > 1 for played in self.played for runs in played.values())
        spread = (
            "± is the standard deviation between runs."
            if several
            else "Brackets hold the 95% interval over the tasks of one run."
        )
        return [
            self.table.about,
            " ".join(filter(None, (unit, spread))),
            *self.notes,
            *self._errors(),
        ]

    def _errors(self) -> Iterator[str]:
        for model, played in zip(self.models, self.played, strict=True):
            settings = self.table.settings_of(self.rows)
            runs = [played[setting] for setting in settings if setting in played]
            broken = sum(
                bool(record["error"])
                for run in runs
                for records in run.records
                for record in records
            )
            if broken:
                yield f"{model}: {broken} episodes ended with an error, and count in no number."

    def _has_percent(self) -> bool:
        return any(column.measure in PERCENT for column in self.table.columns)

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
        writer.writerows(self._cells())
        return text.getvalue()

    def _cells(self) -> Iterator[Mapping[str, str]]:
        for row in self.shown:
            for index, column in enumerate(self.table.columns):
                published = row.published[index] if row.published else None
                about = {
                    "paper": self.paper.key,
                    "table": self.table.key,
                    "row": row.key,
                    "column": column.heading,
                }
                if published:
                    about |= {"published": f"{published.value:g}", "mark": published.mark}
                    about["published_spread"] = (
                        "" if published.spread is None else f"{published.spread:g}"
                    )
                for model, played in zip(self.models, self.played, strict=True):
                    value = cell(row, index, column, played)
                    yield about | ({"model": model} | _numbers(value) if value else {})


def _numbers(value: Value) -> dict[str, str]:
    return {
        name: "" if number is None else f"{number:.6g}" for name, number in value._asdict().items()
    }


def _counts(found: Sequence[Verdict]) -> str:
    """Return how many pairs of rows are in which order, and which are the other way."""
    counts = counted(found)
    line = f"{counts['as published']} of {len(found)} pairs of rows are as published"
    if close := counts["too close to tell"]:
        line += f", {close} too close to tell"
    opposite = [verdict for verdict in found if verdict.judgement == "the other way"]
    if opposite:
        line += f", {len(opposite)} the other way ({'; '.join(map(_other_way, opposite))})"
    return f"{line}."


def _other_way(verdict: Verdict) -> str:
    above, below, column = verdict.order
    return f"{below} above {above} in {column} by {-verdict.difference:.1f} points, p {verdict.p_value:.2g}"


@cache
def _template() -> Template:
    environment = html_environment("textcraft_gym.papers")
    environment.filters["code"] = _code
    return environment.get_template("table.html")


def _code(text: str) -> Markup:
    """Return a text as HTML, what stands between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 (it is escaped)
