"""Agents, and a model, that make trouble for the process that plays them, named so that any process
can make them."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textcraft_gym.agents.contract.agent import Play, Routine
from textcraft_gym.agents.contract.model import Completion, Prompt, prompt_text


def look(play: Play) -> Routine:
    """What each of them does where there is no trouble."""
    yield from play.act("inventory")
    return False


class Mortal:
    """Kills its process so many times when it meets a task, and keeps a tally in a folder of its
    own."""

    def __init__(self, folder: str, task: str, times: int) -> None:
        self.tally = Path(folder) / "deaths"
        self.task = task
        self.times = times

    @property
    def deaths(self) -> int:
        return len(self.tally.read_bytes()) if self.tally.exists() else 0

    def episode(self, play: Play) -> Routine:
        if play.first.info["task"] == self.task and self.deaths < self.times:
            with self.tally.open("ab") as file:
                file.write(b"+")
            os.kill(os.getpid(), signal.SIGKILL)
        return (yield from look(play))


class Stuck:
    """Asks its model for an answer; then it kills its process, or never returns, on one task."""

    def __init__(self, task: str, dies: bool = False) -> None:
        self.task = task
        self.dies = dies

    def episode(self, play: Play) -> Routine:
        yield from play.ask("Hello", max_tokens=1)
        if play.first.info["task"] == self.task:
            # Between two requests a parent knows what was paid for.
            yield from play.act("inventory")
            if self.dies:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(600)
        return (yield from look(play))


class Witness:
    """A model that notes each of its prompts in the file ``$WITNESS``, and kills its process before
    ``$KILLED_AT``."""

    def complete(self, prompt: Prompt, **how: Any) -> Completion:
        notes = Path(os.environ["WITNESS"])
        text = hashlib.sha256(repr((prompt_text(prompt), how)).encode()).hexdigest()[:16]
        if notes.exists() and len(notes.read_text().splitlines()) == int(
            os.environ.get("KILLED_AT", "-1")
        ):
            os.kill(os.getpid(), signal.SIGKILL)
        with notes.open("a") as file:
            file.write(f"{text}\n")
        return Completion(f"get {text}", {"completion_tokens": 3}, 0.5)


class Unsendable:
    """Leaves in its trace what no process can send to another."""

    def episode(self, play: Play) -> Routine:
        play.node.parts.append(lambda: "nothing")
        return (yield from look(play))


class Present:
    """Leaves a file that is called like its process."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def episode(self, play: Play) -> Routine:
        (self.folder / str(os.getpid())).touch()
        return (yield from look(play))


class Stillborn:
    """Ends the process in which it arrives."""

    def __reduce__(self):
        return os._exit, (7,)

    def episode(self, play: Play) -> Routine:
        return (yield from look(play))


class Wanderer:
    """Keeps a list of tasks for each machine of a Ray cluster, and begins when it has met so many machines.

    On the doomed one it plays some episodes and then waits for that machine's end; meanwhile it
    waits on the others.
    """

    def __init__(self, folder: str, machines: int, doomed: str = "", episodes: int = 3) -> None:
        self.folder = Path(folder)
        self.machines = machines
        self.doomed = doomed
        self.episodes = episodes

    def episode(self, play: Play) -> Routine:
        import ray

        here = ray.get_runtime_context().get_node_id()
        with (self.folder / f"{here}.tasks").open("a") as file:
            file.write(play.first.info["task"] + "\n")
        wait_for(lambda: len(list(self.folder.glob("*.tasks"))) >= self.machines)
        if (
            self.doomed
            and len((self.folder / f"{here}.tasks").read_text().splitlines()) > self.episodes
        ):
            if here == self.doomed:
                (self.folder / "waiting").touch()
                time.sleep(600)
            wait_for((self.folder / "waiting").exists)
        return (yield from look(play))


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until a condition holds, but not for ever."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()
