"""A grid of runs, of agents by depths, models and seeds, with one table of results."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count, product
from pathlib import Path
from typing import TypeAlias

from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.agents.registry import asks, takes
from textcraft_gym.reports.metrics import (
    ALL,
    Pooled,
    Summary,
    groups,
    pool_by_group,
    summarise_by_group,
)
from textcraft_gym.reports.records import Record
from textcraft_gym.reports.tables import Rows, interval, markdown_table, number, read_for_commands
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate_or_raise
from textcraft_gym.runs.several import Part, play_several
from textcraft_gym.storage.cache import atomic_write

HEADINGS = (
    "agent",
    "d_max",
    "model",
    "runs",
    "n",
    "won %",
    "95% interval",
    "spread over runs",
    "calls",
    "limits",
    "errors",
)
"""Headings of the table over all tasks, for people."""
WON = "Won % by group"
DEPTH = "Depth used when won, by group"
MAX_NAME = 200
"""Maximum length of the name of a cell's folder in bytes; most file systems take 255."""


@dataclass(frozen=True)
class Cell:
    """One run of a sweep.

    Attributes:
        agent: The agent's name.
        d_max: Its depth of decomposition or number of trials; None for an agent that has neither.
        model: Its model; None for an agent that asks none.
        seed: Seed of the run; None for the seed that all cells share.
    """

    agent: str
    d_max: int | None
    model: str | None
    seed: int | None = None

    @property
    def name(self) -> str:
        """The folder of the run; of a long name the beginning, and a digest of the whole."""
        parts = [self.agent]
        if self.d_max is not None:
            parts.append(f"d{self.d_max}")
        if self.model is not None:
            parts.append(without_key(self.model))
        if self.seed is not None:
            parts.append(f"seed{self.seed}")

        name = "_".join(re.sub(r"[^\w.=]", "-", part) for part in parts)
        if len(name.encode()) <= MAX_NAME:
            return name
        digest = hashlib.sha256(name.encode()).hexdigest()[:12]
        beginning = name.encode()[: MAX_NAME - len(digest) - 1].decode(errors="ignore")
        return f"{beginning}-{digest}"


Results: TypeAlias = Mapping[Cell, Sequence[Record]]
"""The records of each cell."""


def grid(
    agents: Sequence[str],
    d_max: Sequence[int],
    models: Sequence[str],
    seeds: Sequence[int] = (),
) -> Iterator[Cell]:
    """Yield every combination of what an agent has: not each has ``d_max``, or asks a model."""
    for agent in agents:
        has_depth = takes(agent, "d_max")  # also a check of the name, before anything is played
        depths: Sequence[int | None] = d_max if has_depth and d_max else (None,)
        asked: Sequence[str | None] = models if asks(agent) else (None,)
        for depth, model, seed in product(depths, asked, seeds or (None,)):
            yield Cell(agent, depth, model, seed)


def sweep(
    base: RunSpec,
    cells: Sequence[Cell],
    out: str | Path,
    *,
    run: Callable[[RunSpec, Path], Sequence[Record]] = evaluate_or_raise,
) -> Results:
    """Play each cell into a run folder below ``out``; write ``sweep.csv`` and ``sweep.md`` there.

    A sweep that is started again resumes. Limits of money, tokens and time are those of all cells
    together, but for those of one episode.

    Args:
        base: The options that all cells share; a cell replaces agent, model, ``d_max`` and, if it
            has one, the seed. Arguments go to the agents that take them.
        cells: The runs.
        out: The folder.
        run: Plays one run: ``evaluate``, or a function that wraps it and raises what it stopped by.

    Raises:
        RunStopped: If a run stopped, and with it the sweep.
    """
    specs = cell_specs(base, cells)
    names = folder_names(specs)
    parts = []
    for cell, spec in specs.items():
        parts.append((cell, Part(Path(out) / names[cell], partial(_itself, spec))))

    results = dict(play_several(parts, base, run, "sweep"))
    parts_of_page = []
    for title, (headings, *rows) in tables(results).items():
        parts_of_page.append(f"## {title}\n\n{markdown_table(headings, rows)}")
    atomic_write(Path(out) / "sweep.csv", as_csv(tidy(results)))
    atomic_write(Path(out) / "sweep.md", "\n".join(parts_of_page))
    return results


def _itself(spec: RunSpec) -> RunSpec:
    return spec


def folder_names(cells: Iterable[Cell]) -> dict[Cell, str]:
    """Return the name of each cell's folder; equal ones are numbered.

    Names that differ in capitals alone are equal: some file systems do not tell them apart.
    """
    names: dict[Cell, str] = {}
    taken: set[str] = set()
    for cell in dict.fromkeys(cells):
        name = cell.name
        numbers = count(2)
        while name.casefold() in taken:
            name = f"{cell.name}_{next(numbers)}"
        names[cell] = name
        taken.add(name.casefold())
    return names


