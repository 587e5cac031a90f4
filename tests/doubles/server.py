"""A small HTTP server on loopback that answers as a test says: the ground of every double of a
server of models."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeAlias


class Request(NamedTuple):
    """What a server was asked.

    Attributes:
        path: The path of the address.
        headers: Its headers.
        body: Its JSON object.
        number: How many requests the server got before it.
    """

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    number: int = 0

    @property
    def is_chat(self) -> bool:
        """Whether it asks the endpoint that takes messages."""
        return self.path.endswith("/chat/completions")


@dataclass(frozen=True)
class Reply:
    """What a server sends.

    Attributes:
        body: The body in one piece, or its pieces, which are sent as chunks.
        status: The HTTP status; 0 to send no head at all, but the pieces as they are.
        content_type: The type of the body.
        headers: Further headers.
        delay: Seconds to wait before each piece.
        hangs_up: Whether the connection ends with the last piece, although the body may not.
    """

    body: bytes | Iterable[bytes] = b""
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hangs_up: bool = False


Answer: TypeAlias = Callable[[Request], Reply]


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = (
        True  # a head and a body are two writes, between which it would wait for 40 ms
    )

    def handle(self) -> None:
        with suppress(ConnectionError):  # the client had enough
            super().handle()

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def do_GET(self) -> None:
        """Send the list of models, which counts as no request."""
        if self.server.models is None:
            self.send_error(404)
            return
        reply = sends({"object": "list", "data": self.server.models})
        self._send_head(reply)
        self.wfile.write(reply.body)

    def _answer(self, body: dict[str, Any]) -> None:
        with self.server.lock:
            request = Request(self.path, dict(self.headers), body, len(self.server.requests))
            self.server.requests.append(
                {"path": self.path, "key": self.headers["Authorization"], **body}
            )
        answers = self.server.answers
        reply = answers[min(request.number, len(answers) - 1)](request)
        if reply.status:
            self._send_head(reply)
        chunked = reply.status and not isinstance(reply.body, bytes)
        for piece in [reply.body] if isinstance(reply.body, bytes) else reply.body:
            time.sleep(reply.delay)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            self.server.sent += len(piece)
        if chunked and not reply.hangs_up:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = self.close_connection or reply.hangs_up

    def _send_head(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        if not isinstance(reply.body, bytes):
            self.send_header("Transfer-Encoding", "chunked")
        elif "Content-Length" not in reply.headers:
            self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Stay silent."""


class Server(ThreadingHTTPServer):
    """Answers each request by its next answer, the last one again and again.

    Attributes:
        requests: What it was asked: the path, the key and the fields of the body.
        sent: Bytes of bodies that it sent.
        models: Its list of models; None to have none.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *answers: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = answers
        self.requests: list[dict[str, Any]] = []
        self.sent = 0
        self.models: list[dict[str, Any]] | None = None
        self.lock = threading.Lock()

    @property
    def address(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        """The address of the API."""
        return f"{self.address}/v1"


@contextmanager
def serving(*answers: Answer) -> Iterator[Server]:
    """Run a server for the length of the ``with`` block."""
    server = Server(*answers)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def sends(value: object, status: int = 200, **headers: str) -> Reply:
    """Return a reply with a JSON value; an underscore in a header's name stands for a hyphen."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(json.dumps(value).encode(), status, headers=named)


def completion(
    request: Request, text: str | None, usage: Mapping[str, int] | None = None, **choice: Any
) -> dict[str, Any]:
    """Return a completion in the form of the endpoint that was asked, with further fields of its one choice.

    A field ``message`` has further fields of the message.
    """
    message = {"role": "assistant", "content": text, **choice.pop("message", {})}
    answer = {"message": message} if request.is_chat else {"text": text}
    kind = "chat.completion" if request.is_chat else "text_completion"
    choices = [{"index": 0, "finish_reason": "stop", "logprobs": None, **answer, **choice}]
    value = {
        "id": "1",
        "object": kind,
        "created": 0,
        "model": request.body.get("model"),
        "choices": choices,
    }
    return value | ({"usage": dict(usage)} if usage else {})


def says(text: str | None, usage: Mapping[str, int] | None = None, **choice: Any) -> Answer:
    """Answer with a completion."""
    return lambda request: sends(completion(request, text, usage, **choice))


def fails(status: int, body: bytes = b'{"error": {"message": "no"}}') -> Answer:
    """Answer with an error that may be asked again at once."""
    return lambda request: Reply(body, status, headers={"retry-after-ms": "1"})


def hangs(seconds: float) -> Answer:
    """Answer nothing for a while, and nothing afterwards."""
    return lambda request: Reply(status=0, delay=seconds, hangs_up=True)


def hangs_up(request: Request) -> Reply:
    """End the connection without an answer."""
    return Reply(status=0, hangs_up=True)


def stops_halfway(request: Request) -> Reply:
    """End the connection within an answer."""
    return Reply(b'{"choices": [', headers={"Content-Length": "1000"}, hangs_up=True)
