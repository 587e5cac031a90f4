"""The command ``textcraft-gym report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from textcraft_gym.cli.options import ErrorsOption, Json, Wide, read_errors
from textcraft_gym.cli.report_tables import show_lines, show_runs, show_why
from textcraft_gym.cli.run_folders import Folders, run_folders, warnings_of
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.errors import require
from textcraft_gym.reports.calls import Calls
from textcraft_gym.reports.metrics import Errors, Summary, summarise_by_group
from textcraft_gym.reports.notes import advantages
from textcraft_gym.reports.paper_formats import FORMATS
from textcraft_gym.reports.paper_table import PaperTable, paper_table
from textcraft_gym.reports.profiles import profile_of
from textcraft_gym.reports.tables import several_codes
from textcraft_gym.reports.why import WHY_TITLE, Why, why_markdown
from textcraft_gym.reports.why import why as why_of
from textcraft_gym.storage.cache import atomic_write
from textcraft_gym.storage.outputs import check_output, run_files

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
    causes = _why(folders) if why else {}
    tables = {"latex": latex, "csv": csv, "md": md}
    for option, file in {"out": out, **tables, "plot": plot}.items():
        if file:
            _prepare(file, SUFFIXES[option], folders)
    if out:
        _write_page(folders, out, policy, causes)
    if plot or any(tables.values()):
        _write_table(folders, tables, plot, policy, causes)
    elif not out:
        _show_results(folders, policy, causes, as_json)


def _why(folders: Folders) -> dict[str, Why]:
    """Return why the episodes of each run were lost."""
    found = {}
    for name, records in folders.records.items():
        found[name] = why_of(records, profile_of(folders.configs[name]["env"]))
    return found


def _write_page(
    folders: Folders,
    out: Path,
    errors: Errors,
    causes: Mapping[str, Why],
) -> None:
    require("report", "jinja2")
    from textcraft_gym.reports.page import html_page

    calls = {name: Calls(run) for name, run in folders.paths.items()}
    page = html_page(folders.records, folders.configs, calls=calls, errors=errors, why=causes)
    atomic_write(out, page)
    episodes = sum(map(len, folders.records.values()))
    say(f"Wrote {episodes} episodes to {out}: {out.resolve().as_uri()}")


def _write_table(
    folders: Folders,
    tables: Mapping[str, Path | None],
    plot: Path | None,
    errors: Errors,
    causes: Mapping[str, Why],
) -> None:
    """Write the table for a paper in each format that is asked for, and its plot.

    Markdown has the causes of losses below it.
    """
    table = paper_table(folders.pools, errors=errors)
    for name, file in tables.items():
        if file:
            text = FORMATS[name](table)
            if name == "md" and (below := why_markdown(causes)):
                text += f"\n{WHY_TITLE}:\n\n{below}"
            atomic_write(file, text)
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
    causes: Mapping[str, Why],
    as_json: bool,
) -> None:
    summaries = {
        name: summarise_by_group(records, errors=errors)
        for name, records in folders.records.items()
    }
    warnings = warnings_of(folders.pools)
    if as_json:
        as_dict = {"warnings": warnings, "runs": _as_json(folders, summaries)}
        print_json({**as_dict, "why": causes} if causes else as_dict)
        return

    show_lines(warnings)
    show_runs(summaries)
    if causes:
        show_why(causes)
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
