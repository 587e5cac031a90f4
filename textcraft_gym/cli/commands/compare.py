"""The command ``textcraft-gym compare``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.options import ErrorsOption, Json, read_errors
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.reports.compare import compare as compare_records
from textcraft_gym.reports.compare import unlike
from textcraft_gym.reports.records import read_config, read_records

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="A run folder.")],
    second: Annotated[Path, typer.Argument(help="A run folder with the same tasks.")],
    errors: ErrorsOption = "exclude",
    as_json: Json = False,
) -> None:
    """Compare two runs task by task: which tasks flipped, the difference of success, and its p-value."""
    found = compare_records(read_records(first), read_records(second), errors=read_errors(errors))
    others = unlike([read_config(first), read_config(second)])
    if as_json:
        print_json({"first": first.name, "second": second.name, "unlike": others, **asdict(found)})
    else:
        if others:
            say(
                f"Besides agent and model, the runs differ in what may explain a difference: {'; '.join(others)}"
            )
        tables.show_comparison(first.name, second.name, found)
