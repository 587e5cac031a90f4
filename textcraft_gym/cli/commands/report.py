"""The command ``textcraft-gym report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli.options import ErrorsOption, Json, read_errors
from textcraft_gym.cli.report_tables import show_runs
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.errors import require
from textcraft_gym.reports.metrics import Errors, summarise_by_group
from textcraft_gym.reports.records import read_config, read_records
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
    folders = _named(runs)
    if out:
        _write_page(folders, out, policy)
    else:
        _show_results(folders, policy, as_json)


def _named(runs: Sequence[Path]) -> dict[str, Path]:
    """Return run folders by their names, or by their paths if two have the same name."""
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        names = list(map(str, runs))
    return dict(zip(names, runs, strict=True))


def _write_page(folders: Mapping[str, Path], out: Path, errors: Errors) -> None:
    require("report", "jinja2")
    from textcraft_gym.reports.page import html_page

    records = {name: read_records(run) for name, run in folders.items()}
    configs = {name: read_config(run) for name, run in folders.items()}
    inputs: list[Path] = []
    for run in folders.values():
        inputs += run_files(run)
    check_output(out, inputs)
    atomic_write(out, html_page(records, configs, errors=errors))
    say(f"Wrote {sum(map(len, records.values()))} episodes to {out}")


def _show_results(folders: Mapping[str, Path], errors: Errors, as_json: bool) -> None:
    configs = {name: read_config(run) for name, run in folders.items()}
    summaries = {
        name: summarise_by_group(read_records(run), errors=errors) for name, run in folders.items()
    }
    if as_json:
        results = {}
        for name, groups in summaries.items():
            results[name] = {group: asdict(summary) for group, summary in groups.items()}
        print_json(results)
        return

    show_runs(summaries)
    for name, config in configs.items():
        if mixed := several_codes(config):
            say(f"{name}: {mixed}")
