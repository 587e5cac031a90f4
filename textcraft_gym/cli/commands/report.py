"""The command ``textcraft-gym report``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from textcraft_gym.cli.options import ErrorsOption, Json, read_errors
from textcraft_gym.cli.report_tables import show_runs
from textcraft_gym.cli.run_folders import Folders, warnings_of
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.errors import require
from textcraft_gym.reports.metrics import Errors, Summary, summarise_by_group
from textcraft_gym.reports.notes import advantages
from textcraft_gym.reports.tables import several_codes
from textcraft_gym.storage.cache import atomic_write
from textcraft_gym.storage.outputs import check_output, run_files

app = typer.Typer(add_completion=False)


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    out: Annotated[
        Path | None, typer.Option(help="Write an HTML page with tables, plots and episodes.")
    ] = None,
    errors: ErrorsOption = "exclude",
    as_json: Json = False,
) -> None:
    """Show the results of runs side by side."""
    policy = read_errors(errors)
    folders = Folders(runs)
    if out:
        _write_page(folders, out, policy)
    else:
        _show_results(folders, policy, as_json)


def _write_page(folders: Folders, out: Path, errors: Errors) -> None:
    require("report", "jinja2")
    from textcraft_gym.reports.page import html_page

    inputs: list[Path] = []
    for run in folders.paths.values():
        inputs += run_files(run)
    check_output(out, inputs)
    atomic_write(out, html_page(folders.records, folders.configs, errors=errors))
    say(f"Wrote {sum(map(len, folders.records.values()))} episodes to {out}")


def _show_results(folders: Folders, errors: Errors, as_json: bool) -> None:
    summaries = {
        name: summarise_by_group(records, errors=errors)
        for name, records in folders.records.items()
    }
    warnings = warnings_of(folders.pools)
    if as_json:
        print_json({"warnings": warnings, "runs": _as_json(folders, summaries)})
        return

    for line in warnings:
        say(line)
    show_runs(summaries)
    for line in advantages(folders.configs.values()):
        say(line)
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
