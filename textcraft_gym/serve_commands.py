"""The commands ``textcraft-gym serve ...``: read arguments and start a server."""

from __future__ import annotations

from typing import Annotated

import typer

serve_app = typer.Typer(
    no_args_is_help=True, help="Serve environments or a model to other programs, on this machine unless told otherwise."
)

Host = Annotated[str, typer.Option(help="Address to listen on; by default reached from this machine only.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to serve on; 0 takes a free one.")]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option("--allow-host", help="A name by which clients may address the server; may be repeated."),
]
MaxSessions = Annotated[int, typer.Option(min=1, help="Maximum number of sessions that are open at once.")]
SessionTimeout = Annotated[float, typer.Option(help="Seconds without use after which a session is closed.")]


def print_address(kind: str, address: str) -> None:
    """Print where a server is."""
    typer.echo(f"{kind} at {address} (Ctrl-C closes it)")
