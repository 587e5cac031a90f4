"""Progress of a run: a bar on a terminal, a line every half minute elsewhere."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event, Thread

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from textcraft_gym.agents.redaction import redact
from textcraft_gym.cli.console import Console
from textcraft_gym.cli.tables import console
from textcraft_gym.cli.terminal import is_terminal, say
from textcraft_gym.printable import printable
from textcraft_gym.reports.records import Key, Record, Records
from textcraft_gym.reports.tally import Tally
from textcraft_gym.reports.timing import in_words
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_spec import RunSpec, name_of
from textcraft_gym.runs.runner import Planned, play_run, raise_stop

SECONDS_BETWEEN_LINES = 30.0
"""Time between two lines about a run where no terminal shows a progress bar."""
REFRESHES_A_SECOND = 4.0
BAR_WIDTH = 20
MAX_TASKS = 20
"""Maximum number of tasks under way that are named."""
MAX_ARGUMENT = 40
"""Maximum number of characters of an agent's argument in a title."""


def progress_console(as_json: bool) -> Console:
    """Return where to show progress: with ``--json``, standard output has only JSON."""
    return Console(stderr=True) if as_json else console


def evaluate_with_progress(
    spec: RunSpec,
    out: Path,
    bar_on: Console = console,
    asked: str = "",
) -> Records:
    """Run an evaluation and show its progress.

    Args:
        spec: The run.
        out: Its folder.
        bar_on: Where to show it.
        asked: What the run is for, if a command plays several.

    Raises:
        RunStopped: If the run stops before its last episode.
    """
    title = _title(spec, asked)
    has_bar = bar_on.is_terminal or bar_on.is_jupyter
    progress = _Bar(title, bar_on) if has_bar else _Lines(title, bar_on)
    tally = Tally(0)

    def started(planned: Mapping[Key, Planned], done: Records) -> None:
        nonlocal tally
        missing = planned.keys() - done.done
        to_play = Counter(planned[key].about["group"] for key in missing)
        tally = Tally(len(planned), done, to_play, spec.max_cost)
        if planned and not missing:
            say(f"{out} has all {len(planned)} episodes: nothing is played", error=True)
        progress.show(tally)

    def ended(record: Record) -> None:
        tally.add(record)
        progress.show(tally)

    with progress:
        return play_run(
            spec,
            out,
            on_start=started,
            on_episode=ended,
            on_stop=raise_stop,
            on_begin=lambda planned: tally.begin(planned.about),
            on_request=lambda *asked: tally.ask(*asked),
        )


def _title(spec: RunSpec, asked: str) -> str:
    """Return what a run is for, or its agent, environment and split; and its model."""
    words = asked
    if not asked:
        described = Run(spec).spec.described()
        parts = [described["agent"]]
        for name in spec.agent_args:
            value = redact(str(described["agent_args"][name]))
            parts.append(f"{name}={textwrap.shorten(value, MAX_ARGUMENT)}")
        parts += ["on", spec.env, described["split"] or ""]
        words = " ".join(parts).rstrip()
    model = spec.asked.get("executor")
    return printable(f"{words}, {redact(name_of(model))}" if model else words)


class _Bar:
    """A bar on a terminal, with success, speed, the tasks under way, and the run, model last."""

    def __init__(self, title: str, console: Console) -> None:
        self.title = title
        self.tally = Tally(0)
        self.live = Live(
            get_renderable=self._lines,
            console=console,
            refresh_per_second=REFRESHES_A_SECOND,
        )

    def __enter__(self) -> None:
        pass  # it begins with the first state: a refused run has no bar

    def __exit__(self, *exception: object) -> None:
        self.live.stop()

    def show(self, tally: Tally) -> None:
        """Show a state, which goes on to be shown as it changes."""
        self.tally = tally
        self.live.start()

    def _lines(self) -> Group:
        tally = self.tally
        time = f"in {_clock(tally.elapsed)}"
        if tally.ended < tally.total:
            time = f"{_clock(tally.elapsed)} elapsed{_left(tally)}"
        bar = Table.grid(padding=(0, 2))
        bar.add_row(
            ProgressBar(max(1, tally.total), tally.ended, width=BAR_WIDTH),
            Text(f"{tally.ended}/{tally.total}"),
            Text(time),
        )
        lines: list[RenderableType] = [bar, Text(tally.line())]
        if tally.under_way:
            tasks = [printable(redact(task)) for task in tally.under_way]
            line = _playing(tasks, self.live.console.width)
            lines.append(Text(line, no_wrap=True, overflow="ellipsis"))
        return Group(*lines, Text(self.title))


class _Lines:
    """A line now and then, and one at the end: for logs."""

    def __init__(self, title: str, console: Console) -> None:
        self.title = title
        self.console = console
        self.tally: Tally | None = None
        self._ended = Event()
        self._clock = Thread(target=self._print_now_and_then, daemon=True)

    def __enter__(self) -> None:
        self._clock.start()

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._clock.join()
        self._print()

    def show(self, tally: Tally) -> None:
        """Take a state, of which the next line tells."""
        self.tally = tally

    def _print_now_and_then(self) -> None:
        while not self._ended.wait(SECONDS_BETWEEN_LINES):
            try:
                self._print()
            except OSError:  # nobody reads it any more; the run finds out by itself
                return

    def _print(self) -> None:
        tally = self.tally
        if tally is None:
            return
        line = f"{self.title}: {tally.ended} of {tally.total} episodes, {tally.line()}"
        if tally.ended == tally.total:
            line += f", in {_clock(tally.elapsed)}"
        else:
            line += f", {_clock(tally.elapsed)} elapsed{_left(tally)}"
        is_log = not is_terminal(self.console.file)
        self.console.print(line, markup=False, highlight=False, soft_wrap=is_log)


def _playing(tasks: Sequence[str], width: int) -> str:
    """Return a line of tasks under way, as many as it has room for, and of how many more."""
    shown = min(len(tasks), MAX_TASKS)
    while True:
        line = f"playing {', '.join(tasks[:shown])}"
        if shown < len(tasks):
            line += f" and {len(tasks) - shown} more"
        if shown == 1 or cell_len(line) <= width:
            return line
        shown -= 1


def _left(tally: Tally) -> str:
    """Return the time that the rest takes, if that is known."""
    left = tally.left
    return "" if left is None else f", about {in_words(left)} left"


def _clock(seconds: float) -> str:
    """Return a duration as a clock shows it: ``0:41``, ``12:05``, ``1:02:03``."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
