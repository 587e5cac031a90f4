"""A server in a thread of the test's process, and a client that keeps its connection."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textcraft_gym.serving.guard import Guard


@contextmanager
def serving(app: Any, **options: Any) -> Iterator[int]:
    """Serve an application behind the guard, and give the port."""
    import uvicorn

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = uvicorn.Config(Guard(app, **options), log_level="warning", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


class Connection:
    """A client's connection to a server on this machine."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def get(self, path: str) -> Any:
        return self._ask("GET", path)

    def post(self, path: str, **body: Any) -> Any:
        return self._ask("POST", path, json.dumps(body), {"Content-Type": "application/json"})

    def close(self) -> None:
        self.connection.close()

    def _ask(self, *request: Any) -> Any:
        self.connection.request(*request)
        response = self.connection.getresponse()
        body = response.read()
        assert response.status == 200, body  # as AgentGym's clients have it
        return json.loads(body)
