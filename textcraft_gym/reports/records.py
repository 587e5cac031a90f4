"""Reads the folder of a run, which may be untrusted or damaged, and hold a million episodes.

All commands read here. What is read was checked, so that a record has the fields and types of an
``Episode``; no file is read whole that has no bound; and a line that cannot be used costs its own
episode only.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, overload
from warnings import warn

from textcraft_gym.episodes.episode import INTERRUPTED, TIMES, Episode
from textcraft_gym.errors import RunError, os_reason
from textcraft_gym.storage.json_types import check_of, field_types, is_of_type, type_name

Record: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, int]
"""What identifies an episode of a run: its task, and its number among those of the task."""

SCHEMA = 4
"""Version of the folder's format."""
MAX_LINE = 1 << 28
"""Maximum length of a record in bytes, with its line break."""
MAX_FILE = 1 << 26
"""Maximum length of any other file of a run folder, in bytes."""
MAX_SHOWN = 160
"""Maximum length of a value in a message, in characters."""

TASK: Mapping[str, Any] = {
    "task": str,
    "group": str,
    "family": str,
    "depth": float,
    "optimal_length": int | None,
}
"""Types of the fields of a record that describe the task."""
LONG = ("transcript", "trace", "traceback", "picture")
"""Fields of a record that tables do not need."""

_TEXT = str | None
_CONFIG: Mapping[str, Any] = {
    "env": str,
    "split": _TEXT,
    "agent": str,
    "agent_args": dict[str, Any],
    "prompts": _TEXT,
    "env_args": dict[str, Any],
    "wrappers": list[str],
    "seed": int,
    "limit": int | None,
    "tasks": list[str] | None,
    "max_steps": int,
    "max_calls": int,
    "won_at": float | None,
    "repeats": int,
    "temperature": float,
    "env_sha256": _TEXT,
    "tasks_sha256": str,
    "prompts_sha256": str,
    "version": str,
}
"""Types of the keys of a config that are read."""


class Line(NamedTuple):
    """A line of ``episodes.jsonl``.

    Attributes:
        number: Its number, from 1.
        start, length: Where it is in the file, in bytes.
        record: The record; None if the line is not one.
        wrong: Why it is not one; empty for a record.
    """

    number: int
    start: int
    length: int
    record: Record | None
    wrong: str = ""


