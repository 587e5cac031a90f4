"""The command ``textcraft-gym reproduce``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.cli import tables
from textcraft_gym.cli.console import Console
from textcraft_gym.cli.default_folders import free_folder, holds, short_name
from textcraft_gym.cli.estimates import show_estimates
from textcraft_gym.cli.options import DryRun, Json, Wide
from textcraft_gym.cli.progress import evaluate_with_progress
from textcraft_gym.cli.report_tables import show_lines
from textcraft_gym.cli.run_options import takes_run_spec
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.errors import RunStopped, UnknownName, require
from textcraft_gym.papers import PAPERS
from textcraft_gym.papers.pages import page_notes, write_pages
from textcraft_gym.papers.power import needs
from textcraft_gym.papers.reproduce import (
    DATA_ARGUMENT,
    Job,
    Reproduction,
    estimates,
    installed_data,
    play,
    sizes_of,
)
from textcraft_gym.papers.table import Paper, Table
from textcraft_gym.reports.records import Records
from textcraft_gym.runs.estimate import Estimate
from textcraft_gym.runs.run_spec import DEFAULT_MODEL, RunSpec

if TYPE_CHECKING:
    from textcraft_gym.papers.page import Page

NOT_OF_TABLES = (
    "split",
    "agent",
    "agent_args",
    "model",
    "planner",
    "env_args",
    "wrappers",
    "tasks",
    "seed",
    "repeats",
    "max_calls",
    "won_at",
)
"""Options of a run that a table's settings have."""

app = typer.Typer(add_completion=False)


@app.command()
@takes_run_spec(without=NOT_OF_TABLES, env="")
def reproduce(
    spec: RunSpec,
    name: Annotated[
        str, typer.Argument(help="Table, such as adapt/table2, or paper, such as adapt.")
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(help="Model, as for evaluate; may be repeated, one column each."),
    ] = None,
    rows: Annotated[str, typer.Option(help="Only these rows, separated by commas.")] = "",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each setting.")] = 1,
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="ENV=PATH, the original data of a world, such as ALFWorld-v0=json_2.1.1; "
            "may be repeated. ALFWorld's is found where it is installed."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of pages and runs, by default runs/TABLE-MODELS; unfinished runs in it "
            "resume."
        ),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    wide: Wide = False,
) -> None:
    """Play a paper's tables beside the published numbers.

    Each table becomes a page. Limits of cost, tokens and time apply to all runs together.
    """
    paper, rows_by_table = _chosen(name, [row for row in rows.split(",") if row])
    models = tuple(model or [DEFAULT_MODEL])
    sources = installed_data() | _data(data or [])
    reproduction = Reproduction(rows_by_table, models, seeds, sources, spec)
    out = out or _default_folder(name, reproduction)
    if dry_run:
        _show_estimates(paper, reproduction, out, as_json)
        return

    require("report", "jinja2")  # before hours of play
    names: dict[Path, str] = {}
    for job, run_name in _run_names(paper, reproduction).items():
        names[reproduction.folder(job, out)] = run_name
    bar_on = Console(stderr=True)

    def progress(run: RunSpec, folder: Path) -> Records:
        return evaluate_with_progress(run, folder, bar_on, names.get(folder, f"{name}, training"))

    try:
        for _ in play(reproduction, out, run=progress):
            pass
    except RunStopped:
        _write_pages(paper, reproduction, out, as_json)
        raise
    except KeyboardInterrupt:
        _write_pages(paper, reproduction, out, as_json)
        say("Stopped; run it again to resume.", error=as_json)
        raise typer.Exit(130) from None
    _write_pages(paper, reproduction, out, as_json)


def _write_pages(
    paper: Paper,
    reproduction: Reproduction,
    out: Path,
    as_json: bool,
) -> None:
    """Write the pages of what was played, and print their tables."""
    _show(write_pages(paper, reproduction, out), out, as_json)


