"""A board of results, each beside the run that it follows from, so that anybody can recheck it.

A run that is submitted is replayed first. Its line is one of ``board.jsonl``, its folder one below
``runs/`` beside that, and ``README.md`` shows the table.
"""

from __future__ import annotations

import gzip
import json
import shlex
import shutil
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from textcraft_gym.errors import RunError
from textcraft_gym.registration import INFO_OF
from textcraft_gym.reports.agent_names import agent_names
from textcraft_gym.reports.metrics import summarise
from textcraft_gym.reports.notes import advantages, is_told, so_far, told
from textcraft_gym.reports.paper_table import TOLD
from textcraft_gym.reports.provenance import digest_of
from textcraft_gym.reports.records import read_bounded, read_config, read_records
from textcraft_gym.reports.tables import percent
from textcraft_gym.storage.cache import atomic_write
from textcraft_gym.verify.recheck import verify

BOARD = Path("benchmarks/board/board.jsonl")
"""The suite's own board, in a checkout."""
CONFIG = "config.json"
"""The file of a run that is kept as it is."""
EPISODES = "episodes.jsonl"
"""The file that is kept compressed; its tables follow from it, and its calls are not rechecked."""
DIGITS = 6
"""Decimal digits of rates and costs, in which machines do not differ."""
MAX_EPISODES = 1 << 30
"""Maximum size of the episodes of a run, in bytes."""
HEAD = """# Board

Each line is rechecked: every action of its run was played again, with the same result. The runs are
in `{folder}`{of}, so you need not take our word for it.

    textcraft-gym submit --check{option}

replays them all, and computes each line anew. A replay shows what was won, not who played: agent,
model, calls and cost are as the run states them. An episode that broke is lost.

`textcraft-gym submit RUN{option}` adds a run of yours. It refuses one that differs from its replay,
is unfinished, played chosen tasks, or has only errors.

"""
"""The beginning of a page, without the folder of its board and the option that names it."""


class Entry(NamedTuple):
    """A line of the board.

    Attributes:
        model: The model; empty if none was asked.
        agent: The agent.
        told: The arguments of the environment by which it is told more than others.
        world: The environment's id.
        split: The split.
        n: Number of episodes.
        limit: Number of tasks from the start of the split; None for all.
        success: Share of them won, over tasks; an error is lost.
        low, high: Its 95% interval.
        cost: Price of all completions.
        calls: Number of completions.
        version: Version of the suite that played.
        digest: SHA-256 of who played and of the records without their times.
        date: When the run began.
    """

    model: str
    agent: str
    told: str
    world: str
    split: str
    n: int
    limit: int | None
    success: float
    low: float
    high: float
    cost: float
    calls: int
    version: str
    digest: str
    date: str

    @property
    def run(self) -> str:
        """The name of its run's folder."""
        return self.digest[:16]

    @property
    def config(self) -> dict[str, Any]:
        """What its run's config says of the agent."""
        env_args = {argument: True for argument in self.told.split(", ") if argument}
        return {"agent": self.agent, "env_args": env_args}


def submit(
    folder: Path,
    board: Path = BOARD,
    *,
    trusted: Collection[str] = (),
) -> Entry:
    """Recheck a run, and add it to a board.

    Args:
        folder: The run folder.
        board: The board's file; it is made where there is none.
        trusted: As for ``verify``.

    Raises:
        RunError: If the run differs from its replay, is unfinished, chose its tasks, or has only
            errors.

    Returns:
        Its line. A run that was played alike is not added again.
    """
    entry = entry_of(folder, trusted)
    entries = read_board(board)
    for other in entries:
        if other.digest == entry.digest:
            return other
    _pack(folder, _place(board, entry))
    entries.append(entry)
    lines = [json.dumps(entry._asdict()) + "\n" for entry in entries]
    atomic_write(board, "".join(lines))
    atomic_write(board.with_name("README.md"), table_page(entries, board))
    return entry


def entry_of(folder: Path, trusted: Collection[str] = ()) -> Entry:
    """Return the line of a run that was rechecked now.

    Args:
        folder: The run folder.
        trusted: As for ``verify``.

    Raises:
        RunError: If it differs from its replay, is unfinished, chose its tasks, or has only errors.
    """
    config, records = read_config(folder), read_records(folder)
    if state := so_far(records, config):
        raise RunError(f"{folder} is not finished: {state}")
    if not records.done:
        raise RunError(f"{folder}: every episode ended with an error")
    _recheck(folder, config, trusted)
    summary = summarise(records, errors="count")
    if summary.rate is None:
        raise RunError(f"{folder}: the world does not say whether episodes were won")
    calls = sum(sum(record["calls"].values()) for record in records)
    return Entry(
        model=str(config.get("model") or "") if calls else "",
        agent=config["agent"],
        told=", ".join(told(config)),
        world=config["env"],
        split=config["split"] or "",
        n=len(records),
        limit=config["limit"],
        success=round(summary.rate, DIGITS),
        low=round(summary.low, DIGITS),
        high=round(summary.high, DIGITS),
        cost=round(summary.cost, DIGITS),
        calls=calls,
        version=config["version"],
        digest=digest_of(config, records),
        date=str(config.get("started", ""))[:10],
    )


def _recheck(
    folder: Path,
    config: Mapping[str, Any],
    trusted: Collection[str],
) -> None:
    """Raise RunError for a run that chose its tasks or changed its world, or is not replayed."""
    # What an agent is told is no other world: its line has a mark.
    changed = {name: value for name, value in config["env_args"].items() if name not in INFO_OF}
    for name in ("tasks", "env_args", "wrappers", "won_at"):
        value = changed if name == "env_args" else config[name]
        if value:
            raise RunError(f"{folder}: expected a split of a world as it is, got {name} {value!r}")
    outcome = verify(folder, trusted=trusted)
    if not outcome.identical:
        raise RunError("; ".join(line.strip() for line in outcome.lines(folder.name, 3)))


