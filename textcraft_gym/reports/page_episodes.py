"""The episodes of a page as data: a short line for each, and all that it holds, compressed, for when it is opened.

A browser draws a hundred lines at once and unpacks only what is opened, so that a page of thousands
of episodes opens quickly. Whatever an episode holds is JSON or Base64 here, and never markup.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from textcraft_gym.reports.metrics import Outcome, outcome_of
from textcraft_gym.reports.tables import seconds
from textcraft_gym.reports.timing import latency

Record: TypeAlias = Mapping[str, Any]

OUTCOMES: dict[Outcome, str] = {
    "won": "✓ won",
    "lost": "✗ lost",
    "limit": "✗ limit",
    "unknown": "? unknown",
    "error": "! error",
}
CLAIMS = {True: "success", False: "failure", None: "not said"}
INSIDE = ("transcript", "restores", "trace", "traceback", "picture")
"""Fields of a record that are shown when it is opened."""
BLOCK = 1 << 17
"""Characters after which a block of compressed episodes ends; larger ones are not smaller compressed."""


class Line(NamedTuple):
    """A line in the list of episodes, as texts, by the names of its columns.

    Attributes:
        run: Index of its run.
        outcome: A key of ``OUTCOMES``.
        error: What broke the episode; empty if nothing did.
    """

    run: int
    task: str
    outcome: str
    claimed_success: str
    group: str
    steps: str
    optimal: str
    calls: str
    k_max: str
    seconds: str
    stop_reason: str
    error: str


class Choice(NamedTuple):
    """An option of a filter: its value, its label, and the number of episodes that have it."""

    value: str
    words: str
    episodes: int


@dataclass(frozen=True)
class Packed:
    """Texts in compressed blocks.

    Attributes:
        starts: Index of the first text of each block.
        blocks: Each block: its texts, one a line, compressed by zlib and written in Base64.
    """

    starts: list[int]
    blocks: list[str]


def line(run: int, record: Record) -> Line:
    """Return the line of an episode."""
    claimed = record["claimed_success"]
    outcome = outcome_of(record)
    mistaken = (
        claimed is not None and outcome not in ("error", "unknown") and claimed != record["won"]
    )
    repeat = f" (repeat {record['repeat']})" if record["repeat"] else ""
    limit = f" ({record['limit']})" if record["limit"] else ""
    return Line(
        run=run,
        task=record["task"] + repeat,
        outcome=outcome,
        claimed_success=CLAIMS[claimed] + (" (wrong)" if mistaken else ""),
        group=record["group"],
        steps=str(record["steps"]),
        optimal=str(record["optimal_length"] or "-"),
        calls=str(sum(record["calls"].values())),
        k_max=str(record["k_max"]),
        seconds=seconds(record.get("seconds")),
        stop_reason=record["stop_reason"] + limit,
        error=record.get("error") or "",
    )


def inside(record: Record) -> str:
    """Return what is shown of an episode when it is opened, as a line of JSON."""
    return json.dumps(
        {**{key: record[key] for key in INSIDE}, "facts": _facts(record)}, separators=(",", ":")
    )


def packed(texts: Iterable[str]) -> Packed:
    """Compress texts without line breaks, many together."""
    starts: list[int] = []
    blocks: list[str] = []
    gathered: list[str] = []
    length = 0
    for number, text in enumerate(texts):
        if not gathered:
            starts.append(number)
        gathered.append(text)
        length += len(text)
        if length >= BLOCK:
            blocks.append(_compressed(gathered))
            gathered, length = [], 0
    return Packed(starts, [*blocks, _compressed(gathered)] if gathered else blocks)


def filters(runs: Mapping[str, Sequence[Record]], groups: Sequence[str]) -> dict[str, list[Choice]]:
    """Return the choices of each filter."""
    records = [record for of_run in runs.values() for record in of_run]
    outcomes = Counter(map(outcome_of, records))
    shown = [
        outcome for outcome in OUTCOMES if outcomes[outcome] or outcome in ("won", "lost", "error")
    ]
    episodes = Counter(record["group"] for record in records)
    return {
        "run": [Choice(run, run, len(of_run)) for run, of_run in runs.items()],
        "outcome": [Choice(outcome, OUTCOMES[outcome], outcomes[outcome]) for outcome in shown],
        "group": [Choice(group, group, episodes[group]) for group in groups],
    }


def _compressed(texts: Sequence[str]) -> str:
    return b64encode(zlib.compress("\n".join(texts).encode())).decode()


def _facts(record: Record) -> str:
    counts = [(f"calls of the {role}", count) for role, count in record["calls"].items()]
    counts += [(kind.replace("_", " "), count) for kind, count in record["tokens"].items()]
    each = latency(record)
    return "; ".join(
        [
            f"seed {record['seed']}",
            f"reward {record['reward']:g}",
            f"trials {record['trials']}",
            *(
                [f"returns to earlier moments {len(record['restores'])}"]
                if record["restores"]
                else []
            ),
            *(f"{name} {count:,}" for name, count in counts),
            *(
                f"replies {kind.replace('_', ' ')} {count}"
                for kind, count in record["replies"].items()
                if count
            ),
            f"cost {record['cost']:.4g}",
            *([f"seconds {seconds(record['seconds'])}"] if record.get("seconds") else []),
            *([f"seconds per call {seconds(each)}"] if each is not None else []),
        ]
    )
