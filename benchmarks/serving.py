"""The servers under load: many sessions, many calls, misbehaving clients, and memory.

    python benchmarks/serving.py --server agentgym --world textcraft --sessions 1000 --calls 100000

The figures go to standard output; the server runs in a process of its own. The exit status is 1 if
its memory grows from the first report to the last, if a session is lost, or if the server does not
end well.
"""

from __future__ import annotations

import argparse
import http.client
import json
import logging
import os
import random
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

ACTIONS = {
    "textcraft": ["get 1 oak log", "craft 4 oak planks using 1 oak log", "inventory", "nonsense"],
    "alfworld": [
        "look",
        "inventory",
        "go to cabinet 1",
        "go to drawer 1",
        "open drawer 1",
        "nonsense",
    ],
    "webshop": ["search[shirt]", "click[next >]", "click[back to search]", "nonsense"],
}
NUMBERS = {
    "textcraft": ("id", "data_idx", 544),
    "alfworld": ("id", "game", 3874),
    "webshop": ("env_idx", "session_id", 1000),
}
STEPS_OF_EPISODE = 40
REPORTS = 5
MAX_GROWTH = 0.1
"""Maximum growth of memory from first report to last: the allocator's share, not a leak."""
UPGRADE = """GET /ws HTTP/1.1
Host: localhost
Upgrade: websocket
Connection: Upgrade
Sec-WebSocket-Version: 13
Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==

"""
HALF_MESSAGE = b"\x81\xfe\x00\x64\0\0\0\0{"
"""The first byte of a hundred."""
HUGE_COMMAND = json.dumps({"type": "step", "data": {"command": "x" * 10_000_000}})
ENDLESS_CLIENT = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
while True:
    body = b'{"id": 0, "env_idx": 0, "action": "look"}'
    connection.request("POST", "/step", body, {"Content-Type": "application/json"})
    connection.getresponse().read()
"""


class Client(ABC):
    """A thread's share of the sessions."""

    def __init__(self, port: int, world: str, sessions: int, seed: int) -> None:
        self.port = port
        self.world = world
        self.rng = random.Random(seed)
        self.seconds: list[float] = []
        self.sessions = [self.open() for _ in range(sessions)]
        for session in self.sessions:
            self.begin(session)

    def play(self, calls: int) -> None:
        """Play random commands in random sessions, with now and then another task."""
        self.seconds = []
        for _ in range(calls):
            session = self.rng.choice(self.sessions)
            started = time.perf_counter()
            if self.rng.random() < 1 / STEPS_OF_EPISODE:
                self.begin(session)
            else:
                self.step(session, self.rng.choice(ACTIONS[self.world]))
            self.seconds.append(time.perf_counter() - started)

    @abstractmethod
    def open(self) -> Any:
        """Open a session."""

    @abstractmethod
    def begin(self, session: Any) -> None:
        """Begin a random task."""

    @abstractmethod
    def step(self, session: Any, command: str) -> None:
        """Play a command."""

    @abstractmethod
    def close(self) -> None:
        """End all sessions."""

    @staticmethod
    @abstractmethod
    def misbehave(port: int) -> str:
        """Do what clients should not, and return in words what came of it.

        Raises:
            RuntimeError: If the server takes it for right, or breaks.
        """


