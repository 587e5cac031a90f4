"""The episodes of a page as data: a short line each, and all that an opened one shows.

What an opened episode shows is compressed. A browser draws a hundred lines at once and unpacks only
what is opened, so that a page of thousands of episodes opens quickly. Whatever an episode holds is
JSON or Base64 here, and never markup.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from textcraft_gym.reports.metrics import Claim, Outcome, claim_of, outcome_of
from textcraft_gym.reports.tables import money, seconds
from textcraft_gym.reports.timing import latency

Record: TypeAlias = Mapping[str, Any]

OUTCOMES: dict[Outcome, str] = {
    "won": "✓ won",
    "lost": "✗ lost",
    "limit": "✗ limit",
    "unknown": "? unknown",
    "error": "! error",
}
CLAIMS: dict[Claim, str] = {
    "success": "won",
    "failure": "lost",
    "game": "nothing: the game ended it",
    "nothing": "nothing",
}
REPLY_WORDS = {
    "asked": "asked for",
    "bare": "with a bare command",
    "worded": "with words around the command",
    "no_command": "with no command",
    "empty": "empty",
    "cut": "cut off",
}
INSIDE = ("transcript", "restores", "trace", "traceback", "picture")
"""Fields of a record that are shown when it is opened."""
BLOCK = 1 << 17
"""Characters after which a block of compressed episodes ends; larger ones save no more."""


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
    outcome = outcome_of(record)
    task = record["task"]
    if record["repeat"]:
        task += f" (repeat {record['repeat']})"

    claimed = record["claimed_success"]
    claim = CLAIMS[claim_of(record)]
    is_known = claimed is not None and outcome not in ("error", "unknown")
    if is_known and claimed != record["won"]:
        claim += " (wrong)"

    stop_reason = record["stop_reason"]
    if record["limit"]:
        stop_reason += f" ({record['limit']})"
    return Line(
        run=run,
        task=task,
        outcome=outcome,
        claimed_success=claim,
        group=record["group"],
        steps=str(record["steps"]),
        optimal=str(record["optimal_length"] or "-"),
        calls=str(sum(record["calls"].values())),
        k_max=str(record["k_max"] or "-"),
        seconds=seconds(record.get("seconds")),
        stop_reason=stop_reason,
        error=record.get("error") or "",
    )


def inside(record: Record, calls: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return what is shown of an episode when it is opened, as a line of JSON.

    Args:
        record: Its record.
        calls: Its calls as they are written, see ``calls.py``.
    """
    shown = {key: record[key] for key in INSIDE}
    shown["outcome"] = outcome_of(record)
    shown["facts"] = _facts(record)
    shown["calls"] = calls
    return json.dumps(shown, separators=(",", ":"))


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
    if gathered:
        blocks.append(_compressed(gathered))
    return Packed(starts, blocks)


def calls_script(name: str, lines: Sequence[Mapping[str, Any]]) -> str:
    """Return a script that hands an episode's calls to the page that loads it.

    Args:
        name: Its path beside the page, without the suffix.
        lines: The calls as they are written; see ``calls.py``.
    """
    text = json.dumps(lines, separators=(",", ":"))
    # A script, since a page that is opened from the disk may load no data.
    return f"calls({json.dumps(name)}, {json.dumps(_compressed([text]))});\n"


def filters(runs: Mapping[str, Sequence[Record]], groups: Sequence[str]) -> dict[str, list[Choice]]:
    """Return the choices of each filter."""
    outcomes: Counter[Outcome] = Counter()
    episodes: Counter[str] = Counter()
    for records in runs.values():
        outcomes.update(map(outcome_of, records))
        episodes.update(record["group"] for record in records)

    of_outcomes = []
    for outcome, words in OUTCOMES.items():
        if outcomes[outcome] or outcome in ("won", "lost", "error"):
            of_outcomes.append(Choice(outcome, words, outcomes[outcome]))
    return {
        "run": [Choice(run, run, len(records)) for run, records in runs.items()],
        "outcome": of_outcomes,
        "group": [Choice(group, group, episodes[group]) for group in groups],
    }


def _compressed(texts: Sequence[str]) -> str:
    return b64encode(zlib.compress("\n".join(texts).encode())).decode()


def _facts(record: Record) -> str:
    facts = [
        f"seed {record['seed']}",
        f"reward {record['reward']:g}",
    ]
    if record["trials"] > 1:
        facts.append(f"trials {record['trials']}")
    if record["restores"]:
        facts.append(f"returns to earlier moments {len(record['restores'])}")
    for role, count in record["calls"].items():
        facts.append(f"calls of the {role} {count:,}")
    for kind, count in record["tokens"].items():
        facts.append(f"{kind.replace('_', ' ')} {count:,}")
    for kind, count in record["replies"].items():
        if count:
            facts.append(f"replies {REPLY_WORDS[kind]} {count:,}")

    facts.append(f"cost {money(record['cost'])}")
    if record.get("seconds"):
        facts.append(f"seconds {seconds(record['seconds'])}")
    each = latency(record)
    if each is not None:
        facts.append(f"seconds per call {seconds(each)}")
    return "; ".join(facts)