class Records(Sequence[Record]):
    """The last record of each episode of a run, read from the file whenever one is asked for.

    Only positions are kept in memory. If earlier attempts at an episode raised, ``spent_before`` is
    their cost.

    Args:
        file: The file of episodes.

    Attributes:
        attempts: Number of superseded attempts, which are no episodes, by what ended them:
            ``interruption`` or ``error``.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.attempts: Counter[str] = Counter()
        # The position of each record's line, by its place among the episodes.
        self._starts = array("q")
        self._order: dict[Key, int] = {}
        # Of few episodes, by their places: the cost of the last attempt, which failed, and that of
        # the attempts before it. Of interrupted ones the error is known, too.
        self._failed: dict[int, float] = {}
        self._interrupted: set[int] = set()
        self._spent: dict[int, float] = {}

    def add(
        self,
        record: Mapping[str, Any],
        start: int,
    ) -> int:
        """Add the record of a line, which replaces an earlier one of the same episode.

        Returns:
            Its place among the episodes.
        """
        place = self._order.setdefault(key_of(record), len(self._starts))
        if place == len(self._starts):
            self._starts.append(start)
        self._starts[place] = start
        if place in self._failed:  # its completions were paid for nevertheless
            self._spent[place] = self._spent.get(place, 0.0) + self._failed.pop(place)
            self.attempts["interruption" if place in self._interrupted else "error"] += 1
            self._interrupted.discard(place)
        else:
            self._spent.pop(place, None)
        if record["error"]:
            self._failed[place] = record["cost"]
            if record["error"].endswith(f": {INTERRUPTED}"):
                self._interrupted.add(place)
        return place

    @property
    def played(self) -> KeysView[Key]:
        """The keys of all episodes."""
        return self._order.keys()

    @property
    def done(self) -> set[Key]:
        """The keys of the episodes that no error broke."""
        return {key for key, place in self._order.items() if place not in self._failed}

    def is_done(self, key: Key) -> bool:
        """Return whether there is a record of an episode that no error broke."""
        return key in self._order and self._order[key] not in self._failed

    def chosen(self, keys: Iterable[Key]) -> Records:
        """Return the records of those of these episodes that are there, in this order."""
        chosen = Records(self.file)
        chosen._starts, chosen._failed, chosen._spent = self._starts, self._failed, self._spent
        chosen._interrupted, chosen.attempts = self._interrupted, self.attempts
        chosen._order = {key: self._order[key] for key in keys if key in self._order}
        return chosen

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Record]:
        if self._order:
            yield from self.at(self._order.values())

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        places = list(self._order.values())[index]
        if isinstance(places, int):
            return next(self.at([places]))
        return list(self.at(places))

    def __repr__(self) -> str:
        return f"<{len(self)} records of {self.file}>"

    def at(self, places: Iterable[int]) -> Iterator[Record]:
        """Yield the records at places that ``add`` returned.

        Raises:
            RunError: If the file has changed.
        """
        try:
            with self.file.open("rb") as lines:
                for place in places:
                    lines.seek(self._starts[place])
                    record: Record = json.loads(lines.readline(MAX_LINE))
                    if place in self._spent:
                        record["spent_before"] = self._spent[place]
                    yield record
        except (OSError, ValueError) as error:
            raise RunError(
                f"{self.file} was changed or removed while it was read: {error}"
            ) from error


def read_config(folder: str | Path) -> dict[str, Any]:
    """Return the config of a run folder: its spec, and the versions and digests at its start.

    Raises:
        RunError: If there is none, or it is not one of a run in the current format.
    """
    config = read_identity(folder)
    for name, expected in _CONFIG.items():
        if name not in config or not is_of_type(config[name], expected):
            value = shown(config[name]) if name in config else "nothing"
            raise RunError(f"{folder}: expected {name} of type {type_name(expected)}, got {value}")
    return config


def read_identity(folder: str | Path) -> dict[str, Any]:
    """Return what the config of a folder says, whatever was played there.

    Raises:
        RunError: If there is none in the current format.
    """
    try:
        config = json.loads(read_bounded(Path(folder) / "config.json"))
    except OSError as error:
        raise RunError(f"{folder} is not a run folder: {os_reason(error)}") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{folder} is not a run folder: {error}") from error
    schema = config.get("schema") if type(config) is dict else config
    if type(config) is not dict or schema != SCHEMA:
        raise RunError(
            f"{folder}: expected a run of format {SCHEMA}, got {shown(schema)}; "
            "choose another folder"
        )
    return config


def read_records(folder: str | Path) -> Records:
    """Return the records of a run folder, the last one of each episode; none before the first.

    A line that is not a record is skipped with a warning, as if its episode had not been played.

    Raises:
        RunError: If the file of episodes cannot be read.
    """
    records = Records(Path(folder) / "episodes.jsonl")
    first, count = None, 0
    for line in read_lines(folder):
        if line.record is None:
            first, count = first or line, count + 1
        else:
            records.add(line.record, line.start)
    if first is not None:
        more = f" and {count - 1} more" if count > 1 else ""
        warn(
            f"{records.file}: skipped line {first.number}{more}: {first.wrong}; the command that "
            "began the run moves such lines to damaged.jsonl, and plays their episodes again",
            stacklevel=2,
        )
    return records


def read_lines(folder: str | Path, start: int = 0) -> Iterator[Line]:
    """Yield each line of the file of episodes but blank ones, superseded attempts included.

    The incomplete last line of a killed run is left out.

    Args:
        folder: The run folder.
        start: Where to begin, in bytes: the end of a line, after which lines are counted.

    Raises:
        RunError: If the file cannot be read.
    """
    file = Path(folder) / "episodes.jsonl"
    if not file.exists():
        return
    with opened(file) as lines:
        lines.seek(start)
        for number, (length, text) in enumerate(_complete_lines(lines), 1):
            if not text.isspace():
                yield Line(number, start, length, *_record(text))
            start += length


def read_bounded(file: Path) -> str:
    """Return the text of a file that is short enough to be read whole.

    Raises:
        OSError, UnicodeDecodeError: If it cannot be read.
        ValueError: If it is not a regular file, or too long.
    """
    with opened(file) as stream:
        content = stream.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise ValueError(f"{file} is longer than {MAX_FILE >> 20} MiB")
    return content.decode("utf-8")


def line_of(record: Mapping[str, Any]) -> str:
    """Return a record as a line of the file of episodes, without its line break.

    Raises:
        TypeError, ValueError, RecursionError: If it could not be written, or not be read again.
    """
    line = json.dumps(record, allow_nan=False)  # in ASCII, so that its characters are its bytes
    if len(line) >= MAX_LINE:
        raise ValueError(
            f"expected a line of at most {MAX_LINE >> 20} MiB, got {len(line) >> 20} MiB"
        )
    if wrong := malformed(json.loads(line)):
        raise ValueError(wrong)
    return line


def malformed(record: Any) -> str:
    """Return what is wrong with a record's fields and their types; empty if nothing is."""
    if type(record) is not dict:
        return f"expected an object, got {shown(record)}"
    checks = _checks()
    if missing := sorted(checks.keys() - record.keys()):
        return f"missing {', '.join(missing[:3])}"
    if unexpected := sorted(record.keys() - checks.keys()):
        return f"unexpected field {shown(unexpected[0])}"
    for name, check in checks.items():
        if not check(record[name]):
            expected = type_name(record_types()[name])
            return f"expected {name} of type {expected}, got {shown(record[name])}"

    transcript = record["transcript"]
    if transcript and transcript[0][0] is not None:
        return "the transcript does not begin with a reset"
    for entry, moment in record["restores"]:
        if not 0 <= moment < entry < len(transcript):
            return "restores points outside of the transcript"
    return ""


