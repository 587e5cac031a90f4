"""Calls per second and processor time a call of many episodes with a model behind OpenAI's API.

A server on loopback, in a process of its own, answers every request after 100 ms, so that what is
measured is the client's side: the episodes, the agent, the loop and the HTTP client. Where
inspect_ai is installed, as many of its samples play the same commands against the same server.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from textcraft_gym.runs.rollouts import rollouts
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.task import tasks

CALLS = 12
"""Calls of an episode."""
DELAY = 0.1
"""Seconds that the server takes for an answer."""
COMMAND = "inventory"


class Answering(asyncio.Protocol):
    """One connection of the server: answers each request after the delay."""

    def connection_made(self, transport: Any) -> None:
        """Keep what to write to."""
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        """Schedule an answer to every request that is whole."""
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = self.received[:end].lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            if len(self.received) < end + 4 + length:
                return
            self.received = self.received[end + 4 + length :]
            asyncio.get_running_loop().call_later(DELAY, self.transport.write, ANSWER)


def _answer() -> bytes:
    message = {"role": "assistant", "content": COMMAND}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 1000, "completion_tokens": 2, "total_tokens": 1002}
    body = json.dumps(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
    )
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n{body}".encode()


ANSWER = _answer()


def serve(pipe: Connection) -> None:
    """Serve until the process is ended; the port is sent through the pipe."""

    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(
            Answering, "127.0.0.1", 0, backlog=1024
        )
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


def play_ours(url: str, episodes: int) -> int:
    """Play the episodes with ReAct, all at once, and return the number of calls."""
    spec = RunSpec(
        "TextCraft-v0",
        "test",
        agent_args={"turns": CALLS, "patience": CALLS + 1},
        model=f"openai:m,base_url={url},api_key=none",
        workers=episodes,
    )
    ids = [task.id for task in tasks("TextCraft-v0", "test")]
    jobs = [(ids[number % len(ids)], number) for number in range(episodes)]
    return sum(sum(episode.calls.values()) for episode in rollouts(spec, jobs))


def play_inspect(url: str, episodes: int) -> int:
    """Play samples of inspect_ai with the suite's chat solver at once; return the calls."""
    import inspect_ai
    from inspect_ai.model import get_model

    from textcraft_gym.integrations.inspect_ai import textcraft

    model = get_model("openai-api/local/m", base_url=url, api_key="none", memoize=False)
    with tempfile.TemporaryDirectory() as folder:
        (log,) = inspect_ai.eval(
            textcraft("test"),
            model=model,
            limit=episodes,
            max_samples=episodes,
            max_connections=episodes,
            message_limit=2 + 2 * CALLS,
            display="none",
            log_dir=folder,
        )
        samples = log.samples or []  # read from the folder when they are asked for
    return sum(
        sum(message.role == "assistant" for message in sample.messages) for sample in samples
    )


def measure(name: str, play: Callable[[str, int], int], url: str, episodes: int) -> None:
    """Print calls per second and processor time a call."""
    play(url, 10)  # imports and caches
    start, busy = time.perf_counter(), time.process_time()
    calls = play(url, episodes)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    print(
        f"  {name:12} {calls:5} calls, {calls / seconds:6.0f} calls/s, "
        f"{1000 * busy / calls:5.2f} ms of CPU a call"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=190)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}/v1"
    possible = arguments.episodes / DELAY
    print(
        f"{arguments.episodes} episodes of {CALLS} calls at once; "
        f"the server allows {possible:.0f} calls/s:"
    )
    for _ in range(arguments.rounds):
        measure("the suite", play_ours, url, arguments.episodes)
        if importlib.util.find_spec("inspect_ai"):
            measure("inspect_ai", play_inspect, url, arguments.episodes)
    server.terminate()


if __name__ == "__main__":
    os.environ.setdefault("INSPECT_LOG_LEVEL", "error")
    main()
