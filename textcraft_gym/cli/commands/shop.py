"""The command ``textcraft-gym shop``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli.options import EnvArgs
from textcraft_gym.cli.shop import serve
from textcraft_gym.cli.terminal import say
from textcraft_gym.plugins import key_values

app = typer.Typer(add_completion=False)


@app.command()
def shop(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder or file of products of the original's data; by default generated ones."
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Split whose tasks are listed.")] = "dev",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to serve on; 0 takes a free one.")
    ] = 0,
    replay: Annotated[
        Path | None,
        typer.Option(help="A run folder, or a session saved as a file, to step through."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(help="A task id: the episode to replay, or the task to start with."),
    ] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Serve WebShop-lite as web pages on this machine, to try a goal by hand or to step through an agent's episode."""
    env_args = key_values(env_arg or []) | ({"data": str(data)} if data else {})
    serve(
        split=split, port=port, replay=replay, task=task, env_args=env_args, on_start=_print_address
    )


def _print_address(address: str) -> None:
    say(f"The shop is open at {address} (Ctrl-C closes it)")
