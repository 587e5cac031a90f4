"""The command ``textcraft-gym agents``."""

from __future__ import annotations

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.options import Json
from textcraft_gym.cli.terminal import print_json

app = typer.Typer(add_completion=False)


@app.command()
def agents(as_json: Json = False) -> None:
    """List the agents, and the games that each plays; --json says why not, too."""
    found = tables.agent_rows()
    if as_json:
        print_json(found)
    else:
        tables.show_agents(found)
