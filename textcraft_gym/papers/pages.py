"""The pages of a reproduction: how they are written, and how they are written again."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.errors import RunError
from textcraft_gym.papers import PAPERS
from textcraft_gym.papers.reproduce import (
    DATA_ARGUMENT,
    Job,
    Reproduction,
    collected,
    kept,
    played_with,
    prompts_of_models,
)
from textcraft_gym.papers.table import Paper, Setting, Table
from textcraft_gym.reports.exposure import exposure
from textcraft_gym.reports.provenance import Provenance, digest_of_folder, sources, stamped
from textcraft_gym.reports.records import Record, read_config, shown
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.storage.cache import atomic_write
from textcraft_gym.storage.json_types import is_of_type

if TYPE_CHECKING:
    from textcraft_gym.papers.page import Page

SUFFIXES = (".md", ".html", ".csv")
"""Suffixes of the forms of a page."""
MAX_JOBS = 10_000
"""Maximum number of runs that a foreign page may ask for."""


@dataclass(frozen=True)
class Options:
    """What determines a page besides its runs, as the page holds it.

    Attributes:
        table: The paper and the table.
        rows: The keys of the rows that were asked for.
        models: The models, without keys.
        seeds: Number of runs of each setting.
        data: The worlds with the original's data.
        limit: Maximum number of tasks of each split; None for all.
    """

    table: str
    rows: list[str]
    models: list[str]
    seeds: int
    data: list[str]
    limit: int | None


def write_pages(
    paper: Paper,
    reproduction: Reproduction,
    out: Path,
) -> list[Page]:
    """Write the page of each table of which something was played, with the digests of its runs."""
    digest = cache(digest_of_folder)  # tables share runs
    pages = []
    for page, jobs in _pages(paper, reproduction, out):
        places = [reproduction.folder(job, out) for job in jobs]
        folders = {place.relative_to(out).as_posix(): place for place in places}
        digests = {name: digest(place) for name, place in folders.items()}
        options = asdict(_options(page, reproduction))
        made_from = Provenance("reproduce", options, sources(folders, digests, out))
        out.mkdir(parents=True, exist_ok=True)  # nothing else made it where no row can be played
        for suffix in SUFFIXES:
            file = out / f"{page.paper.key}-{page.table.key}{suffix}"
            atomic_write(file, stamped(_form(page, suffix), suffix, made_from))
        pages.append(page)
    return pages


def reproduce_again(
    provenance: Provenance,
    places: Mapping[str, Path],
    suffix: str,
) -> str:
    """Return a page of ``reproduce`` as its runs give it now.

    Raises:
        RunError: If its options make no sense.
        UnknownName: For a table or a row that is not known.
    """
    if not is_of_type(provenance.options, Options):
        raise RunError(f"expected the options of a table, got {shown(provenance.options)}")
    options = Options(**provenance.options)
    key, _, of_paper = options.table.partition("/")
    if key not in PAPERS:
        raise RunError(f"no paper is called {shown(key)}")
    paper = PAPERS[key]
    table = paper[of_paper]
    rows = [table.row(row).key for row in dict.fromkeys(options.rows)]
    if not 0 < options.seeds * len(options.models) * len(table.rows) <= MAX_JOBS:
        raise RunError(f"expected at most {MAX_JOBS} runs, and one")
    moved = {run.folder: places[run.label] for run in provenance.runs}
    reproduction = Reproduction(
        {table: rows},
        tuple(options.models),
        options.seeds,
        dict.fromkeys(options.data, ""),
        RunSpec("", limit=options.limit),
        moved,
    )
    # Below a device there are no other runs.
    for page, _ in _pages(paper, reproduction, Path(os.devnull)):
        return _form(page, suffix)
    raise RunError("nothing of its table was played")


def _options(page: Page, reproduction: Reproduction) -> Options:
    """Return the options of a page."""
    return Options(
        table=f"{page.paper.key}/{page.table.key}",
        rows=list(page.rows),
        models=list(page.models),
        seeds=reproduction.seeds,
        data=list(reproduction.data),
        limit=reproduction.options.limit,
    )


def _form(page: Page, suffix: str) -> str:
    """Return a page in the format of a suffix."""
    if suffix == ".md":
        return page.markdown()
    return page.csv() if suffix == ".csv" else page.html()


def _pages(
    paper: Paper,
    reproduction: Reproduction,
    out: Path,
) -> Iterator[tuple[Page, list[Job]]]:
    """Yield the page of each table of which something was played, with its runs."""
    from textcraft_gym.papers.page import Page

    records = kept(reproduction, out)
    folders = {job: reproduction.folder(job, out) for job in records}
    finished = {job for job, folder in folders.items() if read_config(folder).get("finished")}
    results = collected(reproduction, records)
    models = tuple(map(without_key, reproduction.models))
    for table, rows in reproduction.tables.items():
        jobs = reproduction.jobs(table)
        played = [job for job in jobs if job in records]
        # A table without jobs has a page, too: it says why nothing can be played.
        if played or not jobs:
            notes = page_notes(reproduction, table, records, finished)
            of_table = {job: records[job] for job in played}
            yield (
                Page(
                    paper,
                    table,
                    rows,
                    models,
                    results,
                    prompts=prompts_of_models(reproduction, played, out),
                    notes=notes,
                    trained_on=tuple(_trained_on(reproduction, table, of_table, out)),
                    sources=tuple(played_with(reproduction, of_table, out)),
                ),
                played,
            )


def _trained_on(
    reproduction: Reproduction,
    table: Table,
    records: Mapping[Job, Sequence[Record]],
    out: Path,
) -> Iterator[str]:
    """Yield what was won of tasks that a model was trained on, and of the others."""
    runs: dict[tuple[Setting, int], list[Job]] = {}
    for job in records:
        runs.setdefault((job.setting, job.model), []).append(job)
    for (setting, model), jobs in runs.items():
        config = read_config(reproduction.folder(jobs[0], out))
        if clauses := exposure(config, [records[job] for job in jobs]):
            name = table.place(setting, reproduction.tables[table]) or setting.agent
            if len(reproduction.models) > 1:
                name = f"{without_key(reproduction.models[model])}, {name}"
            yield f"{name}: won {', and '.join(clauses)}."


def page_notes(
    reproduction: Reproduction,
    table: Table,
    records: Mapping[Job, Sequence[Record]],
    finished: Container[Job],
) -> tuple[str, ...]:
    """Return what a reader must know about the runs of a table."""
    jobs = reproduction.jobs(table)
    notes = _data_notes(reproduction, jobs)

    limit = reproduction.options.limit
    if limit is not None:
        notes.append(f"Only the first {limit} tasks of each split were played.")
    unfinished = [job for job in jobs if job not in finished]
    if unfinished:
        episodes = sum(len(records.get(job, ())) for job in unfinished)
        notes.append(
            f"Not all was played: unfinished are {len(unfinished)} of {len(jobs)} runs, which have "
            f"{episodes} episodes so far. Their figures will change."
        )
    takes_two = any(max(setting.roles) for setting in table.settings)
    if takes_two and len(reproduction.models) == 1:
        notes.append("Rows of two models were not played: they take a second --model.")
    return tuple(notes)


def _data_notes(reproduction: Reproduction, jobs: Iterable[Job]) -> list[str]:
    """Return which data each world is played on, of those whose original's can be had."""
    notes = []
    for env in dict.fromkeys(job.setting.env for job in jobs):
        if env in DATA_ARGUMENT:
            data = "the original's" if env in reproduction.data else "made"
            notes.append(f"{env} is played on {data} data.")
    return notes