def cell_specs(base: RunSpec, cells: Sequence[Cell]) -> dict[Cell, RunSpec]:
    """Return the spec of each cell's run.

    Raises:
        ValueError: If no agent takes an argument.
    """
    for name in base.agent_args:
        if not any(takes(cell.agent, name) for cell in cells):
            raise ValueError(f"no agent takes the argument {name!r}")
    specs = {}
    for cell in cells:
        args = {name: value for name, value in base.agent_args.items() if takes(cell.agent, name)}
        if cell.d_max is not None:
            args["d_max"] = cell.d_max
        seed = base.seed if cell.seed is None else cell.seed
        model = base.model if cell.model is None else cell.model
        specs[cell] = replace(
            base,
            agent=cell.agent,
            agent_args=args,
            model=model,
            seed=seed,
        )
    return specs


def tables(results: Results) -> dict[str, Rows]:
    """Return tables for people by their titles: headings, and a row per cell.

    Cells that differ only in their seed share a row, with means over the runs. Success by group is
    left out where the tasks form no groups, and depth where no agent asks a model.
    """
    rows = _by_seed(results)
    overall: Rows = [HEADINGS]
    for cell, by_group in rows.items():
        overall.append((*_player(cell), *_overall(by_group[ALL])))
    by_title = {"Sweep": overall}

    names = groups(rows.values())
    if len(names) > 1:
        by_title[WON] = _table_by_group(rows, names, _rate)
        if any(by_group[ALL].calls for by_group in rows.values()):
            by_title[DEPTH] = _table_by_group(rows, names, _depth)
    return by_title


def _table_by_group(
    rows: Mapping[Cell, Mapping[str, Pooled]],
    names: Sequence[str],
    value: Callable[[Pooled], str],
) -> Rows:
    """Return headings and a row per cell, with a value of each group of tasks."""
    table: Rows = [(*HEADINGS[:3], *names)]
    for cell, by_group in rows.items():
        values = [value(by_group[name]) if name in by_group else "-" for name in names]
        table.append((*_player(cell), *values))
    return table


def _player(cell: Cell) -> tuple[str, str, str]:
    depth = "-" if cell.d_max is None else str(cell.d_max)
    return cell.agent, depth, "-" if cell.model is None else without_key(cell.model)


def _rate(pooled: Pooled) -> str:
    return number(pooled.rate, 100)


def _depth(pooled: Pooled) -> str:
    return number(pooled.k_max_won)


def _overall(pooled: Pooled) -> tuple[str, ...]:
    """Return what runs that differ only in their seed have over all tasks."""
    between = pooled.between_runs
    return (
        str(len(pooled.runs)),
        str(pooled.episodes),
        number(pooled.rate, 100),
        "-" if pooled.rate is None else interval(pooled.low, pooled.high),
        "-" if between is None else f"± {number(between, 100)}",
        number(_calls(pooled)),
        str(sum(pooled.limits.values())),
        str(pooled.errors),
    )


def _calls(summary: Summary) -> float | None:
    """Return the mean number of calls of an episode; None if all failed."""
    return sum(summary.calls.values()) if summary.episodes else None


def _by_seed(results: Results) -> dict[Cell, dict[str, Pooled]]:
    """Return the runs of each cell with the seed left out, pooled."""
    by_cell: dict[Cell, list[Sequence[Record]]] = {}
    for cell, records in results.items():
        by_cell.setdefault(replace(cell, seed=None), []).append(records)
    return {cell: pool_by_group(runs) for cell, runs in by_cell.items()}


def tidy(results: Results) -> list[dict[str, str]]:
    """Return a row per cell and group, for programs; rates are fractions."""
    rows = []
    for cell, records in results.items():
        for group, summary in summarise_by_group(records).items():
            row = {
                "agent": cell.agent,
                "d_max": "" if cell.d_max is None else str(cell.d_max),
                "model": "" if cell.model is None else without_key(cell.model),
                "seed": "" if cell.seed is None else str(cell.seed),
                "group": group,
            }
            for name, value in _values(summary).items():
                row[name] = "" if value is None else f"{value:.6g}"
            rows.append(row)
    return rows


def _values(summary: Summary) -> dict[str, float | None]:
    """Return the numbers of a summary, by their headings."""
    values = asdict(summary)
    values["calls"] = _calls(summary)
    values["limits"] = sum(summary.limits.values())
    replies = values.pop("replies")
    values["replies_read"] = read_for_commands(replies) or None
    values["no_command"] = replies.get("no_command", 0) if values["replies_read"] else None
    values["wrongly_claimed"] = summary.wrongly_claimed
    values["recall"] = summary.recall
    for rates in values.pop("passes"):
        values[f"pass@{rates['k']}"] = rates["at_least_one"]["mean"]
        values[f"pass^{rates['k']}"] = rates["every"]["mean"]
    return values


def as_csv(rows: list[dict[str, str]]) -> str:
    """Return rows as CSV, their headings first."""
    # A group of which episodes failed may have fewer attempts at each task.
    headings: dict[str, None] = {}
    for row in rows:
        headings |= dict.fromkeys(row)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(headings), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
