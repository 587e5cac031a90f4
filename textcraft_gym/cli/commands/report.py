"""The command ``textcraft-gym report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from textcraft_gym.cli.options import ErrorsOption, Json, Trust, Wide, read_errors
from textcraft_gym.cli.report_tables import show_lines, show_runs, show_steps, show_why
from textcraft_gym.cli.run_folders import run_folders, warnings_of
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.errors import require
from textcraft_gym.reports.folders import Folders, named
from textcraft_gym.reports.metrics import Errors, Summary, summarise_by_group
from textcraft_gym.reports.notes import advantages, episodes_and_attempts, exposures
from textcraft_gym.reports.provenance import (
    STAMPED,
    Provenance,
    digest_of,
    sources,
    stamped,
)
from textcraft_gym.reports.tables import several_codes
from textcraft_gym.storage.cache import atomic_write
from textcraft_gym.storage.outputs import check_output, run_files
from textcraft_gym.verify.steps import step_claims

app = typer.Typer(add_completion=False)

SUFFIXES = {
    "out": (".html", ".htm"),
    "latex": (".tex",),
    "csv": (".csv",),
    "md": (".md",),
    "plot": (".svg", ".pdf"),
}
"""What the names of the files end in that the options write."""


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, or folders of runs.")],
    out: Annotated[
        Path | None, typer.Option(help="Write an HTML page with tables, plots and episodes.")
    ] = None,
    latex: Annotated[
        Path | None, typer.Option(help="Write a table for a paper as LaTeX: agents by groups.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write that table as CSV.")] = None,
    md: Annotated[Path | None, typer.Option(help="Write that table as Markdown.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Write its bars as FILE.svg, or as FILE.pdf (extra pdf).")
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Count lost episodes by cause, from their transcripts.")
    ] = False,
    steps: Annotated[
        bool,
        typer.Option(
            "--steps",
            help="Replay the runs, and add what agents claimed of the steps of their plans against "
            "the state of the world.",
        ),
    ] = False,
    trust: Trust = None,
    errors: ErrorsOption = "exclude",
    as_json: Json = False,
    wide: Wide = False,
) -> None:
    """Show the results of runs side by side.

    --out writes them as a page; --latex, --csv, --md and --plot write a table for a paper.

    The table has a row for each agent, and a column for each group of tasks of each world.

    Runs that differ only in their seed are one row. ADaPT's tables from the runs of its agents:

    textcraft-gym report runs/*-alfworld runs/*-textcraft --latex adapt.tex --plot adapt.svg
    """
    policy = read_errors(errors)
    paths = named(run_folders(runs))
    claims = None
    if steps:
        claims = {name: step_claims(run, trusted=trust or ()) for name, run in paths.items()}
    folders = Folders(paths, policy, with_causes=why, steps=claims)
    asked = {"out": out, "latex": latex, "csv": csv, "md": md, "plot": plot}
    files = {option: file for option, file in asked.items() if file}
    for option, file in files.items():
        _prepare(file, SUFFIXES[option], folders)
    if not files:
        _show_results(folders, policy, as_json)
        return

    if out or plot:
        require("report", "jinja2")
    configs, records = folders.configs, folders.records
    digests = {name: digest_of(configs[name], records[name]) for name in configs}
    for option, file in files.items():
        _write(folders, file, {"errors": policy, "why": why, "steps": steps}, digests)
        if option == "out":
            episodes = sum(map(len, folders.records.values()))
            say(f"Wrote {episodes} episodes to {file}: {file.resolve().as_uri()}")
        else:
            say(f"Wrote the {'plot' if option == 'plot' else 'table'} to {file}")
    if list(files) != ["out"]:
        show_lines(folders.table.notes)


def _write(
    folders: Folders,
    file: Path,
    options: dict[str, Any],
    digests: Mapping[str, str],
) -> None:
    """Write a file in the format that its name ends in, with the digests of its runs."""
    if file.suffix not in STAMPED:
        from textcraft_gym.reports.plots import as_pdf

        atomic_write(file, as_pdf(folders.file(".svg")))
        return
    runs = sources(folders.paths, digests, file.parent)
    text = folders.file(file.suffix)
    atomic_write(file, stamped(text, file.suffix, Provenance("report", options, runs)))


def _prepare(
    file: Path,
    suffixes: Sequence[str],
    folders: Folders,
) -> None:
    """Make sure that a file is of its format and none of the runs', and make its folder."""
    inputs: list[Path] = []
    for run in folders.paths.values():
        inputs += run_files(run)
    check_output(file, inputs, suffixes)
    file.parent.mkdir(parents=True, exist_ok=True)


def _show_results(
    folders: Folders,
    errors: Errors,
    as_json: bool,
) -> None:
    summaries = {
        name: summarise_by_group(records, errors=errors)
        for name, records in folders.records.items()
    }
    warnings = warnings_of(folders.pools)
    if as_json:
        as_dict = {"warnings": warnings, "runs": _as_json(folders, summaries)}
        below = {"why": folders.causes, "steps": folders.steps}
        print_json(as_dict | {name: found for name, found in below.items() if found})
        return

    show_lines(warnings)
    show_runs(summaries)
    if folders.causes:
        show_why(folders.causes)
    if folders.steps is not None:
        show_steps(folders.steps)
    show_lines(exposures(folders.pools))
    show_lines(advantages(folders.configs.values()))
    for name, config in folders.configs.items():
        if mixed := several_codes(config):
            say(f"{name}: {mixed}")
    for name, records in folders.records.items():
        if records.attempts:
            say(f"{name}: {episodes_and_attempts(len(records), records.attempts)}")


def _as_json(folders: Folders, summaries: Mapping[str, Mapping[str, Summary]]) -> Mapping[str, Any]:
    runs = {}
    for name, groups in summaries.items():
        runs[name] = {
            "episodes": folders.configs[name].get("episodes"),
            "played": len(folders.records[name]),
            "groups": {group: asdict(summary) for group, summary in groups.items()},
        }
    return runs
