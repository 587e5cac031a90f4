"""The web server: one process, on the loopback address only."""

from __future__ import annotations

import socket
from collections.abc import Callable

from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

HOST = "127.0.0.1"


class QuietHandler(WSGIRequestHandler):
    """Logs no requests."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing."""


def run_server(app: Flask, port: int, on_start: Callable[[str], None]) -> None:
    """Serve until Ctrl-C.

    Each connection has a thread, since browsers open connections and keep them idle.

    Raises:
        OSError: If the port is taken.
    """
    # The socket is opened first, so that port 0 is resolved and a taken port raises before the server starts.
    with socket.create_server((HOST, port)) as listener:
        port = listener.getsockname()[1]
        server = make_server(HOST, port, app, threaded=True, request_handler=QuietHandler, fd=listener.fileno())
    on_start(f"http://{HOST}:{port}/")
    server.serve_forever()
