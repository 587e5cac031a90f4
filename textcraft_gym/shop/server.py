"""The pages' server: one process, on the loopback address alone."""

from __future__ import annotations

import socket
from collections.abc import Callable

from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

HOST = "127.0.0.1"


class QuietHandler(WSGIRequestHandler):
    """Writes no line for each request."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing to say."""


def run_server(app: Flask, port: int, on_start: Callable[[str], None]) -> None:
    """Serve until Ctrl-C.

    A thread a connection, since a browser may open one and keep it idle.

    Raises:
        OSError: If the port is taken.
    """
    with socket.create_server((HOST, port)) as taken:
        port = taken.getsockname()[1]
        server = make_server(HOST, port, app, threaded=True, request_handler=QuietHandler, fd=taken.fileno())
    on_start(f"http://{HOST}:{port}/")
    server.serve_forever()
