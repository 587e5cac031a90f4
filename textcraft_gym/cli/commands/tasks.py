"""The command ``textcraft-gym tasks``."""

from __future__ import annotations

from typing import Annotated

import typer

import textcraft_gym
from textcraft_gym.cli import tables
from textcraft_gym.cli.options import EnvArgs, EnvId, Json
from textcraft_gym.cli.terminal import print_json
from textcraft_gym.plugins import key_values
from textcraft_gym.task import describe_task

app = typer.Typer(add_completion=False)


@app.command()
def tasks(
    env: EnvId,
    split: Annotated[str | None, typer.Option(help="A split; by default all tasks.")] = None,
    env_arg: EnvArgs = None,
    guidance: Annotated[
        bool,
        typer.Option("--guidance", help="Print MineDojo's guidance as well, if it is installed."),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the tasks of a split: group, depth, and the length of a shortest solution."""
    found = textcraft_gym.tasks(env, split, **key_values(env_arg or []))
    if as_json:
        print_json([{**describe_task(task), **getattr(task, "details", {})} for task in found])
        return
    tables.show_tasks(found)
    if guidance:
        tables.show_guidance(found)
