"""The web server: the one of ``textcraft_gym.serving``, on the loopback address only."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask

from textcraft_gym.cli.shop.app import MAX_BODY
from textcraft_gym.serving.wsgi import run_wsgi


def run_server(
    app: Flask,
    port: int,
    on_start: Callable[[str], object],
) -> None:
    """Serve until Ctrl-C.

    Raises:
        OSError: If the port is taken.
    """
    run_wsgi(app, port=port, max_body=MAX_BODY, on_start=lambda address: on_start(f"{address}/"))
