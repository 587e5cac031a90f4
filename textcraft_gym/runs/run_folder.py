"""The folder of a run, which a killed run can resume.

``config.json`` is the run's spec with its versions and digests; ``episodes.jsonl`` gets a line as
each episode ends, and ``calls.jsonl.gz`` what its models read and wrote; ``summary.json`` is
written at the end, and ``report.md`` whenever a run stops. An episode that raised is a line with an
``error``; of two lines for one episode the later counts. A lock excludes other processes.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timezone
from io import FileIO
from pathlib import Path
from typing import IO, Any
from warnings import warn

import gymnasium as gym
from filelock import FileLock, Timeout

from textcraft_gym.errors import RunError
from textcraft_gym.reports.calls import FILE as CALLS
from textcraft_gym.reports.calls import member
from textcraft_gym.reports.metrics import Summary, summarise_by_group
from textcraft_gym.reports.notes import notes
from textcraft_gym.reports.records import (
    SCHEMA,
    Line,
    Record,
    Records,
    key_of,
    read_config,
    read_identity,
    read_lines,
    read_records,
)
from textcraft_gym.reports.tables import codes, markdown
from textcraft_gym.storage.cache import atomic_write, replacing
from textcraft_gym.storage.frames import end_of_members

BLOCK = 1 << 16
"""Bytes read at once."""
DIGITS = 8
"""Number of digits of a digest in a message."""
_DIGEST = re.compile("[0-9a-f]{64}")


class RunFolder:
    """Writes a run folder, which ``records.py`` reads.

    Attributes:
        path: The folder.
        records: The records that it has, once it is locked.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.records = Records(self._file)
        # One object: only that is re-entrant.
        self._lock = FileLock(self.path / ".lock", timeout=0)
        self._episodes: FileIO | None = None
        self._calls: FileIO | None = None

    @property
    def _file(self) -> Path:
        return self.path / "episodes.jsonl"

    @contextmanager
    def locked(self, identity: Mapping[str, Any]) -> Iterator[None]:
        """Lock the folder against other processes and take up its records; it is made if missing.

        Raises:
            RunError: If another process is writing to it, or it holds another run than that with
                this identity.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        is_held = self._lock.is_locked
        try:
            self._lock.acquire()
        except Timeout as error:
            raise RunError(f"another process is writing to {self.path}") from error
        try:
            if not is_held:
                self.check(identity)
                self._take_up()
            yield
        finally:
            self._lock.release()

    def check(self, identity: Mapping[str, Any]) -> None:
        """Check that the folder is new, or holds the run with this identity.

        Raises:
            RunError: If it holds another run, or another version of the format.
        """
        if not (self.path / "config.json").exists():
            if self._file.exists():
                raise RunError(
                    f"{self.path} holds episodes but no config.json; choose another folder"
                )
            return
        held = read_identity(self.path)
        changed = []
        for key, here in identity.items():
            if held.get(key) != here:
                changed.append(f"{key}: {_shown(held.get(key))}, now {_shown(here)}")
        if changed:
            differences = "; ".join(changed)
            advice = "choose another folder"
            records = read_records(self.path)
            if len(records) and not records.done:
                advice += ", or delete this one, of which every episode ended with an error"
            raise RunError(f"{self.path} holds another run ({differences}); {advice}")

    def begin(
        self,
        identity: Mapping[str, Any],
        code: str,
        episodes: int | None = None,
    ) -> None:
        """Write the config of a new run, with a digest of its code.

        Args:
            identity: What tells the run from others.
            code: The digest.
            episodes: Number of episodes of the whole run, if that is known.
        """
        if (self.path / "config.json").exists():
            return
        versions = {
            "python": platform.python_version(),
            "gymnasium": gym.__version__,
            "commit": _git_commit(),
        }
        config = {
            "schema": SCHEMA,
            **identity,
            "episodes": episodes,
            "begun_with": versions,
            "codes": [code],
            "started": now(),
        }
        self._write_config(config)

    def go_on(self, code: str, *, plays: bool) -> None:
        """Keep the digest of the code that resumes the run, and warn if other code played it.

        A run that is played on is unfinished again.

        Args:
            code: The digest.
            plays: Whether it plays anything; else it is not kept.
        """
        config = read_config(self.path)
        if plays and config.pop("finished", None):
            self._write_config(config)
        played = codes(config)
        if code in played:
            return
        if plays:
            self._write_config({**config, "codes": [*played, code]})
            advice = "to keep to one code, choose another folder"
        else:
            advice = "no episode is missing; to play it again, choose another folder"
        warn(
            f"{self.path} was played with other code ({', '.join(played)}; now {code}): {advice}",
            stacklevel=3,
        )

    def append(
        self,
        record: Record,
        line: str,
        calls: str = "",
    ) -> None:
        """Write the record of an episode, whose line this is (see ``line_of``), or nothing at all.

        Its calls (see ``lines_of``) are written first: an episode that has a record has its calls.
        If models were asked it outlasts a power cut, for which to wait takes a millisecond or more.
        Without them the episode is quickly played again.

        Raises:
            OSError: If it cannot be written, as on a full disk.
        """
        # Of a worker that died only the tokens are known.
        is_paid = bool(record["calls"] or record["tokens"])
        if calls:
            if self._calls is None:
                self._calls = FileIO(self.path / CALLS, "ab")
            _append(self._calls, member(key_of(record), calls), is_paid)
        if self._episodes is None:
            self._episodes = FileIO(self._file, "ab")
        start = _append(self._episodes, f"{line}\n".encode(), is_paid)
        self.records.add(record, start)

    def close(self) -> None:
        """Close the files of episodes and calls."""
        for file in (self._episodes, self._calls):
            if file is not None:
                file.close()

    def finish(self, records: Sequence[Record]) -> None:
        """Write the summary and the report of a run that has all its records.

        A run that was finished before keeps the time at which it was.
        """
        summaries = self.report(records)
        as_json = {name: asdict(summary) for name, summary in summaries.items()}
        atomic_write(self.path / "summary.json", json.dumps(as_json, indent=2) + "\n")
        config = read_config(self.path)
        config.setdefault("finished", now())
        self._write_config(config)

    def report(self, records: Sequence[Record]) -> dict[str, Summary]:
        """Write the report of a run, which says so if it is unfinished, and return its numbers."""
        summaries = summarise_by_group(records)
        below = notes(records, read_config(self.path))
        atomic_write(self.path / "report.md", markdown({self.path.name: summaries}, below))
        return summaries

    def _take_up(self) -> None:
        """Read the records.

        What a killed run left incomplete is dropped, and damaged lines are moved away.
        """
        if (self.path / CALLS).is_file():
            with (self.path / CALLS).open("r+b") as calls:
                calls.truncate(end_of_members(calls))
        if self._file.exists():
            with self._file.open("r+b") as lines:
                _drop_unfinished_line(lines)
        damaged, self.records = [], Records(self._file)
        for line in read_lines(self.path):
            if line.record is None:
                damaged.append(line)
            else:
                self.records.add(line.record, line.start)
        if damaged:
            _set_aside(damaged, self._file)
            self.records = read_records(self.path)

    def _write_config(self, config: Mapping[str, Any]) -> None:
        atomic_write(self.path / "config.json", json.dumps(config, indent=2) + "\n")


def _shown(value: object) -> str:
    """Return a value of a config for a message; of a digest its beginning."""
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return f"{value[:DIGITS]}..."
    return repr(value)


def now() -> str:
    """Return the time as ISO 8601, to the second, in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _append(file: FileIO, data: bytes, is_synced: bool) -> int:
    """Add data to the end of a file, or nothing at all; return where it begins.

    Args:
        file: The file.
        data: What is to be added.
        is_synced: Whether to wait until it outlasts a power cut.
    """
    start = file.seek(0, os.SEEK_END)  # a cut-off attempt leaves the position behind the end
    try:
        # A raw file may take only a part of the data, as on a nearly full disk.
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        if is_synced:
            os.fsync(file.fileno())
    except OSError:
        file.truncate(start)
        raise
    return start


