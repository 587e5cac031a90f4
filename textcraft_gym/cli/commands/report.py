"""The command ``textcraft-gym report``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.options import ErrorsOption, Json, read_errors
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.errors import require
from textcraft_gym.reports.metrics import summarise_by_group
from textcraft_gym.reports.records import read_config, read_records
from textcraft_gym.reports.tables import several_codes
from textcraft_gym.storage.cache import atomic_write
from textcraft_gym.storage.outputs import check_output, run_files

app = typer.Typer(add_completion=False)


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    out: Annotated[
        Path | None, typer.Option(help="Write one page with tables, plots and every episode.")
    ] = None,
    errors: ErrorsOption = "exclude",
    as_json: Json = False,
) -> None:
    """Print the results of runs side by side, or write a page about them."""
    how = read_errors(errors)
    # Runs go by their folders' names, or by their paths if two folders have the same name.
    names = [run.name for run in runs]
    folders = dict(
        zip(names if len(set(names)) == len(names) else map(str, runs), runs, strict=True)
    )
    configs = {name: read_config(run) for name, run in folders.items()}
    records = {name: read_records(run) for name, run in folders.items()}
    if out:
        require("report", "jinja2")
        from textcraft_gym.reports.page import html_page

        check_output(out, [file for run in runs for file in run_files(run)])
        atomic_write(out, html_page(records, configs, errors=how))
        say(f"{sum(map(len, records.values()))} episodes to {out}")
        return
    summaries = {name: summarise_by_group(of_run, errors=how) for name, of_run in records.items()}
    if as_json:
        print_json(
            {
                run: {name: asdict(group) for name, group in groups.items()}
                for run, groups in summaries.items()
            }
        )
    else:
        tables.show_runs(summaries)
        for name, config in configs.items():
            if mixed := several_codes(config):
                say(f"{name}: {mixed}")
