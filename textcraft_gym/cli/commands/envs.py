"""The command ``textcraft-gym envs``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from warnings import warn

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.options import Json, Wide
from textcraft_gym.cli.terminal import print_json
from textcraft_gym.errors import TextCraftGymError
from textcraft_gym.plugins import one_line
from textcraft_gym.registration import SUITE, World, find, installed_worlds
from textcraft_gym.task import tasks

app = typer.Typer(add_completion=False)


@app.command()
def envs(as_json: Json = False, wide: Wide = False) -> None:
    """List the environments of the suite and of installed packages."""
    rows = _rows()
    if as_json:
        print_json(rows)
    else:
        _show(rows)


def _show(rows: Sequence[dict[str, Any]]) -> None:
    """Print the environments; where summaries do not fit beside, they follow below."""
    title, ranked = "Environments", ("id", "tasks", "step limit", "split")
    table = tables.table_of(title, rows, ranked)
    if tables.is_whole(table):
        tables.print_table(table)
        return
    summaries = {row["id"]: row.pop("summary") for row in rows}
    tables.print_table(tables.table_of(title, rows, ranked))
    for name, summary in summaries.items():
        tables.print_words(f"{name}: {summary}", hanging=2)


def _rows() -> list[dict[str, Any]]:
    return [
        {
            "id": world.id,
            "game": world.profile,
            "tasks": _number_of_tasks(world),
            "split": world.default_split(),
            "step limit": world.spec.max_episode_steps,
            "summary": world.summary.replace("``", ""),
        }
        for world in _worlds()
    ]


def _worlds() -> Iterator[World]:
    """Yield the worlds; one of a broken package is left out with a warning."""
    for env_id in dict.fromkeys([*SUITE, *installed_worlds()]):
        try:
            world = find(env_id)
            _ = world.parameters  # the class is loaded
        except Exception as error:  # an installed package may be broken in any way
            warn(f"{env_id} is left out: {one_line(error)}", stacklevel=2)
        else:
            yield world


def _number_of_tasks(world: World) -> int | None:
    """Return how many tasks a world has in all splits; None where its game is not installed."""
    try:
        return len(tasks(world.id))
    except (TextCraftGymError, ValueError):
        return None
