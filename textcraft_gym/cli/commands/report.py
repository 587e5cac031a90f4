"""The command ``textcraft-gym report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from textcraft_gym.cli.options import ErrorsOption, Json, Trust, Wide, read_errors
from textcraft_gym.cli.report_tables import show_lines, show_runs, show_steps
from textcraft_gym.cli.run_folders import Folders, run_folders, warnings_of
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.errors import require
from textcraft_gym.reports.calls import Calls
from textcraft_gym.reports.metrics import Errors, Summary, summarise_by_group
from textcraft_gym.reports.notes import advantages
from textcraft_gym.reports.paper_formats import FORMATS
from textcraft_gym.reports.paper_table import PaperTable, paper_table
from textcraft_gym.reports.step_claims import STEPS, StepClaims, step_rows
from textcraft_gym.reports.tables import markdown_table, several_codes
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
    folders = Folders(run_folders(runs))
    tables = {"latex": latex, "csv": csv, "md": md}
    for option, file in {"out": out, **tables, "plot": plot}.items():
        if file:
            _prepare(file, SUFFIXES[option], folders)
    claims: dict[str, StepClaims] = {}
    if steps:
        claims = {
            name: step_claims(run, trusted=trust or ()) for name, run in folders.paths.items()
        }
    if out:
        _write_page(folders, out, policy, claims)
    if plot or any(tables.values()):
        _write_table(folders, tables, plot, policy)
        if md and steps:
            _append_steps(md, claims)
    elif not out:
        _show_results(folders, policy, as_json, claims if steps else None)


def _append_steps(file: Path, claims: Mapping[str, StepClaims]) -> None:
    """Write the claims about steps of plans below a table in Markdown."""
    table = markdown_table(STEPS, step_rows(claims))
    atomic_write(file, f"{file.read_text(encoding='utf-8')}\n{table}")


def _write_page(
    folders: Folders,
    out: Path,
    errors: Errors,
    steps: Mapping[str, StepClaims],
) -> None:
    require("report", "jinja2")
    from textcraft_gym.reports.page import html_page

    calls = {name: Calls(run) for name, run in folders.paths.items()}
    page = html_page(folders.records, folders.configs, calls=calls, steps=steps, errors=errors)
    atomic_write(out, page)
    episodes = sum(map(len, folders.records.values()))
    say(f"Wrote {episodes} episodes to {out}: {out.resolve().as_uri()}")


def _write_table(
    folders: Folders,
    tables: Mapping[str, Path | None],
    plot: Path | None,
    errors: Errors,
) -> None:
    """Write the table for a paper in each format that is asked for, and its plot."""
    table = paper_table(folders.pools, errors=errors)
    for name, file in tables.items():
        if file:
            atomic_write(file, FORMATS[name](table))
            say(f"Wrote the table to {file}")
    if plot:
        _write_plot(table, plot)
        say(f"Wrote the plot to {plot}")
    show_lines(table.notes)


def _write_plot(table: PaperTable, file: Path) -> None:
    """Write the plot of a table in the format that the name of the file ends in."""
    require("report", "jinja2")
    from textcraft_gym.reports.plots import as_pdf, figure

    image = figure(table)
    atomic_write(file, image if file.suffix == ".svg" else as_pdf(image))


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
    steps: Mapping[str, StepClaims] | None,
) -> None:
    """Print the tables, or all numbers as JSON; the claims about steps are None if unasked for."""
    summaries = {
        name: summarise_by_group(records, errors=errors)
        for name, records in folders.records.items()
    }
    warnings = warnings_of(folders.pools)
    if as_json:
        results: dict[str, Any] = {"warnings": warnings, "runs": _as_json(folders, summaries)}
        if steps is not None:
            results["steps"] = steps
        print_json(results)
        return

    show_lines(warnings)
    show_runs(summaries)
    if steps is not None:
        show_steps(steps)
    show_lines(advantages(folders.configs.values()))
    for name, config in folders.configs.items():
        if mixed := several_codes(config):
            say(f"{name}: {mixed}")


def _as_json(folders: Folders, summaries: Mapping[str, Mapping[str, Summary]]) -> Mapping[str, Any]:
    runs = {}
    for name, groups in summaries.items():
        runs[name] = {
            "episodes": folders.configs[name].get("episodes"),
            "played": len(folders.records[name]),
            "groups": {group: asdict(summary) for group, summary in groups.items()},
        }
    return runs
