"""Serves an application of Flask as ``server.py`` does one of the ASGI interface."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from a2wsgi import WSGIMiddleware
from flask import Flask

from textcraft_gym.serving import server

THREADS = 8
"""Number of requests that are answered at once; others wait."""


def run_wsgi(
    app: Flask,
    *,
    host: str = server.LOOPBACK,
    port: int,
    allowed_hosts: Collection[str] = (),
    max_body: int,
    on_start: Callable[[str], object],
) -> None:
    """Serve until Ctrl-C; for the arguments and errors see ``run_server``."""
    web: Any = app  # the two packages name the types of WSGI and ASGI in their own ways
    application: Any = WSGIMiddleware(web, workers=THREADS)
    server.run_server(
        application,
        host=host,
        port=port,
        allowed_hosts=allowed_hosts,
        max_body=max_body,
        on_start=on_start,
    )
