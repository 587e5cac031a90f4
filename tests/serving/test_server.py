"""The server over real sockets: what clients do to it, and Ctrl-C."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection

import pytest

pytest.importorskip("uvicorn", reason="uvicorn (extra [serve]) is not installed")

APP = """
import asyncio, sys
from textcraft_gym.serving import server
LIMITS
from textcraft_gym.serving.server import run_server

server.HEADER_SECONDS = float(sys.argv[2])

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                print("closed", flush=True)
                return
    message = await receive()
    if scope["path"] == "/slow":
        print("asked", flush=True)
        await asyncio.sleep(0.3)
    if scope["path"] == "/fail":
        raise RuntimeError(message["body"].decode())
    body = b"%d" % len(message["body"])
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})

run_server(app, port=int(sys.argv[1]), max_body=1000, on_start=lambda address: print(address, flush=True))
"""


FEW = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128))"


@contextmanager
def running(header_seconds: str, limits: str = "") -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", APP.replace("LIMITS", limits), "0", header_seconds]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def server() -> Iterator[subprocess.Popen[str]]:
    with running("60") as process:
        yield process


def port_of(server: subprocess.Popen[str]) -> int:
    assert server.stdout
    address = server.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    return int(address.rpartition(":")[2])


def talk(port: int, *pieces: bytes) -> bytes:
    """Return all that the server sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        for piece in pieces:
            client.sendall(piece)
        received = b""
        while piece := client.recv(65536):
            received += piece
    return received


def request(body: bytes, path: str = "/", length: int | None = None, **headers: str) -> bytes:
    given = {
        "Host": "localhost",
        "Connection": "close",
        "Content-Length": str(length or len(body)),
        **headers,
    }
    lines = [f"POST {path} HTTP/1.1", *(f"{key}: {value}" for key, value in given.items()), "", ""]
    return "\r\n".join(lines).encode() + body


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def test_server__survives_what_clients_do(server: subprocess.Popen[str]):
    port = port_of(server)
    assert talk(port, request(b"x" * 1000)).endswith(b"\r\n\r\n1000")
    assert status(talk(port, request(b"x" * 1001))) == 413
    assert status(talk(port, request(b"x" * 10_000_000))) == 413
    chunked = (
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"3e8\r\n"
        + b"x" * 1000
    )
    assert status(talk(port, chunked + b"\r\n3e8\r\n" + b"x" * 1000 + b"\r\n0\r\n\r\n")) == 413
    assert status(talk(port, request(b"", Host="evil.test"))) == 403
    assert status(talk(port, request(b"", Origin="http://evil.test"))) == 403
    assert status(talk(port, b"\x00\xff nonsense\r\n\r\n")) == 400
    for half in (b"POST / HT", request(b"12", length=10), request(b"", "/slow")):
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", port)) as vanishing:
                vanishing.sendall(half)
    assert talk(port, request(b"still there")).endswith(b"\r\n\r\n11")
    server.send_signal(signal.SIGINT)
    output, errors = server.communicate(timeout=30)
    assert server.returncode == 0
    assert set(errors.splitlines()) <= {"WARNING:  Invalid HTTP request received."}
    assert output.splitlines()[-1] == "closed"


def test_server__ends_requests_under_way_at_ctrl_c(server: subprocess.Popen[str]):
    port = port_of(server)
    answers: list[bytes] = []
    client = threading.Thread(target=lambda: answers.append(talk(port, request(b"late", "/slow"))))
    client.start()
    assert server.stdout
    assert server.stdout.readline() == "asked\n"
    server.send_signal(signal.SIGINT)
    client.join(30)
    assert answers[0].endswith(b"\r\n\r\n4")
    output, errors = server.communicate(timeout=30)
    assert (server.returncode, output, errors) == (0, "closed\n", "")


def test_server__says_that_a_port_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = [
            sys.executable,
            "-c",
            APP.replace("LIMITS", ""),
            str(taken.getsockname()[1]),
            "60",
        ]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "Address already in use" in result.stderr
    assert result.stdout == ""


def test_server__logs_nothing_that_a_terminal_obeys(server: subprocess.Popen[str]):
    assert status(talk(port_of(server), request(b"no \x1b]0;owned\x07\x1b[2J\r", "/fail"))) == 500
    server.send_signal(signal.SIGINT)
    _, errors = server.communicate(timeout=30)
    assert r"RuntimeError: no \x1b]0;owned\x07\x1b[2J\r" in errors
    assert "\x1b" not in errors


def test_server__refusals_are_json(server: subprocess.Popen[str]):
    answer = talk(port_of(server), request(b"", Host="evil.test"))
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {
        "error": "the Host of this request is not one of this server's"
    }


def test_server__closes_connections_whose_header_does_not_come():
    with running("0.2") as server:
        port = port_of(server)
        assert talk(port) == b""
        assert talk(port, b"POST / HTTP/1.1\r\nHost: local") == b""
        assert talk(port, request(b"slow", "/slow")).endswith(
            b"\r\n\r\n4"
        )  # is longer under way than that
        client = HTTPConnection("127.0.0.1", port, timeout=30)
        for _ in range(2):
            client.request("POST", "/slow", b"12")
            assert client.getresponse().read() == b"2"
            threading.Event().wait(0.4)  # between requests there is more time
        client.sock.sendall(b"POST / HTTP/1.1\r\nHost: local")
        assert client.sock.recv(1) == b""
        client.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not limit descriptors")
def test_server__answers_again_after_more_connections_than_it_has_descriptors():
    with running("5", FEW) as server, ExitStack() as stack:
        port = port_of(server)
        halves = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 30))
            for _ in range(160)
        ]
        for half in halves:
            with suppress(ConnectionError):  # it may be turned away already
                half.sendall(b"POST / HTTP/1.1\r\nHost: local")
        assert status(talk(port, request(b"12"))) == 503
        answers = [said(half) for half in halves]  # all of them are ended by the server
        assert talk(port, request(b"12")).endswith(b"\r\n\r\n2")
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=30)
    turned_away = sum(answer != b"" for answer in answers)
    assert 160 - 96 <= turned_away <= 160 - 64
    assert set(errors.splitlines()) <= {"WARNING:  Exceeded concurrency limit."}


def said(connection: socket.socket) -> bytes:
    """Return what a server sends before it closes a connection."""
    try:
        return connection.recv(65536)
    except ConnectionResetError:
        return b"reset"


ROOM = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (20, HARD))
from textcraft_gym.serving.descriptors import make_room
print(make_room(), resource.getrlimit(resource.RLIMIT_NOFILE), make_room().sockets)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not limit descriptors")
@pytest.mark.parametrize(
    ("hard", "expected"),
    [
        (40, "Room(connections=20, end=30) (40, 40) 15"),
        (1024, "Room(connections=960, end=992) (1024, 1024) 720"),
        (5000, "Room(connections=4096, end=4128) (4160, 5000) 3072"),
    ],
)
def test_make_room__raises_the_limit_as_far_as_it_takes(hard: int, expected: str):
    command = [sys.executable, "-c", ROOM.replace("HARD", str(hard))]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.stdout.strip() == expected, result.stderr
