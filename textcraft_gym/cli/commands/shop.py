"""The command ``textcraft-gym shop``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli.options import EnvArgs
from textcraft_gym.cli.shop import serve
from textcraft_gym.cli.terminal import say
from textcraft_gym.plugins import key_values

PORT = 8090
"""Port of the shop, so that its address stays the same."""

app = typer.Typer(add_completion=False)


@app.command()
def shop(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder or file of WebShop products; by default generated ones."),
    ] = None,
    split: Annotated[str, typer.Option(help="Split whose tasks are listed.")] = "dev",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to serve on; 0 takes a free one.")
    ] = PORT,
    replay: Annotated[
        Path | None, typer.Option(help="Run folder or saved session to step through.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Task id to start with; with --replay, the episode's.")
    ] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Serve WebShop-lite as a local web site.

    Shop for a goal by hand, or step through an agent's episode.
    """
    env_args = key_values(env_arg or [])
    if data:
        env_args["data"] = str(data)
    serve(
        split=split,
        port=port,
        replay=replay,
        task=task,
        env_args=env_args,
        on_start=_print_address,
    )


def _print_address(address: str) -> None:
    say(f"The shop is open at {address} (Ctrl-C closes it)")
