"""The command ``textcraft-gym envs``."""

from __future__ import annotations

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.options import Json
from textcraft_gym.cli.terminal import print_json

app = typer.Typer(add_completion=False)


@app.command()
def envs(as_json: Json = False) -> None:
    """List the environments of the suite."""
    found = tables.suite_rows()
    if as_json:
        print_json(found)
    else:
        tables.show_rows("Environments", found)
