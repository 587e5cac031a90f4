"""The command ``textcraft-gym envs``."""

from __future__ import annotations

from typing import Any

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.options import Json
from textcraft_gym.cli.terminal import print_json
from textcraft_gym.registration import SUITE, find

app = typer.Typer(add_completion=False)


@app.command()
def envs(as_json: Json = False) -> None:
    """List the environments of the suite."""
    rows = _rows()
    if as_json:
        print_json(rows)
    else:
        tables.show_rows("Environments", rows)


def _rows() -> list[dict[str, Any]]:
    return [
        {
            "id": world.id,
            "game": world.profile,
            "split": world.default_split,
            "step limit": world.spec.max_episode_steps,
            "summary": world.summary,
        }
        for world in map(find, SUITE)
    ]
