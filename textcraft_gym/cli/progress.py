"""Progress of a run: a bar on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Column

from textcraft_gym.agents.redaction import redact
from textcraft_gym.cli.console import Console
from textcraft_gym.cli.tables import console
from textcraft_gym.printable import printable
from textcraft_gym.reports.records import Record, Records
from textcraft_gym.reports.tally import Tally
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import play_run, raise_stop

SECONDS_BETWEEN_LINES = 60.0
"""Minimum time between two lines about a run where no terminal shows a progress bar."""
MAX_ARGUMENT = 40
"""Maximum number of characters of an agent's argument in a title."""


def progress_console(as_json: bool) -> Console:
    """Return where to show progress: with ``--json``, standard output has only JSON."""
    return Console(stderr=True) if as_json else console


def evaluate_with_progress(spec: RunSpec, out: Path, bar_on: Console = console) -> Records:
    """Run an evaluation and show its progress.

    Raises:
        RunStopped: If the run stops before its last episode.
    """
    title = _title(spec)
    has_bar = bar_on.is_terminal or bar_on.is_jupyter
    progress = _Bar(title, bar_on) if has_bar else _Lines(title, bar_on)
    tally = Tally(0)

    def started(total: int, done: Records) -> None:
        nonlocal tally
        tally = Tally(total, done, spec.max_cost)
        progress.show(tally)

    def ended(record: Record) -> None:
        tally.add(record)
        progress.show(tally)

    with progress:
        return play_run(spec, out, on_start=started, on_episode=ended, on_stop=raise_stop)


def _title(spec: RunSpec) -> str:
    """Return the agent with its arguments, the environment and the model of a run."""
    described = Run(spec).spec.described()
    words = [described["agent"]]
    for name, value in described["agent_args"].items():
        words.append(f"{name}={textwrap.shorten(redact(str(value)), MAX_ARGUMENT)}")
    words += ["on", spec.env]
    if described["split"]:
        words.append(described["split"])

    title = " ".join(words)
    if spec.asked:
        title += f", {described['model']}"
    return printable(title)


class _Bar:
    """A progress bar on a terminal."""

    def __init__(self, title: str, console: Console) -> None:
        self.title = title
        so_far = TextColumn(
            "{task.description}", markup=False, table_column=Column(no_wrap=False, overflow="fold")
        )
        self.progress = Progress(
            BarColumn(bar_width=20), MofNCompleteColumn(), so_far, console=console
        )
        self.bar = self.progress.add_task("", visible=False)

    def __enter__(self) -> None:
        self.progress.start()

    def __exit__(self, *exception: object) -> None:
        self.progress.stop()

    def show(self, tally: Tally) -> None:
        if not self.progress.tasks[0].visible:
            self.progress.print(self.title, markup=False, highlight=False)
        self.progress.update(
            self.bar,
            total=tally.total,
            completed=tally.ended,
            description=tally.line(),
            visible=True,
        )


class _Lines:
    """A line at the end and, in a long run, every minute: for logs."""

    def __init__(self, title: str, console: Console) -> None:
        self.title = title
        self.console = console
        self.line = ""
        self.printed = time.monotonic()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self._print()

    def show(self, tally: Tally) -> None:
        self.line = f"{self.title}: {tally.ended} of {tally.total} episodes, {tally.line()}"
        if time.monotonic() - self.printed >= SECONDS_BETWEEN_LINES:
            self._print()

    def _print(self) -> None:
        if self.line:
            self.console.print(self.line, markup=False, highlight=False, soft_wrap=True)
        self.line = ""
        self.printed = time.monotonic()
