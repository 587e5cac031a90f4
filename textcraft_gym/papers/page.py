"""The page of a table: published numbers beside those of models, and what agrees."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations
from typing import Any, TypeAlias

from jinja2 import Template
from markupsafe import Markup, escape

from textcraft_gym.agents.prompts import STANDARD
from textcraft_gym.papers.results import (
    Finding,
    Judgement,
    Played,
    Value,
    Verdict,
    cell,
    conclusion,
    counted,
    is_told_apart,
    judged,
    judged_together,
    played_orders,
    verdicts,
)
from textcraft_gym.papers.table import (
    MARKS,
    PERCENT,
    SHORT,
    Cell,
    Order,
    Paper,
    Row,
    Table,
    can_play,
)
from textcraft_gym.reports.metrics import outcome_of
from textcraft_gym.reports.page import html_environment
from textcraft_gym.reports.paired import SIGNIFICANT, decidable
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
MAX_NAMED = 6
"""Maximum number of pairs of rows that a sentence names."""
SCRIPTED = "scripted"
"""Where the numbers of a row are from that asks no model."""
CONCLUSIONS: Mapping[Judgement, str] = {
    "as published": "it holds here",
    "the other way": "it does not hold here",
    "too close to tell": "too close to tell here",
}

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
        prompts: The set or folder of prompts that each model played with.
        notes: What a reader must know about the runs: data, unfinished runs, limits.
        trained_on: What was won of tasks that a model was trained on, and of the others.
        sources: What played the runs: the models with their digests, prompts, version and dates.
    """

    paper: Paper
    table: Table
    rows: Sequence[str]
    models: tuple[str, ...]
    played: Sequence[Played]
    prompts: tuple[str, ...]
    notes: tuple[str, ...] = ()
    trained_on: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def asked_for(self) -> list[Row]:
        """The rows that were asked for, in the table's order."""
        return [row for row in self.table.rows if row.key in self.rows]

    @property
    def shown(self) -> list[Row]:
        """The rows on the page: those that some of the prompts can play."""
        return [row for row in self.asked_for if can_play(row, self.prompts)]

    @cached_property
    def of_models(self) -> list[Table]:
        """The table for each model, of the rows that its prompts can play."""
        tables = []
        for prompts in self.prompts:
            rows = tuple(row for row in self.shown if can_play(row, [prompts]))
            tables.append(replace(self.table, rows=rows))
        return tables

    @property
    def source(self) -> str:
        """The paper, and where in it the table is described, if that is known."""
        return ", ".join(filter(None, (self.paper.citation, self.table.section)))

    @property
    def origins(self) -> tuple[str, ...]:
        """Where the numbers of a cell are from: the paper, each model, players without one."""
        scripted = (SCRIPTED,) if any(row.is_scripted for row in self.shown) else ()
        return "published", *self.models, *scripted

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
        """Return the numbers of a row by origin: the paper, then what plays it."""
        published, *played = zip(self.origins, self._texts[row.key], strict=True)
        if row.missing:
            played = []
        return [
            published,
            *(line for line in played if (line[0] == SCRIPTED) == row.is_scripted),
        ]

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
            for origin in self.origins[1:]:
                numbers.append([self.number(row, index, origin) for index, _ in columns])
            texts[row.key] = [list(map(_text, of_origin)) for of_origin in numbers]
        return texts

    def number(self, row: Row, index: int, origin: str) -> Value | None:
        """Return the number of a row in a column by a model, or by a player without one."""
        if (origin == SCRIPTED) != row.is_scripted:
            return None
        # A scripted player's runs stand with every model's.
        model = 0 if row.is_scripted else self.models.index(origin)
        if not can_play(row, [self.prompts[model]]):
            return None
        return cell(row, index, self.table.columns[index], self.played[model])

    @cached_property
    def sentences(self) -> list[str]:
        """What agrees with the paper, for each model."""
        orders: dict[Order, None] = {}
        for table, played in zip(self.of_models, self.played, strict=True):
            orders |= dict.fromkeys(played_orders(table, played))
        told = [order for order in orders if is_told_apart(self.table, order)]
        untold = [order for order in orders if order not in told]
        sentences = [_untold(untold, len(orders))] if untold else []
        for model, table, played in zip(self.models, self.of_models, self.played, strict=True):
            of_model = set(played_orders(table, played))
            by_family = judged_together(table, [order for order in told if order in of_model])
            for name, of_family in by_family.items():
                found = verdicts(table, of_family, played)
                family = f" in {name}" if len(judged_together(self.table, told)) > 1 else ""
                sentences.append(f"{model}{family}: {_counts(found)} {_decidable(found)}")
        return [*sentences, *self._statements()]

    def _statements(self) -> Iterator[str]:
        """Yield what the models say to each statement about rows that stand on the page."""
        shown = {row.key for row in self.shown}
        for statement in self.table.statements:
            if not statement.rows <= shown:
                continue
            place = f" in {statement.section}" if statement.section else ""
            says = f"the paper says{place} that {statement.text}"
            nobody = True
            for numbers in combinations(range(len(self.models)), statement.models):
                players = [self.played[number] for number in numbers]
                findings = judged(self.of_models[numbers[0]], statement, players)
                if findings:
                    nobody = False
                    names = " and ".join(self.models[number] for number in numbers)
                    verdict = CONCLUSIONS[conclusion(statement, findings)]
                    yield f"{names}: {says}. {_compared(findings, statement.least)}: {verdict}."
            if nobody:
                lacking = "Its rows were not played"
                if len(self.models) < statement.models:
                    lacking = f"That takes {statement.models} models"
                yield f"{says[0].upper()}{says[1:]}. {lacking}."

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
        about = " ".join(filter(None, (self.table.about, *self._prompted())))
        return [about, " ".join(sentences), *self.notes, *self._losses()]

    def _prompted(self) -> Iterator[str]:
        """Yield what the prompts show that were played."""
        if all(row.is_scripted or row.missing for row in self.shown):
            return
        for prompts in dict.fromkeys(self.prompts):
            models = ""
            if len(set(self.prompts)) > 1:
                same = [
                    model
                    for model, played in zip(self.models, self.prompts, strict=True)
                    if played == prompts
                ]
                models = f" of {', '.join(same)}"
            if prompts == STANDARD:
                yield self.table.prompted
            elif prompts == SHORT:
                yield (
                    f"The prompts{models} are the set `{SHORT}`, for models that were trained on "
                    "it: the situation and the task, without instructions or examples. What it "
                    "lacks, such as the choice of a product for WebShop's plans, is the standard's."
                )
            else:
                yield f"The prompts{models} are those of the folder `{prompts}`."

    def _tasks(self) -> Iterator[str]:
        """Yield how many tasks stand behind the success rates, and in how many families."""
        tasks: dict[str, str] = {}
        for row in self.shown:
            for index, column in enumerate(self.table.columns):
                for origin in self.origins[1:]:
                    value = self.number(row, index, origin)
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
        lines = [f"{row.label}: not played; {row.missing}." for row in self.shown if row.missing]
        left_out = [row.label for row in self.asked_for if not can_play(row, self.prompts)]
        if left_out:
            lines.append(
                f"Left out, since examples are their point and the prompts have none: "
                f"{'; '.join(left_out)}."
            )
        return lines

    def lists(self) -> list[tuple[str, Sequence[str]]]:
        """Return the lists below the table, each with its heading."""
        return [
            ("In the published order?", self.sentences),
            ("About the published numbers", self.table.notes),
            ("Tasks of the model's training", self.trained_on),
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
                for origin in (SCRIPTED,) if row.is_scripted else self.models:
                    value = self.number(row, index, origin)
                    if value is None:
                        yield about
                    else:
                        yield {**about, "model": origin, **_numbers(value)}


def _text(value: Cell | Value | None) -> str:
    return "-" if value is None else str(value)


def _numbers(value: Value) -> dict[str, str]:
    return {name: _number(number, ".6g") for name, number in value._asdict().items()}


def _number(number: float | None, form: str) -> str:
    return "" if number is None else f"{number:{form}}"


def _untold(orders: Sequence[Order], pairs: int) -> str:
    """Return which pairs of rows are not counted, since the paper does not tell them apart."""
    by_column: dict[str, list[str]] = defaultdict(list)
    for above, below, column in orders:
        by_column[column].append(f"{above} above {below}")
    places = []
    for column, of_column in by_column.items():
        named = ", ".join(of_column) if len(orders) <= MAX_NAMED else str(len(of_column))
        places.append(f"{named} in {column}")
    return (
        f"Not counted are {len(orders)} of {pairs} pairs of rows, which the paper's own episodes "
        f"do not tell apart (Fisher's exact test, p at least {SIGNIFICANT:g}): {'; '.join(places)}."
    )


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


def _decidable(verdicts: Sequence[Verdict]) -> str:
    """Return how many pairs of rows could be decided with as many tasks."""
    most = decidable([verdict.families for verdict in verdicts])
    return f"With as many tasks at most {most} could be decided."


def _compared(findings: Sequence[Finding], least: int | None) -> str:
    """Return how many comparisons bear a statement out, and which contradict it."""
    counts = counted(findings)
    line = f"{counts['as published']} of {len(findings)} comparisons agree"
    if least is not None:
        line += f" (it takes {least})"
    if close := counts["too close to tell"]:
        line += f", {close} too close"
    opposite = [str(finding.claim) for finding in findings if finding.judgement == "the other way"]
    if opposite:
        named = f" ({'; '.join(opposite)})" if len(opposite) <= MAX_NAMED else ""
        line += f", {len(opposite)} against it{named}"
    return line


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
