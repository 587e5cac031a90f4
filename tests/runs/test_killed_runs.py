"""A run that is killed asks its model nothing more, wherever its episodes are played."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.doubles.server import Reply, Request, Server, says, serving

BEFORE = 4
"""Number of requests before the run is killed."""
LATE = 2
"""Number of requests that may still arrive: one of each worker is on its way."""
SECONDS = 1.0
"""Time in which workers that were not ended would ask some twenty times more."""


class Watch:
    """Answers so that no episode ends, each time after a moment, and says when it was asked so many
    times."""

    def __init__(self) -> None:
        self.under_way, self.late = threading.Event(), threading.Event()
        self.allowed = sys.maxsize

    def __call__(self, request: Request) -> Reply:
        if request.number + 1 >= BEFORE:
            self.under_way.set()
        if request.number + 1 > self.allowed:
            self.late.set()
        return replace(says(f"get {request.number} oak log")(request), delay=0.1)

    def allow(self, server: Server, more: int) -> None:
        """Have ``late`` say when more requests than these come from now on."""
        with server.lock:
            self.allowed = len(server.requests) + more


def kill_in_the_middle(out: Path, sent: int, *options: str) -> tuple[int, str]:
    """Kill a run that asks a model, make sure that it asks nothing more, and return its status and
    its output."""
    watch = Watch()
    with serving(watch) as server:
        model = f"openai:m,base_url={server.url},api_key=none"
        command = [
            "evaluate",
            "--env",
            "TextCraft-v0",
            "--split",
            "dev",
            "--limit",
            "9",
            "--agent",
            "react",
        ]
        started = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "textcraft_gym",
                *command,
                "--model",
                model,
                "--out",
                str(out),
                *options,
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert watch.under_way.wait(60)
            watch.allow(server, LATE)
            started.send_signal(sent)
            output, _ = started.communicate(timeout=30)
        finally:
            started.kill()
        assert not watch.late.wait(SECONDS)
    return started.returncode, output


@pytest.mark.parametrize("backend", ["loop", "process"])
def test_evaluate__asks_nothing_more_when_it_is_killed(tmp_path: Path, backend: str):
    options = ["--backend", backend, "--workers", "2"]
    assert kill_in_the_middle(tmp_path / "run", signal.SIGKILL, *options) == (-signal.SIGKILL, "")


@pytest.mark.parametrize("backend", ["loop", "process"])
def test_evaluate__asks_nothing_more_when_it_is_terminated(tmp_path: Path, backend: str):
    status, output = kill_in_the_middle(
        tmp_path / "run", signal.SIGTERM, "--backend", backend, "--workers", "2"
    )
    assert status == 143
    assert f"Stopped with 0 episodes in {tmp_path / 'run'}; run it again to resume." in output
