"""The folder of a run, which a killed run can resume.

``config.json`` is the run's spec with its versions and digests; ``episodes.jsonl`` gets a line as each episode ends;
``summary.json`` and ``report.md`` are written at the end. An episode that raised is a line with an ``error``; of two
lines for one episode the later counts. A lock excludes other processes.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, TypeAlias

import gymnasium as gym
from filelock import FileLock, Timeout

from textcraft_gym.cache import atomic_write
from textcraft_gym.errors import RunError
from textcraft_gym.evaluation.advice import advice
from textcraft_gym.evaluation.episode import TIMES
from textcraft_gym.evaluation.metrics import summarise_by_group
from textcraft_gym.evaluation.report import label, markdown

Record: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, int]
"""What tells an episode of a run from the others: its task, and its number among the episodes of that task."""

SCHEMA = 3
"""Version of the folder's format. Earlier folders, the first without a number, can be read but not resumed."""

MAX_LINE = 1 << 28
"""Maximum length of a record in bytes."""

_OLD_KEYS = {"belief": "claimed_success", "ended": "stop_reason"}
"""Keys of schema 1, with their names in the current schema."""


class RunFolder:
    """Writes a run folder; ``read_config`` and ``read_records`` read one."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = FileLock(self.path / ".lock", timeout=0)  # one object, since only that is re-entrant
        self._episodes: IO[str] | None = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other processes; it is made if missing.

        Raises:
            RunError: If another process is writing to it.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise RunError(f"{self.path} is being written by another process") from error
        try:
            yield
        finally:
            self._lock.release()

    def check(self, identity: Mapping[str, Any]) -> None:
        """Check that the folder is new, or holds the run with this identity.

        Raises:
            RunError: If it holds another run, or another version of the format.
        """
        if not (self.path / "config.json").exists():
            if (self.path / "episodes.jsonl").exists():
                raise RunError(f"{self.path} holds episodes of a run without its config.json; choose another folder")
            return
        held = read_config(self.path)
        if held.get("schema") != SCHEMA:
            raise RunError(
                f"{self.path} holds a run of format {held.get('schema', 1)}, not {SCHEMA}; choose another folder"
            )
        changed = [f"{key}: {held.get(key)!r}, now {now!r}" for key, now in identity.items() if held.get(key) != now]
        if changed:
            raise RunError(f"{self.path} holds another run ({'; '.join(changed)}); choose another folder")

    def begin(self, identity: Mapping[str, Any]) -> None:
        """Write the config of a new run, or drop the incomplete last line of a killed one."""
        if not (self.path / "config.json").exists():
            versions = {"python": platform.python_version(), "gymnasium": gym.__version__, "commit": _git_commit()}
            self._write_config({"schema": SCHEMA, **identity, "begun_with": versions, "started": now()})
        _drop_unfinished_line(self.path / "episodes.jsonl")

    def append(self, line: str) -> None:
        """Write the line of an episode, and flush it."""
        if self._episodes is None:
            self._episodes = (self.path / "episodes.jsonl").open("a", encoding="utf-8", newline="\n")
        self._episodes.write(line + "\n")
        self._episodes.flush()

    def close(self) -> None:
        """Close the file of episodes."""
        if self._episodes is not None:
            self._episodes.close()

    def finish(self, records: list[Record]) -> None:
        """Write the summary and the report of a run that has all its records."""
        summaries = summarise_by_group(records)
        as_json = json.dumps({name: asdict(summary) for name, summary in summaries.items()}, indent=2)
        atomic_write(self.path / "summary.json", as_json + "\n")
        config = read_config(self.path)
        table = markdown({label(self.path.name, config, records): summaries}, advice(records))
        atomic_write(self.path / "report.md", table)
        self._write_config({**config, "finished": now()})

    def _write_config(self, config: Mapping[str, Any]) -> None:
        atomic_write(self.path / "config.json", json.dumps(config, indent=2) + "\n")


def read_config(folder: str | Path) -> dict[str, Any]:
    """Return the config of a run folder: its spec, with the versions and digests at its first start.

    Raises:
        RunError: If there is none.
    """
    file = Path(folder) / "config.json"
    try:
        config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{folder} is no run folder: {error}") from error
    return config


def read_records(folder: str | Path) -> list[Record]:
    """Return the records of a run folder, the last one for each episode; an empty list if it has none yet.

    If earlier attempts at an episode raised, ``spent_before`` is their cost.

    Raises:
        RunError: If a line is no record; an incomplete last line is ignored.
    """
    return latest(record for _, record in read_lines(folder))


def read_lines(folder: str | Path) -> Iterator[tuple[int, Record]]:
    """Yield every record of a run folder with the number of its line, those of superseded attempts as well.

    Raises:
        RunError: If a line is no record; an incomplete last line is ignored.
    """
    file = Path(folder) / "episodes.jsonl"
    if not file.exists():
        return
    if not file.is_file():  # a pipe or a device could be read for ever
        raise RunError(f"{file} is no file")
    with file.open("rb") as lines:
        for number, line in enumerate(iter(lambda: lines.readline(MAX_LINE), b""), 1):
            if not line.endswith(b"\n"):
                if len(line) == MAX_LINE:
                    raise RunError(f"{file}:{number}: expected a line of less than {MAX_LINE >> 20} MiB")
                return  # the incomplete line of a killed run
            try:
                record = _in_current_schema(json.loads(line))
                if not isinstance(record["task"], str) or type(record["repeat"]) is not int:
                    raise TypeError("an episode is named by a text and a number")
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise RunError(f"{file}:{number}: not an episode record") from error
            yield number, record


def latest(records: Iterable[Record]) -> list[Record]:
    """Return the last record of each episode, with the cost of earlier attempts that raised as ``spent_before``.

    Raises:
        RunError: If such an attempt has no cost.
    """
    by_key: dict[Key, Record] = {}
    for record in records:
        earlier = by_key.get(key_of(record))
        if earlier and earlier.get("error"):  # its completions were paid for nevertheless
            try:
                record["spent_before"] = earlier["cost"] + earlier.get("spent_before", 0.0)
            except (KeyError, TypeError) as error:
                raise RunError(f"not an episode record: an attempt at {record['task']} without its cost") from error
        by_key[key_of(record)] = record
    return list(by_key.values())


def key_of(record: Mapping[str, Any]) -> Key:
    """Return the key of a record's episode."""
    return record["task"], record["repeat"]


def without_timing(record: Mapping[str, Any]) -> Record:
    """Return a record without its times, which differ between runs, for comparisons."""
    return {key: value for key, value in record.items() if key not in TIMES}


def now() -> str:
    """Return the time as ISO 8601, to the second, in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _in_current_schema(record: Record) -> Record:
    """Return a record with the keys of the current schema; records of schema 1 may have a depth and no group."""
    record = {_OLD_KEYS.get(key, key): value for key, value in dict(record).items()}
    record.setdefault("group", f"depth {record['depth']}")
    record.setdefault("restores", [])  # in older records agents went back by resets only
    record.setdefault("picture", "")  # and no environment drew one
    record.setdefault("repeat", 0)  # nor was a task played twice,
    record.setdefault("replies", {})  # replies were not counted,
    record.setdefault("limit", None)  # and limits of a model were errors or empty actions
    return record


def _drop_unfinished_line(file: Path) -> None:
    if file.exists():
        whole = file.read_bytes()
        end = whole.rfind(b"\n") + 1
        if end < len(whole):
            os.truncate(file, end)


def _git_commit() -> str | None:
    """Return the commit of the working folder, marked where files differ from it; None outside of a repository."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None
