"""The command ``textcraft-gym compare``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli.options import ErrorsOption, Json, read_errors
from textcraft_gym.cli.report_tables import show_comparison
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.reports.compare import compare as compare_records
from textcraft_gym.reports.compare import unlike
from textcraft_gym.reports.records import read_config, read_records

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="Run folder.")],
    second: Annotated[Path, typer.Argument(help="Run folder with the same tasks.")],
    errors: ErrorsOption = "exclude",
    as_json: Json = False,
) -> None:
    """Compare two runs task by task.

    Shows which tasks flipped, the difference in success, and its p-value.
    """
    comparison = compare_records(
        read_records(first), read_records(second), errors=read_errors(errors)
    )
    differences = unlike([read_config(first), read_config(second)])
    if as_json:
        names = {"first": first.name, "second": second.name}
        print_json({**names, "unlike": differences, **asdict(comparison)})
        return
    if differences:
        say(f"The runs also differ beyond agent and model: {'; '.join(differences)}")
    show_comparison(first.name, second.name, comparison)