def check(board: Path = BOARD, *, trusted: Collection[str] = ()) -> list[str]:
    """Recheck every run of a board, and return what is wrong with its lines.

    Args:
        board: The board's file.
        trusted: As for ``verify``.

    Raises:
        RunError: If the board cannot be read.
    """
    entries = read_board(board)
    if not entries:
        raise RunError(f"{board} has no runs")
    wrong = []
    for entry in entries:
        try:
            with _unpacked(_place(board, entry)) as folder:
                here = entry_of(folder, trusted)
        except (RunError, OSError, EOFError, ValueError, zlib.error) as error:
            wrong.append(f"{entry.run}: {error}")
            continue
        for name, value in entry._asdict().items():
            recomputed = getattr(here, name)
            if value != recomputed:
                wrong.append(f"{entry.run}: {name} is {recomputed!r}, the board says {value!r}")
    page = board.with_name("README.md")
    if not page.exists() or _tables(read_bounded(page)) != _tables(table_page(entries, board)):
        wrong.append(f"{page} does not show the lines of {board.name}")
    return wrong


def _place(board: Path, entry: Entry) -> Path:
    return board.parent / "runs" / entry.run


def _pack(folder: Path, place: Path) -> None:
    """Keep a run; what is alike gives the same bytes."""
    place.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder / CONFIG, place / CONFIG)
    episodes = (folder / EPISODES).read_bytes()
    if len(episodes) > MAX_EPISODES:
        raise RunError(f"expected at most {MAX_EPISODES >> 20} MiB of episodes in {folder}")
    atomic_write(place / f"{EPISODES}.gz", gzip.compress(episodes, mtime=0))


@contextmanager
def _unpacked(place: Path) -> Iterator[Path]:
    """Give a run that was kept as a folder that can be rechecked."""
    with TemporaryDirectory() as path:
        folder = Path(path) / place.name
        folder.mkdir()
        config = json.loads(read_bounded(place / CONFIG))
        config.pop("finished", None)  # after which its tables would be expected
        (folder / CONFIG).write_bytes(json.dumps(config).encode())
        with gzip.open(place / f"{EPISODES}.gz") as packed:
            episodes = packed.read(MAX_EPISODES + 1)
        if len(episodes) > MAX_EPISODES:
            raise RunError(f"expected at most {MAX_EPISODES >> 20} MiB of episodes")
        (folder / EPISODES).write_bytes(episodes)
        yield folder


def read_board(board: Path) -> list[Entry]:
    """Return the lines of a board; none where there is no file.

    Raises:
        RunError: If one is none.
    """
    if not board.exists():
        return []
    entries = []
    try:
        for line in read_bounded(board).splitlines():
            entries.append(_entry(json.loads(line)))
    except (OSError, ValueError, TypeError) as error:
        raise RunError(f"{board} is not a board: {error}") from error
    return entries


def _entry(fields: dict[str, Any]) -> Entry:
    entry = Entry(**fields)
    is_digest = len(entry.digest) == 64 and set(entry.digest) <= set("0123456789abcdef")
    if not is_digest:
        raise ValueError(f"expected a digest, got {entry.digest!r}")
    return entry


def table_page(entries: Sequence[Entry], board: Path = BOARD) -> str:
    """Return the board as a page of Markdown, by world and split, the best first.

    Args:
        entries: Its lines.
        board: Its file, which the page names.
    """
    parts = [_head(board)]
    names = agent_names(entry.agent for entry in entries)
    games = sorted({(entry.world, entry.split) for entry in entries})
    for world, split in games:
        parts.append(f"## {world}, split {split}\n\n")
        parts.append("| agent | model | n | success | 95% interval | calls | cost | run |\n")
        parts.append("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
        of_game = [entry for entry in entries if (entry.world, entry.split) == (world, split)]
        for entry in sorted(of_game, key=lambda entry: -entry.success):
            parts.append(f"| {' | '.join(map(_cell, _cells(entry, names[entry.agent])))} |\n")
        for text in advantages(entry.config for entry in of_game):
            parts.append(f"\n{TOLD} {_cell(text)}\n")
        parts.append("\n")
    return "".join(parts).rstrip() + "\n"


def _tables(page: str) -> str:
    """Return a page without its beginning, which names the board as whoever wrote it did."""
    return page[page.find("\n## ") :]


def _head(board: Path) -> str:
    """Return the beginning of a page, which names the board as its caller did."""
    if board == BOARD:
        return HEAD.format(folder=board.parent / "runs", of=" of the repository", option="")
    option = f" --board {shlex.quote(str(board))}"
    return HEAD.format(folder=board.parent / "runs", of="", option=option)


def _cells(entry: Entry, name: str) -> tuple[str, ...]:
    played = f"first {entry.limit} tasks" if entry.limit else "all tasks"
    return (
        f"{name}{TOLD if is_told(entry.config) else ''}",
        entry.model or "-",
        f"{entry.n} ({played})",
        percent(entry.success),
        f"{100 * entry.low:.1f} to {100 * entry.high:.1f}",
        f"{entry.calls:,}",
        f"{entry.cost:.2f}",
        entry.run,
    )


def _cell(text: str) -> str:
    """Return a text of one cell: no mark of Markdown or HTML has an effect in it."""
    kept = "".join(letter if letter.isprintable() else " " for letter in text)
    return "".join(f"&#{ord(letter)};" if letter in "|<>&`*_[]\\!" else letter for letter in kept)