def _set_aside(damaged: Sequence[Line], file: Path) -> None:
    """Move lines of a file to ``damaged.jsonl`` beside it."""
    with (
        replacing(file) as good,
        file.with_name("damaged.jsonl").open("ab") as bad,
        file.open("rb") as lines,
    ):
        for line in damaged:
            _copy(lines, good, line.start - lines.tell())
            _copy(lines, bad, line.length)
        _copy(lines, good, file.stat().st_size - lines.tell())
        for stream in (bad, good):  # as durable as the episodes that are copied
            stream.flush()
            os.fsync(stream.fileno())


def _copy(
    source: IO[bytes],
    target: IO[bytes],
    length: int,
) -> None:
    while length:
        block = source.read(min(BLOCK, length))
        target.write(block)
        length -= len(block)


def _drop_unfinished_line(file: IO[bytes]) -> None:
    """Cut a file after its last line break, which is looked for from the end."""
    end = file.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - BLOCK)
        file.seek(start)
        line_break = file.read(end - start).rfind(b"\n")
        if line_break >= 0:
            end = start + line_break + 1
            break
        end = start
    file.truncate(end)


def _git_commit() -> str | None:
    """Return the commit of the working folder; None outside of a repository.

    It ends in ``-dirty`` where files differ from it.
    """
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    captured = {"capture_output": True, "text": True, "timeout": 10, "check": True}
    try:
        git = subprocess.run(command, **captured)  # type: ignore[call-overload]  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return git.stdout.strip() or None
