"""Runs that are still played: what their files have gained is read, and nothing twice."""

from __future__ import annotations

import os
import secrets
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from textcraft_gym.errors import RunError
from textcraft_gym.reports.calls import FILE as CALLS
from textcraft_gym.reports.calls import Calls
from textcraft_gym.reports.metrics import Outcome, TaskOutcomes, outcome_of
from textcraft_gym.reports.records import (
    Key,
    Record,
    Records,
    key_of,
    light,
    read_config,
    read_lines,
)
from textcraft_gym.reports.success import UNKNOWN, Estimate, success

MAX_FOLDERS = 20_000
"""Maximum number of folders in which runs are looked for."""
MAX_RUNS = 2_000
"""Maximum number of runs that are found below a folder."""


class Result(NamedTuple):
    """What came of the episodes of a run.

    Attributes:
        episodes: Number of episodes.
        errors: Number of these that broke.
        success: The rate of those won among the others.
    """

    episodes: int
    errors: int
    success: Estimate


class GrowingRun:
    """A run folder to which another process may be writing.

    Of an episode only its place and its outcome are kept in memory.

    Args:
        folder: The run folder.

    Attributes:
        folder: The same.
        config: Its config.
        records: Its records so far.
        changes: The place of the episode of each line that was read, in order.
        damaged: Number of lines that are no records.
        updated: When an episode ended last, or the run began, in seconds since 1970.
        file_id: A random name of the file of episodes, another one when it was replaced.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.updated = 0.0
        self.config: dict[str, Any] = {}
        self._config: tuple[int, ...] = ()
        self._file: tuple[int, ...] = ()
        self._calls: Calls | None = None
        self._calls_stamp: tuple[int, ...] = ()
        self._begin()

    def _begin(self) -> None:
        self.file_id = secrets.token_hex(8)
        self.records = Records(self.folder / "episodes.jsonl")
        self.changes = array("q")
        self.damaged = 0
        self._end = 0
        self._outcomes: dict[Key, Outcome] = {}
        self._families: dict[str, str] = {}

    @property
    def state(self) -> str:
        """A word that changes with whatever is shown of the run."""
        return self.state_at(len(self.changes))

    def state_at(self, lines: int) -> str:
        """Return the state after a number of lines."""
        return f"{self.file_id}:{lines}:{self._config[1]}"

    def grow(self) -> None:
        """Read what is new.

        Raises:
            RunError: If the folder holds no run, or none any more.
        """
        try:
            config = self._status("config.json")
            if config is None:
                raise RunError(f"{self.folder} is not a run folder")
            self._read_config(config)
            episodes = self._status("episodes.jsonl")
            self.updated = (episodes or config).st_mtime
            self._read_episodes(episodes)
        except OSError as error:
            raise RunError(f"{self.folder} cannot be read: {error}") from error

    def _read_config(self, status: os.stat_result) -> None:
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        if stamp == self._config:
            return
        config = read_config(self.folder)
        if config.get("started") != self.config.get("started"):  # another run in the same place
            self._begin()
        self.config, self._config = config, stamp

    def _read_episodes(self, status: os.stat_result | None) -> None:
        file = (status.st_dev, status.st_ino) if status else ()
        size = status.st_size if status else 0
        if file != self._file or size < self._end:  # it was replaced or removed
            self._begin()
            self._file = file
        if size > self._end:
            self._read()

    def _read(self) -> None:
        for line in read_lines(self.folder, self._end):
            self._end = line.start + line.length
            if line.record is None:
                self.damaged += 1
                continue
            self.changes.append(self.records.add(line.record, line.start))
            self._outcomes[key_of(line.record)] = outcome_of(line.record)
            self._families[line.record["task"]] = line.record["family"]

    def _status(self, name: str) -> os.stat_result | None:
        with suppress(FileNotFoundError, NotADirectoryError):
            return (self.folder / name).stat()
        return None

    def calls_of(self, record: Record) -> list[dict[str, Any]]:
        """Return the calls of an episode as they are written; none if none were kept.

        Raises:
            RunError: If they are damaged.
        """
        status = self._status(CALLS)
        stamp = (status.st_ino, status.st_size) if status else ()
        if stamp != self._calls_stamp:
            self._calls, self._calls_stamp = Calls(self.folder), stamp
        key = key_of(record)
        return self._calls.lines(key) if self._calls and key in self._calls else []

    def result(self) -> Result:
        """Return what came of the episodes so far."""
        counts = Counter(self._outcomes.values())
        tasks = TaskOutcomes()
        for (task, _), outcome in self._outcomes.items():
            tasks.count(task, self._families[task], outcome)
        # Any of the unknown episodes may be won.
        estimate = UNKNOWN if counts["unknown"] else success(tasks.values())
        return Result(counts.total(), counts["error"], estimate)


class Selection:
    """The records of some runs without their long fields, as the tables and the list need them.

    Args:
        runs: The runs by their names.

    Attributes:
        runs: The same.
        records: The records of each run.
    """

    def __init__(self, runs: Mapping[str, GrowingRun]) -> None:
        self.runs = runs
        self.records: dict[str, list[Record]] = {name: [] for name in runs}
        self._read: dict[str, tuple[str, int]] = dict.fromkeys(runs, ("", 0))

    @property
    def state(self) -> str:
        """A word that changes with whatever is shown of the runs."""
        return ",".join(run.state for run in self.runs.values())

    def update(self) -> None:
        """Take up what the runs have gained.

        Raises:
            RunError: If a file has changed otherwise.
        """
        for name, run in self.runs.items():
            file, count = self._read[name]
            if file != run.file_id:
                self.records[name].clear()
                count = 0
            records = self.records[name]
            places = changed(run, count, len(run.changes))
            if places:
                for place, record in zip(places, run.records.at(places), strict=True):
                    records[place : place + 1] = [light(record)]
            self._read[name] = run.file_id, len(run.changes)


def changed(
    run: GrowingRun,
    first: int,
    last: int,
) -> list[int]:
    """Return the places of the episodes that lines of a range tell of, each once."""
    return list(dict.fromkeys(run.changes[first:last]))


def find_runs(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the folders below a folder that may be runs, in order, by their paths in it.

    The folder itself may be one. Hidden folders are passed over, and links are not followed.
    """
    runs = 0
    for number, (path, folders, files) in enumerate(os.walk(folder)):
        if number == MAX_FOLDERS or runs == MAX_RUNS:
            return
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if "config.json" not in files:
            continue
        place = Path(path)
        name = place.relative_to(folder).as_posix() if place != folder else place.resolve().name
        if name.isprintable():  # others can be in no address
            runs += 1
            yield name, place


def grown(
    runs: Iterable[tuple[str, Path]],
    held: Mapping[str, GrowingRun],
) -> dict[str, GrowingRun]:
    """Return the runs of folders as they are now; those that are held read only what is new.

    Folders without a run are left out.
    """
    now: dict[str, GrowingRun] = {}
    for name, folder in runs:
        run = held.get(name) or GrowingRun(folder)
        with suppress(RunError):
            run.grow()
            now[name] = run
    return now
