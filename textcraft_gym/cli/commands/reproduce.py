"""The command ``textcraft-gym reproduce``."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.cli import tables
from textcraft_gym.cli.console import Console
from textcraft_gym.cli.run_options import takes_run_spec
from textcraft_gym.cli.terminal import say
from textcraft_gym.errors import RunStopped, UnknownName, require
from textcraft_gym.papers import PAPERS
from textcraft_gym.papers.reproduce import (
    DATA_ARGUMENT,
    Job,
    Reproduction,
    collected,
    estimates,
    installed_data,
    kept,
    play,
    played_with,
)
from textcraft_gym.papers.table import Paper, Table
from textcraft_gym.reports.records import Record
from textcraft_gym.runs.run_spec import DEFAULT_MODEL, RunSpec
from textcraft_gym.storage.cache import atomic_write

if TYPE_CHECKING:
    from textcraft_gym.papers.page import Page

NOT_OF_TABLES = (
    "split", "agent", "agent_args", "model", "planner", "env_args", "wrappers", "tasks", "seed", "repeats", "max_calls",
    "won_at",
)  # fmt: skip
"""Options of a run that a table's settings have."""

app = typer.Typer(add_completion=False)


@app.command()
@takes_run_spec(without=NOT_OF_TABLES, env="")
def reproduce(
    spec: RunSpec,
    name: Annotated[
        str, typer.Argument(help="A table, such as adapt/table2, or a paper, such as adapt.")
    ],
    out: Annotated[
        Path,
        typer.Option(help="The folder of pages and runs; unfinished ones in it are continued."),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(help="A model, as for evaluate; may be repeated, for a column each."),
    ] = None,
    rows: Annotated[str, typer.Option(help="Only these rows, with commas.")] = "",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each setting.")] = 1,
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="ENV=PATH, the original's data of a world, such as ALFWorld-v0=json_2.1.1; may be repeated. "
            "ALFWorld's is found where it is installed."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it is expected to take.")
    ] = False,
) -> None:
    """Play tables of a paper, and write each as a page beside the published numbers, with the runs.

    Limits of money, tokens and time are those of all runs together.
    """
    paper, chosen = _chosen(name, [row for row in rows.split(",") if row])
    models = tuple(model or [DEFAULT_MODEL])
    reproduction = Reproduction(chosen, models, seeds, installed_data() | _data(data or []), spec)
    if dry_run:
        _show_estimates(reproduction, out)
        return
    require("report", "jinja2")  # before hours of play
    runs = play(
        reproduction, out, run=partial(tables.evaluate_with_progress, bar_on=Console(stderr=True))
    )
    records: dict[Job, Sequence[Record]] = {}
    try:
        records.update(runs)  # one by one, so that those before a stop are there
    except RunStopped:
        _write_pages(paper, reproduction, records, out)
        raise
    except KeyboardInterrupt:
        _write_pages(paper, reproduction, records, out)
        say("Stopped. The same command continues from there.")
        raise typer.Exit(130) from None
    _write_pages(paper, reproduction, records, out)


def _write_pages(
    paper: Paper, reproduction: Reproduction, finished: Mapping[Job, Sequence[Record]], out: Path
) -> None:
    """Write the page of each table, of what was played; a table of which nothing was has none."""
    from textcraft_gym.papers.page import Page

    records = {**kept(reproduction, out), **finished}
    played = collected(reproduction, records)
    models = tuple(map(without_key, reproduction.models))
    for table, keys in reproduction.tables.items():
        jobs = reproduction.jobs(table)
        if not jobs or any(job in records for job in jobs):
            notes = _notes(reproduction, table, finished)
            sources = tuple(played_with(reproduction, [job for job in jobs if job in records], out))
            _write(Page(paper, table, keys, models, played, notes, sources), out)


def _write(page: Page, out: Path) -> None:
    """Write a page in its three forms, and print what it says."""
    out.mkdir(parents=True, exist_ok=True)  # nothing else made it where no row can be played
    file = out / f"{page.paper.key}-{page.table.key}.md"
    atomic_write(file, page.markdown())
    atomic_write(file.with_suffix(".html"), page.html())
    atomic_write(file.with_suffix(".csv"), page.csv())
    headings, *lines = page.grid
    tables.show_rows(page.table.title, [dict(zip(headings, line, strict=True)) for line in lines])
    for sentence in page.sentences:
        say(sentence)
    say(f"The page is {file}, and as .html and .csv.")


def _chosen(name: str, rows: Sequence[str]) -> tuple[Paper, dict[Table, Sequence[str]]]:
    """Return the paper and the tables that a name stands for, each with the rows to play."""
    key, slash, table = name.partition("/")
    if key not in PAPERS:
        raise UnknownName("paper", key, list(PAPERS))
    paper = PAPERS[key]
    if not slash:
        if rows:
            raise ValueError("rows are of one table: expected PAPER/TABLE with --rows")
        return paper, {one: [row.key for row in one.rows] for one in paper.tables}
    if table in paper.missing:
        raise ValueError(f"{key}/{table} is not here: {paper.missing[table]}")
    found = paper[table]
    return paper, {found: [found.row(row).key for row in rows] or [row.key for row in found.rows]}


def _data(texts: Sequence[str]) -> dict[str, str]:
    """Read ``ALFWorld-v0=PATH``."""
    found = {}
    for text in texts:
        env, equals, place = text.partition("=")
        if env not in DATA_ARGUMENT:
            raise UnknownName("world with data of its original", env, list(DATA_ARGUMENT))
        if not equals or not place:
            raise ValueError(f"expected ENV=PATH, got {text!r}")
        found[env] = place
    return found


def _notes(reproduction: Reproduction, table: Table, played: Container[Job]) -> tuple[str, ...]:
    """Return what a reader must know about the runs of a table."""
    jobs = reproduction.jobs(table)
    worlds = dict.fromkeys(job.setting.env for job in jobs)
    data = [
        f"{env} is played on the original's data."
        if env in reproduction.data
        else f"{env} is played on made data."
        for env in worlds
        if env in DATA_ARGUMENT
    ]
    limit = reproduction.options.limit
    cut = [] if limit is None else [f"Only the first {limit} tasks of each split were played."]
    missing = sum(job not in played for job in jobs)
    stopped = (
        [f"Not all was played: {missing} of {len(jobs)} runs are unfinished."] if missing else []
    )
    alone = len(reproduction.models) == 1 and any(max(setting.roles) for setting in table.settings)
    pairs = ["Rows of two models were not played: they take a second --model."] if alone else []
    return (*data, *cut, *stopped, *pairs)


def _show_estimates(reproduction: Reproduction, out: Path) -> None:
    """Print what the missing runs are expected to take, one that tables share with the first of them."""
    found = {}
    counted = set[Job]()
    for table in reproduction.tables:
        for job, expected in estimates(reproduction, table, out):
            if job not in counted:
                counted.add(job)
                rows = "+".join(
                    row.key for row in table.rows if job.setting in table.settings_of([row.key])
                )
                player = (
                    f"{reproduction.models[job.model]}, seed {job.seed}"
                    if job.setting.asks
                    else "scripted"
                )
                found[f"{table.key} {rows}: {job.setting.name}, {player}"] = expected
        for note in _notes(reproduction, table, reproduction.jobs(table)):
            say(f"{table.key}: {note}")
    tables.show_estimates(found)
