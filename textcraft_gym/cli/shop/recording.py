"""Recorded episodes, from an evaluation or saved by the shop."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textcraft_gym.cli.shop.session import ENV, Session, Storefront
from textcraft_gym.errors import RunError, UnknownName
from textcraft_gym.reports.records import Record, read_config, read_records, record_types
from textcraft_gym.storage.json_types import is_of_type, type_name

SHOWN = ("task", "reward", "won", "steps", "transcript")
"""Fields of a record that are shown, all of which it must have."""
ALSO_SHOWN = ("restores", "trace", "error")
"""Fields that may be missing."""


@dataclass(frozen=True)
class Run:
    """Recorded episodes.

    Attributes:
        name: The name of the folder or file.
        records: One record for each episode.
        env_args: Arguments of ``gym.make`` in these episodes.
        fingerprint: Fingerprint of their market.
    """

    name: str
    records: Sequence[Record]
    env_args: Mapping[str, Any]
    fingerprint: str


@dataclass(frozen=True)
class Recording:
    """A replayed episode.

    Attributes:
        session: The moves.
        recorded: The recorded observation after each move.
        notes: The agent's texts before each move, by the number of the move; those after the last
            move have the next number.
        error: The error that ended the episode; None if there was none.
    """

    session: Session
    recorded: list[str]
    notes: Mapping[int, list[str]]
    error: str | None


def read_run(path: str | Path, task: str | None = None) -> Run:
    """Read a run folder, or a session saved by the shop.

    Args:
        path: The folder or file.
        task: Read only the episode of this task.

    Raises:
        RunError: If it cannot be read, or is of another environment.
        UnknownName: If it has no episode of the task.
    """
    path = Path(path)
    records: Sequence[Record]
    if path.is_file():
        config = _saved(path)
        records = [config]
    else:
        config = read_config(path)
        records = read_records(path)

    if config.get("env") != ENV:
        raise RunError(f"expected a run of {ENV} in {path}, got one of {config.get('env')}")
    if task is not None:
        known = [record["task"] for record in records]
        records = [record for record in records if record["task"] == task]
        if not records:
            raise UnknownName.of("task", task, known)
    return Run(path.name, records, config.get("env_args") or {}, str(config.get("env_sha256")))


def replayed(front: Storefront, record: Record) -> Recording:
    """Replay a recorded episode.

    Raises:
        UnknownName: If the shop does not have its task.
        RunError: If the record has no transcript that can be played.
    """
    if fault := _fault(record):
        raise RunError(f"the record of {record['task']} cannot be played: {fault}")
    session = Session(front, front.task(record["task"]))
    transcript = [(action, observation) for action, observation in record["transcript"]]
    restores = dict(record.get("restores") or ())
    if not transcript or any(not 0 <= origin < number for number, origin in restores.items()):
        raise RunError(f"the record of {record['task']} has no transcript that can be played")
    session.replay(transcript, restores)
    notes = _notes(record["trace"]) if record.get("trace") else {}
    return Recording(
        session,
        [observation for _, observation in transcript],
        notes,
        record.get("error"),
    )


def saved(session: Session) -> Record:
    """Return a session as a record that ``read_run`` reads."""
    score = session.score(session.last)
    env_args = dict(session.front.env_args)
    for name, value in env_args.items():
        if isinstance(value, Path):
            env_args[name] = str(value)
    return {
        "env": ENV,
        "env_args": env_args,
        "env_sha256": session.front.fingerprint,
        "task": session.task.id,
        "instruction": session.task.goal.instruction,
        "reward": score,
        "won": score == 1.0,
        "steps": session.last,
        "transcript": session.transcript(),
    }


def _saved(file: Path) -> Record:
    try:
        record: Any = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{file} is not a session saved by the shop: {error}") from error
    if not isinstance(record, dict):
        fault = "expected an object"
    elif not isinstance(record.get("env_args") or {}, dict):
        fault = "expected env_args to be an object"
    else:
        fault = _fault(record)
    if fault:
        raise RunError(f"{file} is not a session saved by the shop: {fault}")
    return record  # type: ignore[no-any-return]


def _fault(record: Record) -> str:
    """Return what is wrong with the fields that are shown; empty if nothing.

    A saved session has no other fields.
    """
    types = record_types()
    present = [name for name in ALSO_SHOWN if record.get(name) is not None]
    for name in (*SHOWN, *present):
        try:
            fits = name in record and is_of_type(record[name], types[name])
        except RecursionError:  # a foreign file may nest without end
            fits = False
        if not fits:
            return f"expected {name} of type {type_name(types[name])}"
    return ""


def _notes(trace: Mapping[str, Any]) -> dict[int, list[str]]:
    """Return the texts in the trace tree of an episode, by the number of the move that follows."""
    notes: dict[int, list[str]] = {}
    next_move = 1

    def walk(node: Mapping[str, Any]) -> None:
        nonlocal next_move
        for part in node.get("parts", ()):
            if isinstance(part, int):  # the index of a step
                next_move = part + 1
            elif isinstance(part, str):
                notes.setdefault(next_move, []).append(part)
            else:
                walk(part)

    walk(trace)
    return notes