def _show(
    pages: Sequence[Page],
    out: Path,
    as_json: bool,
) -> None:
    """Print the tables of pages, and where the pages are."""
    if as_json:
        print_json({f"{page.paper.key}/{page.table.key}": list(page.cells()) for page in pages})
        return
    for page in pages:
        tables.print_table(_fitting(page))
        for sentence in page.sentences:
            tables.print_words(sentence)
        file = out / f"{page.paper.key}-{page.table.key}.md"
        say(f"Wrote the page to {file}, and as .html and .csv.")


def _fitting(page: Page) -> tables.Table:
    """Return the table of a page in the first of its forms that the terminal has room for."""
    forms = []
    for headings, *lines in (page.grid, page.stacked, page.listed):
        form = tables.new_table(page.table.title, headings)
        for line in lines:
            form.add_row(*line)
        forms.append(form)
    return next(filter(tables.is_whole, forms), forms[-1])


def _chosen(name: str, rows: Sequence[str]) -> tuple[Paper, dict[Table, Sequence[str]]]:
    """Return the paper and the tables that a name stands for, each with the rows to play."""
    paper_key, slash, table_key = name.partition("/")
    if paper_key not in PAPERS:
        raise UnknownName.of("paper", paper_key, list(PAPERS))
    paper = PAPERS[paper_key]

    if not slash:
        if rows:
            raise ValueError(f"expected PAPER/TABLE with --rows, got {name}")
        return paper, {table: [row.key for row in table.rows] for table in paper.tables}

    if table_key in paper.missing:
        raise ValueError(f"{name} is not reproduced: {paper.missing[table_key]}")
    table = paper[table_key]
    chosen = map(table.row, rows) if rows else table.rows
    return paper, {table: [row.key for row in chosen]}


def _data(options: Sequence[str]) -> dict[str, str]:
    """Read ``ALFWorld-v0=PATH``."""
    paths = {}
    for option in options:
        env, equals, path = option.partition("=")
        if env not in DATA_ARGUMENT:
            raise UnknownName.of("world with original data", env, list(DATA_ARGUMENT))
        if not equals or not path:
            raise ValueError(f"expected ENV=PATH, got {option!r}")
        paths[env] = path
    return paths


def _default_folder(name: str, reproduction: Reproduction) -> Path:
    """Return a folder in which no run of the tables has the folder of another run."""

    def is_ours(folder: Path) -> bool:
        for table in reproduction.tables:
            for job in reproduction.jobs(table):
                if job.setting.training:  # its plan is not known before
                    continue
                if not holds(reproduction.folder(job, folder), reproduction.spec(job)):
                    return False
        return True

    models = "+".join(short_name(without_key(model)) for model in reproduction.models)
    return free_folder([name.replace("/", "-"), models], is_ours)


def _show_estimates(
    paper: Paper,
    reproduction: Reproduction,
    out: Path,
    as_json: bool,
) -> None:
    """Print what the missing runs are expected to take, each once: tables may share it."""
    rows: dict[str, Estimate] = {}
    notes: dict[str, list[str]] = {}
    names = _run_names(paper, reproduction)
    for table in reproduction.tables:
        for job, estimate in estimates(reproduction, table, out):
            player = without_key(reproduction.models[job.model])
            rows[f"{names[job]}, {player if job.setting.asks else 'scripted'}"] = estimate
        for note in page_notes(reproduction, table, {}, reproduction.jobs(table)):
            notes.setdefault(note, []).append(table.key)
    for note, keys in notes.items():
        say(f"{', '.join(keys)}: {note}", error=as_json)
    show_estimates(rows, as_json)
    for table, chosen in reproduction.tables.items():
        played = replace(table, rows=tuple(map(table.row, chosen)))
        for sentence in needs(played, sizes_of(reproduction, table)):
            line = f"{paper.key}/{table.key}: {sentence}"
            say(line, error=True) if as_json else show_lines([line])


def _run_names(paper: Paper, reproduction: Reproduction) -> dict[Job, str]:
    """Return what each run is for; of several tables that share it, the first."""
    names: dict[Job, str] = {}
    for table, rows in reproduction.tables.items():
        for job in reproduction.jobs(table):
            words = f"{paper.key}/{table.key} {table.place(job.setting, rows)}".rstrip()
            if job.setting.asks and reproduction.seeds > 1:
                words += f", seed {job.seed}"
            names.setdefault(job, words)
    return names
