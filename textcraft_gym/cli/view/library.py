"""The runs below a folder as they are now, and those that are being looked at."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from textcraft_gym.errors import RunError, UnknownName
from textcraft_gym.reports.growing import GrowingRun, Selection, changed, find_runs, grown
from textcraft_gym.reports.page import live_page
from textcraft_gym.reports.page_episodes import line

MAX_SELECTIONS = 8
"""Maximum number of selections whose records are kept in memory."""
MAX_SELECTED = 100
"""Maximum number of runs side by side."""
MAX_LINES = 20_000
"""Maximum number of episodes in one answer; more are asked for again."""
SEARCH_SECONDS = 2.0
"""Seconds after which runs are looked for again."""


class News(NamedTuple):
    """What runs have gained since a state.

    Attributes:
        state: Their state after it.
        lines: The place of each episode that is new or was played again, and its line.
        more: Whether there is more at once.
        reset: Whether a file was replaced, so that nothing is known any more.
    """

    state: str
    lines: list[list[Any]]
    more: bool = False
    reset: bool = False


class Library:
    """The runs below a folder.

    Args:
        folder: The folder.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder = folder
        self._clock = clock
        self._searched: float | None = None
        self._runs: dict[str, GrowingRun] = {}
        self._selections: OrderedDict[tuple[str, ...], Selection] = OrderedDict()
        self._pages: dict[tuple[str, ...], tuple[str, str]] = {}

    def runs(self) -> dict[str, GrowingRun]:
        """Return all runs, which have read what is new."""
        folders = [(name, run.folder) for name, run in self._runs.items()]
        now = self._clock()
        if self._searched is None or now - self._searched >= SEARCH_SECONDS:
            folders = list(find_runs(self.folder))
            self._searched = now
        self._runs = grown(folders, self._runs)
        return self._runs

    def run(self, name: str) -> GrowingRun:
        """Return a run, which has read what is new.

        Raises:
            UnknownName: If there is none of that name.
            RunError: If it cannot be read any more.
        """
        if name not in self._runs:
            self.runs()
        if name not in self._runs:
            raise UnknownName.of("run", name, list(self._runs))
        self._runs[name].grow()
        return self._runs[name]

    def select(self, names: Sequence[str]) -> Selection:
        """Return runs side by side, which have read what is new.

        Raises:
            UnknownName, RunError: As ``run``.
            ValueError: If there are none, or too many.
        """
        if not 0 < len(names) <= MAX_SELECTED:
            raise ValueError(f"expected 1 to {MAX_SELECTED} runs, got {len(names)}")
        runs = {name: self.run(name) for name in names}
        key = tuple(runs)
        selection = self._selections.get(key)
        if selection is None or selection.runs != runs:
            selection = self._selections[key] = Selection(runs)
        self._selections.move_to_end(key)
        if len(self._selections) > MAX_SELECTIONS:
            dropped, _ = self._selections.popitem(last=False)
            self._pages.pop(dropped, None)
        selection.update()
        return selection

    def page(self, names: Sequence[str]) -> str:
        """Return the report of some runs; see ``select``."""
        selection = self.select(names)
        key, state = tuple(selection.runs), selection.state
        if key not in self._pages or self._pages[key][0] != state:
            configs = {name: run.config for name, run in selection.runs.items()}
            self._pages[key] = state, live_page(selection.records, configs, state)
        return self._pages[key][1]

    def news(self, names: Sequence[str], since: str) -> News:
        """Return what runs have gained since a state, or all they have; see ``select``."""
        selection = self.select(names)
        counts = _counts(selection, since)
        if counts is None:
            return News("", [], reset=True)
        states: list[str] = []
        lines: list[list[Any]] = []
        for number, (name, run) in enumerate(selection.runs.items()):
            last = min(len(run.changes), counts[number] + MAX_LINES - len(lines))
            for place in changed(run, counts[number], last):
                lines.append([place, *line(number, selection.records[name][place])])
            states.append(run.state_at(last))
        state = ",".join(states)
        return News(state, lines, more=state != selection.state)


def _counts(selection: Selection, since: str) -> list[int] | None:
    """Return how many lines of each run a state has; None if it is of other files."""
    runs = list(selection.runs.values())
    if not since:
        return [0] * len(runs)
    states = since.split(",")
    if len(states) != len(runs):
        return None
    counts = []
    for run, state in zip(runs, states, strict=True):
        file, _, rest = state.partition(":")
        count = rest.partition(":")[0]
        if file != run.file_id or not (count.isascii() and count.isdecimal() and len(count) < 10):
            return None
        counts.append(int(count))
    return counts


def record_at(run: GrowingRun, place: int) -> dict[str, Any]:
    """Return the record at a place.

    Raises:
        RunError: If there is none.
    """
    if not 0 <= place < len(run.records):
        raise RunError(f"expected an episode from 0 to {len(run.records) - 1}, got {place}")
    (record,) = run.records.at([place])
    return record
