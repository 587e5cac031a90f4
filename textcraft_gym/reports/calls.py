"""The calls of a run: what its models read and wrote, in ``calls.jsonl.gz`` of the run folder.

Each episode that asked a model adds one member to that gzip file (see ``storage/frames.py``),
before its record is written; of two for one episode the later counts. Its text is lines of JSON.
The first tells the episode: ``{"task": ..., "repeat": ...}``. Each further line is a ``Call``.

A prompt that begins as an earlier one of its episode, as each turn of a dialogue does, is written
as ``{"call": 3, "keep": 512, "add": ...}``: the first 512 characters of the prompt of the call with
the index 3, or as many messages, and what follows them. ``zcat`` shows the file; the reader puts
prompts together again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any
from warnings import warn

from textcraft_gym.agents.redaction import redacted
from textcraft_gym.episodes.calls import Call, Prompt
from textcraft_gym.errors import RunError
from textcraft_gym.reports.records import Key, opened, read_identity, read_records, shown
from textcraft_gym.storage.frames import MAX_TEXT, FrameError, Span, first_line, frame, read, spans
from textcraft_gym.storage.json_types import Check, check_of, field_types, is_of_type, type_name

FILE = "calls.jsonl.gz"
"""Name of the file in a run folder."""
LOOK_BACK = 32
"""Number of earlier calls with which a prompt is compared."""
MIN_KEPT = 64
"""Number of common characters from which a text refers to an earlier one."""
MAX_PROMPTS = 1 << 30
"""Maximum length of the prompts of an episode together, in characters."""
MAX_CALLS = MAX_TEXT - (1 << 20)
"""Maximum length of the lines of an episode, in characters; further calls are left out."""


class Calls(Mapping[Key, list[Call]]):
    """The calls of a run's episodes by their keys, read from the file whenever they are asked for.

    Episodes that asked no model have none. Only positions are kept in memory; a file that grows is
    read anew by another object.

    Args:
        folder: The run folder; without a file of calls there are none.

    Raises:
        RunError: If the file cannot be read.
    """

    def __init__(self, folder: str | Path) -> None:
        self.file = Path(folder) / FILE
        self._spans: dict[Key, Span] = {}
        if not self.file.exists():
            return
        try:
            with opened(self.file) as file:
                for span in spans(file):
                    key = _key(file, span)
                    if key is not None:
                        self._spans[key] = span
        except OSError as error:
            raise RunError(f"{self.file} cannot be read: {error}") from error

    def __getitem__(self, key: Key) -> list[Call]:
        """Return the calls of an episode, in order.

        Raises:
            KeyError: If it has none.
            RunError: If they are damaged.
        """
        lines = self.lines(key)
        try:
            return _calls(lines)
        except ValueError as error:
            raise RunError(f"{self.file}: the calls of {shown(key)}: {error}") from error

    def __iter__(self) -> Iterator[Key]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)

    def size(self, key: Key) -> int:
        """Return how many bytes of the file an episode takes; 0 if it has no calls."""
        span = self._spans.get(key)
        return span.length if span else 0

    def lines(self, key: Key) -> list[dict[str, Any]]:
        """Return the calls of an episode as they are written; see the head of this module.

        Raises:
            KeyError: If it has none.
            RunError: If they are damaged.
        """
        span = self._spans[key]
        try:
            with opened(self.file) as file:
                _, *lines = read(file, span).split(b"\n")
            written = [json.loads(line) for line in lines if line]
            for line in written:
                _check(line)
        except (OSError, ValueError, RecursionError) as error:
            raise RunError(f"{self.file}: the calls of {shown(key)}: {error}") from error
        return written


def read_calls(folder: str | Path, key: Key) -> list[Call]:
    """Return what the models of a run were asked in one episode, and what they answered, in order.

    Other episodes are not read. There are none without a model, or in a run with ``calls=False``.
    For many episodes make one ``Calls`` of the folder, a mapping by the same keys.

    Args:
        folder: The run folder.
        key: The episode: its task, and its number among those of the task, 0 without repeats.

    Raises:
        RunError: If there is no such run or no such episode in it, the file of calls cannot be
            read, or the episode's are damaged.
        ValueError: If the key is none.
    """
    if not isinstance(key, tuple) or not is_of_type(list(key), tuple[str, int]):
        raise ValueError(f"expected a key (task, repeat) of an episode, got {shown(key)}")
    read_identity(folder)
    calls = Calls(folder)
    if key in calls:
        return calls[key]
    if key not in read_records(folder).played:
        raise RunError(f"{folder} has no episode {shown(key)}")
    return []


def lines_of(calls: Sequence[Call]) -> str:
    """Return the calls of an episode as lines, without secrets; empty without calls."""
    lines: list[str] = []
    earlier: list[Prompt] = []
    length = 0
    for call in calls:
        fields = redacted(asdict(call))
        prompt = fields["prompt"]
        fields["prompt"] = _short(prompt, earlier)
        earlier.append(prompt)
        line = json.dumps(fields, allow_nan=False, separators=(",", ":"))
        length += len(line) + 1
        if length > MAX_CALLS:
            warn(
                f"an episode's calls are too long: kept {len(lines)} of {len(calls)}",
                stacklevel=2,
            )
            break
        lines.append(line + "\n")
    return "".join(lines)


def member(key: Key, lines: str) -> bytes:
    """Return the calls of an episode as they are added to the file, from the lines of them."""
    task, repeat = key
    head = json.dumps({"task": task, "repeat": repeat})
    return frame(f"{head}\n{lines}".encode())


def _key(file: Any, span: Span) -> Key | None:
    """Return the key of a member; None for one that cannot be read."""
    try:
        head = json.loads(first_line(file, span))
        key = head["task"], head["repeat"]
    except (FrameError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return key if type(key[0]) is str and type(key[1]) is int else None


def _short(prompt: Prompt, earlier: Sequence[Prompt]) -> Any:
    """Return a prompt as it is written: by reference to the one that shares most with it."""
    best = keep = 0
    for index in range(max(0, len(earlier) - LOOK_BACK), len(earlier)):
        common = _common(prompt, earlier[index])
        if common >= keep:
            best, keep = index, common
    if keep < (MIN_KEPT if isinstance(prompt, str) else 1):
        return prompt
    return {"call": best, "keep": keep, "add": prompt[keep:]}


def _common(prompt: Prompt, other: Prompt) -> int:
    """Return how many characters or messages two prompts begin with in common."""
    if type(prompt) is not type(other):
        return 0
    low, high = 0, min(len(prompt), len(other))
    # By halves, since a comparison of slices is much faster than one of items.
    while low < high:
        middle = (low + high + 1) // 2
        if prompt[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _calls(lines: Sequence[dict[str, Any]]) -> list[Call]:
    """Return the calls that lines stand for, with their whole prompts.

    Raises:
        ValueError: If a prompt refers to none before it, or they are too long together.
    """
    calls: list[Call] = []
    length = 0
    for line in lines:
        call = Call(**{**line, "prompt": _whole(line["prompt"], calls)})
        length += len(call.prompt)
        if length > MAX_PROMPTS:
            raise ValueError("their prompts are too long")
        calls.append(call)
    return calls


def _whole(written: Any, calls: Sequence[Call]) -> Prompt:
    """Return a prompt from what is written of it."""
    if not isinstance(written, dict):
        prompt: Prompt = written
        return prompt
    index, keep, add = written["call"], written["keep"], written["add"]
    if not 0 <= index < len(calls) or keep < 0:
        raise ValueError("a prompt refers to a call that is not before it")
    begun: Any = calls[index].prompt
    if type(begun) is not type(add):
        raise ValueError("a prompt of one kind refers to one of another")
    whole: Prompt = begun[:keep] + add
    return whole


def _check(line: Any) -> None:
    """Raise ValueError unless a line has the fields of a call, with their types."""
    types, checks = field_types(Call), _checks()
    if type(line) is not dict or line.keys() != checks.keys():
        raise ValueError(f"expected a call, got {shown(line)}")
    for name, check in checks.items():
        if not check(line[name]):
            expected = type_name(types[name])
            raise ValueError(f"expected {name} of type {expected}, got {shown(line[name])}")


@cache
def _checks() -> dict[str, Check]:
    checks = {name: check_of(expected) for name, expected in field_types(Call).items()}
    is_prompt = checks["prompt"]
    checks["prompt"] = lambda value: is_prompt(value) or _is_reference(value)
    return checks


def _is_reference(value: Any) -> bool:
    if type(value) is not dict or value.keys() != {"call", "keep", "add"}:
        return False
    is_prompt, is_int = check_of(Prompt), check_of(int)
    return is_int(value["call"]) and is_int(value["keep"]) and is_prompt(value["add"])
