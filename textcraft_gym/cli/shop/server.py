"""The web server: the one of ``textcraft_gym.serving``, on the loopback address only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from a2wsgi import WSGIMiddleware
from flask import Flask

from textcraft_gym.cli.shop.app import MAX_BODY
from textcraft_gym.serving import server

THREADS = 8
"""Number of requests that are answered at once; others wait."""


def run_server(app: Flask, port: int, on_start: Callable[[str], object]) -> None:
    """Serve until Ctrl-C.

    Raises:
        OSError: If the port is taken.
    """
    shop: Any = app  # the two packages name the types of WSGI and ASGI in their own ways
    application: Any = WSGIMiddleware(shop, workers=THREADS)
    server.run_server(
        application, port=port, max_body=MAX_BODY, on_start=lambda address: on_start(f"{address}/")
    )