class AgentGymClient(Client):
    """Sessions by number, over one connection."""

    def __init__(self, port: int, world: str, sessions: int, seed: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.name, self.task, self.tasks = NUMBERS[world]
        super().__init__(port, world, sessions, seed)

    def open(self) -> int:
        """Open a session."""
        created = self._post("/create", {})
        if isinstance(created, int):
            return created
        return int(created["id"])

    def begin(self, session: int) -> None:
        """Begin a random task."""
        self._post(
            "/reset",
            {self.name: session, self.task: self.rng.randrange(self.tasks), "world_type": "Text"},
        )

    def step(self, session: int, command: str) -> None:
        """Play a command."""
        self._post("/step", {self.name: session, "action": command})

    def close(self) -> None:
        """End all sessions."""
        for session in self.sessions:
            if self._post("/close", {self.name: session}) is not True:
                raise RuntimeError(f"session {session} was lost")

    @staticmethod
    def misbehave(port: int) -> str:
        """Send half bodies, wrong types and 10 MB, and kill a client in the middle of its calls."""
        head = (
            "POST /step HTTP/1.1\r\nHost: localhost\r\n"
            "Content-Type: application/json\r\nContent-Length: "
        )
        for _ in range(200):
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(f'{head}100\r\n\r\n{{"id": 0, "act'.encode())
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        statuses = []
        for body in (b'{"id": [], "env_idx": "x", "action": 3}', b"[[[[", b"\xff\xfe", b""):
            connection.request("POST", "/step", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
        connection.close()
        action = json.dumps({"id": 0, "env_idx": 0, "action": "x" * 10_000_000}).encode()
        for _ in range(20):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                connection.request("POST", "/step", action, {"Content-Type": "application/json"})
                statuses.append(connection.getresponse().status)
            except ConnectionError:  # refused before all was sent
                statuses.append(0)
            connection.close()
        with subprocess.Popen([sys.executable, "-c", ENDLESS_CLIENT, str(port)]) as endless:
            time.sleep(1)
            endless.kill()
        if max(statuses) >= 500:
            raise RuntimeError(f"a wrong body broke the server: statuses {statuses}")
        return (
            f"200 half bodies, a client killed in the middle, "
            f"and statuses {sorted(set(statuses))} for wrong bodies"
        )

    def _post(self, path: str, body: Any) -> Any:
        self.connection.request(
            "POST", path, json.dumps(body), {"Content-Type": "application/json"}
        )
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        if response.status != 200 or (isinstance(answer, dict) and "error" in answer):
            raise RuntimeError(f"{path} {body}: {response.status} {answer}")
        return answer


class OpenEnvClient(Client):
    """Sessions that are connections."""

    def __init__(self, port: int, world: str, sessions: int, seed: int) -> None:
        self.connections = ExitStack()
        super().__init__(port, world, sessions, seed)

    def open(self) -> ClientConnection:
        """Open a session."""
        return self.connections.enter_context(_connection(self.port))

    def begin(self, session: ClientConnection) -> None:
        """Begin a random task."""
        _ask(session, "reset", {"seed": self.rng.randrange(1 << 31)})

    def step(self, session: ClientConnection, command: str) -> None:
        """Play a command; after the end of an episode, begin another."""
        if _ask(session, "step", {"command": command})["done"]:
            self.begin(session)

    def close(self) -> None:
        """End all sessions, which must still be there."""
        for session in self.sessions:
            _ask(session, "state", answer="state")
        self.connections.close()

    @staticmethod
    def misbehave(port: int) -> str:
        """Send half messages, wrong types and 10 MB, and vanish in the middle."""
        for _ in range(200):
            with socket.create_connection(("127.0.0.1", port)) as vanishing:
                vanishing.sendall(UPGRADE.replace("\n", "\r\n").encode() + HALF_MESSAGE)
        wrong = (
            "{",
            "[]",
            "null",
            '{"type": "step", "data": 5}',
            "[" * 100_000,
            '{"type": "nothing"}',
        )
        outcomes = Counter(_outcome(port, text) for text in (*wrong, *[HUGE_COMMAND] * 20))
        if set(outcomes) - {"error", "closed"}:
            raise RuntimeError(f"a wrong message was answered: {dict(outcomes)}")
        return f"200 half messages, and for wrong ones {dict(outcomes)}"


def _connection(port: int) -> AbstractContextManager[ClientConnection]:
    return connect(f"ws://127.0.0.1:{port}/ws", compression=None, open_timeout=120)


def _outcome(port: int, message: str) -> str:
    """Return the type of the answer to a message, or that the connection was closed."""
    try:
        with _connection(port) as session:
            session.send(message)
            return str(json.loads(session.recv(timeout=60))["type"])
    except ConnectionClosed:
        return "closed"


def _ask(
    session: ClientConnection,
    kind: str,
    data: Mapping[str, Any] | None = None,
    *,
    answer: str = "observation",
) -> Any:
    message: dict[str, Any] = {"type": kind}
    if data is not None:
        message["data"] = data
    session.send(json.dumps(message))
    answered = json.loads(session.recv(timeout=120))
    if answered["type"] != answer:
        raise RuntimeError(f"{kind} {data}: {answered}")
    return answered["data"]


CLIENTS: dict[str, type[Client]] = {"agentgym": AgentGymClient, "openenv": OpenEnvClient}
IDS = {"textcraft": "TextCraft-v0", "alfworld": "ALFWorld-v0", "webshop": "WebShopLite-v0"}


def main() -> None:
    """Run the server and its clients, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", choices=CLIENTS, default="agentgym")
    parser.add_argument("--world", choices=ACTIONS, default="textcraft")
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=20, help="threads")
    options = parser.parse_args()
    # It tells of connections that the server closes.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    env = options.world if options.server == "agentgym" else IDS[options.world]
    command = [
        sys.executable,
        "-m",
        "textcraft_gym",
        "serve",
        options.server,
        "--env",
        env,
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            _measure(server, options)
        finally:
            server.kill()


def _measure(server: subprocess.Popen[str], options: argparse.Namespace) -> None:
    if server.stdout is None:
        raise RuntimeError("no output of the server")
    port = int(server.stdout.readline().split()[-4].rpartition(":")[2])
    print(f"{options.server}, {options.world}: {_memory(server.pid):.1f} MB at the start")
    memory: list[float] = []
    share, client = options.sessions // options.clients, CLIENTS[options.server]
    with ThreadPoolExecutor(options.clients) as threads:
        started = time.perf_counter()
        clients = list(
            threads.map(
                lambda seed: client(port, options.world, share, seed), range(options.clients)
            )
        )
        opened = share * options.clients
        seconds = time.perf_counter() - started
        print(
            f"{opened} sessions opened and begun in {seconds:.1f} s: {_memory(server.pid):.1f} MB"
        )
        for part in range(REPORTS):
            if part == REPORTS // 2:
                print(client.misbehave(port))
            started = time.perf_counter()
            list(
                threads.map(
                    client.play, clients, repeat(options.calls // REPORTS // options.clients)
                )
            )
            seconds = time.perf_counter() - started
            times = sorted(chain.from_iterable(client.seconds for client in clients))
            memory.append(_memory(server.pid))
            median, slow = times[len(times) // 2], times[len(times) * 99 // 100]
            print(
                f"{len(times)} calls: {len(times) / seconds:.0f} a second, "
                f"{1000 * median:.1f} ms in the median, "
                f"{1000 * slow:.1f} ms at 99 %; "
                f"{memory[-1]:.1f} MB, {_open_files(server.pid)} open files"
            )
        list(threads.map(client.close, clients))
    print(f"all closed: {_memory(server.pid):.1f} MB")
    started = time.perf_counter()
    server.send_signal(signal.SIGINT)
    print(f"exit status {server.wait(30)} after Ctrl-C in {time.perf_counter() - started:.2f} s")
    growth = memory[-1] / memory[0] - 1
    if growth > MAX_GROWTH or server.returncode != 0:
        sys.exit(
            f"expected the exit status 0 and a growth of at most {MAX_GROWTH:.0%}; "
            f"the memory grew by {growth:.1%}"
        )


def _memory(process: int) -> float:
    """Return the resident memory in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _open_files(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


if __name__ == "__main__":
    main()
