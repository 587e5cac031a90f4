"""A small server on loopback that speaks as much of OpenAI's API as the tests need, and misbehaves on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers each request by the next behaviour of the server, the last one again and again."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))
        with self.server.lock:
            self.server.requests.append({"path": self.path, "key": self.headers["Authorization"], **body})
            behaviours = self.server.behaviours
            behave = behaviours.pop(0) if len(behaviours) > 1 else behaviours[0]
        behave(self)

    def send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Stay silent."""


class Server(ThreadingHTTPServer):
    """Keeps what it was asked in ``requests``."""

    daemon_threads = True

    def __init__(self, *behaviours: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviours = list(behaviours)
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def serving(*behaviours: Behaviour) -> Iterator[Server]:
    server = Server(*behaviours)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def says(text: str | None, usage: dict[str, int] | None = None, **details: Any) -> Behaviour:
    """Answer with a completion, in the form of the endpoint that was asked; details are of its one choice."""

    def behave(handler: Handler) -> None:
        chat = handler.path.endswith("/chat/completions")
        choice = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        choice.update(details)
        body: dict[str, Any] = {
            "id": "1",
            "object": "x",
            "created": 0,
            "model": "m",
            "choices": [{"index": 0, **choice}],
        }
        handler.send(200, json.dumps(body | ({"usage": usage} if usage else {})).encode())

    return behave


def fails(status: int, body: bytes = b'{"error": {"message": "no"}}') -> Behaviour:
    return lambda handler: handler.send(status, body)


def hangs(seconds: float) -> Behaviour:
    return lambda handler: time.sleep(seconds)


def hangs_up(handler: Handler) -> None:
    handler.close_connection = True
    handler.connection.close()


def stops_halfway(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    hangs_up(handler)
