"""Runs the programs of a JSON list from standard input in a process that the operating system limits.

It writes a JSON object a line: the error of the program or null, and the peak of its memory in
bytes. A program that the interpreter does not hold back ends this process, and not the tests.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from textcraft_gym.agents.program.interpreter import MAX_STEPS, Interpreter
from textcraft_gym.agents.program.parse import ProgramError, parse_program
from textcraft_gym.agents.program.values import AGENT

ADDRESSES, SECONDS = 2**30, 200
"""Limits of the process: bytes of addresses, and seconds of processor time."""
ROOT = Path(__file__).parents[3]
PLAIN = (bool, int, str, type(None), type(AGENT))


class Outcome(NamedTuple):
    """How a program ended.

    Attributes:
        error: What the interpreter said; None if it ran to its end.
        peak: Most bytes that Python held for it at once, its parsing included.
    """

    error: str | None
    peak: int


class Robot:
    """An agent that keeps what its methods were called with; ``place`` and ``places`` are its
    attributes."""

    def __init__(self) -> None:
        self.called: list[tuple[str, list[object]]] = []

    def attribute(self, name: str) -> Any:
        if name not in ("place", "places"):
            raise ProgramError(f"agent has no {name}")
        return "desk 1" if name == "place" else ["desk 1", "bed 2"]

    def call(self, name: str, arguments: list[Any]) -> Any:
        yield from ()
        if name not in ("goto", "look"):
            raise ProgramError(f"agent has no {name}")
        self.called.append((name, arguments))
        return None if name == "look" else f"On the {arguments[0]}, you see a pen 3."

    def action(self, name: str, arguments: list[Any]) -> Any:
        """Answer every other function."""
        yield from ()
        self.called.append((name, arguments))
        return "['a', -2, True, None]"


def run_limited(programs: Sequence[str]) -> list[Outcome]:
    """Return how programs end whose function ``f`` steers a robot."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.agents.program.limited"],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    outcomes = [Outcome(**json.loads(line)) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (
        f"{done.stderr[-1000:]}\nafter {len(outcomes)}:\n{programs[len(outcomes)][:2000]}"
    )
    return outcomes


def outcome(program: str) -> Outcome:
    """Run a program, and check that it was held to plain values and to its bounds."""
    robot = Robot()
    interpreter = Interpreter(robot.action, robot)
    names: dict[str, Any] = {"agent": AGENT}
    error = None
    tracemalloc.start()
    try:
        list(interpreter.run_function(parse_program(program), "f", names))
    except ProgramError as raised:
        error = str(raised)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert interpreter.steps <= MAX_STEPS + 1
    for value in [
        *names.values(),
        *(argument for _, arguments in robot.called for argument in arguments),
    ]:
        assert type(value) in PLAIN or (
            type(value) is list and all(type(item) in PLAIN for item in value)
        )
    return Outcome(error, peak)


def main() -> None:
    """Run the programs."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    for program in json.load(sys.stdin):
        sys.stdout.write(f"{json.dumps(outcome(program)._asdict())}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