def record_types() -> dict[str, Any]:
    """Return the types of the fields of a record."""
    return {**field_types(Episode), **TASK}


def key_of(record: Mapping[str, Any]) -> Key:
    """Return the key of a record's episode."""
    return record["task"], record["repeat"]


def light(record: Mapping[str, Any]) -> Record:
    """Return a record without its long fields."""
    return {name: value for name, value in record.items() if name not in LONG}


def without_timing(record: Mapping[str, Any]) -> Record:
    """Return a record without its times, which differ between runs, for comparisons."""
    return {key: value for key, value in record.items() if key not in TIMES}


def shown(value: Any) -> str:
    """Return a value as Python writes it, cut to a length for a message."""
    if isinstance(value, str) and len(value) > MAX_SHOWN:
        text = repr(value[:MAX_SHOWN]) + "..."
    else:
        text = repr(value)
    return text if len(text) <= 2 * MAX_SHOWN else text[:MAX_SHOWN] + "..."


@cache
def _checks() -> dict[str, Callable[[Any], bool]]:
    return {name: check_of(hint) for name, hint in record_types().items()}


def opened(file: Path) -> IO[bytes]:
    """Open a regular file: a pipe or a device could be read for ever.

    Raises:
        OSError: If it cannot be opened.
        RunError: If it is not a regular file.
    """
    if file.exists() and not file.is_file():
        raise RunError(f"{file} is not a regular file")
    return file.open("rb")


def _complete_lines(lines: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the length and the text of each line that has its end; no text if it is too long."""
    while text := lines.readline(MAX_LINE):
        length = len(text)
        while not text.endswith(b"\n") and (more := lines.readline(MAX_LINE)):
            text = more
            length += len(more)
        if not text.endswith(b"\n"):
            return
        yield length, text if length <= MAX_LINE else b""


def _record(text: bytes) -> tuple[Record | None, str]:
    """Return the record of a line, or None and why it is not one."""
    if not text:
        return None, f"longer than {MAX_LINE >> 20} MiB"
    try:
        record = json.loads(text)
        wrong = malformed(record)
    except ValueError as error:
        return None, f"not JSON: {error}"
    except RecursionError:
        return None, "nested too deeply"
    if wrong:
        return None, wrong
    return record, ""
