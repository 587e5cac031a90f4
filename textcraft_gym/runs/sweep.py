"""A grid of runs, of agents by depths, models and seeds, with one table of results."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.agents.registry import takes
from textcraft_gym.printable import printable
from textcraft_gym.reports.metrics import ALL, Summary, groups, summarise_by_group
from textcraft_gym.reports.records import Record
from textcraft_gym.reports.spread import spread
from textcraft_gym.reports.tables import Rows, interval, markdown_table, number
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate_or_raise
from textcraft_gym.runs.several import Part, play_several
from textcraft_gym.storage.cache import atomic_write

MAX_NAME = 200
"""Maximum length of the name of a cell's folder in bytes; most file systems take 255."""


@dataclass(frozen=True)
class Cell:
    """One run of a sweep.

    Attributes:
        agent: The agent's name.
        d_max: Its depth of decomposition or number of trials; None for an agent that has neither.
        model: Its model.
        seed: Seed of the run; None for the seed that all cells share.
    """

    agent: str
    d_max: int | None
    model: str
    seed: int | None = None

    @property
    def name(self) -> str:
        """The folder of the run; of a long name the beginning, and a digest of the whole."""
        parts = [
            self.agent,
            *([] if self.d_max is None else [f"d{self.d_max}"]),
            without_key(self.model),
        ]
        if self.seed is not None:
            parts.append(f"seed{self.seed}")
        name = "_".join(re.sub(r"[^\w.=]", "-", part) for part in parts)
        if len(name.encode()) <= MAX_NAME:
            return name
        digest = hashlib.sha256(name.encode()).hexdigest()[:12]
        return f"{name.encode()[: MAX_NAME - len(digest) - 1].decode(errors='ignore')}-{digest}"


Results: TypeAlias = dict[Cell, dict[str, Summary]]
"""The summaries of each cell, by group."""


def grid(
    agents: Sequence[str], d_max: Sequence[int], models: Sequence[str], seeds: Sequence[int] = ()
) -> Iterator[Cell]:
    """Yield every combination; an agent without ``d_max`` has one cell per model and seed."""
    for agent in agents:
        for depth in d_max if takes(agent, "d_max") and d_max else (None,):
            for model in models:
                for seed in seeds or (None,):
                    yield Cell(agent, depth, model, seed)


def sweep(
    base: RunSpec,
    cells: Sequence[Cell],
    out: str | Path,
    *,
    run: Callable[[RunSpec, Path], Sequence[Record]] = evaluate_or_raise,
) -> Results:
    """Play each cell into its own run folder below ``out``, and write ``sweep.csv`` and ``sweep.md`` there.

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
    folders = {cell: Path(out) / name for cell, name in folder_names(specs).items()}
    parts = [(cell, Part(folders[cell], lambda spec=spec: spec)) for cell, spec in specs.items()]  # type: ignore[misc]
    results = {
        cell: summarise_by_group(records)
        for cell, records in play_several(parts, base, run, "sweep")
    }
    headings, *rows = table(results)
    atomic_write(Path(out) / "sweep.csv", as_csv(tidy(results)))
    atomic_write(
        Path(out) / "sweep.md", f"{markdown_table(headings, rows)}\n{printable(legend(results))}\n"
    )
    return results


def folder_names(cells: Iterable[Cell]) -> dict[Cell, str]:
    """Return the name of each cell's folder: where several have one name, also but for capitals, those are numbered."""
    names: dict[Cell, str] = {}
    taken: set[str] = set()
    for cell in dict.fromkeys(cells):
        alike = (cell.name if number == 1 else f"{cell.name}_{number}" for number in count(1))
        names[cell] = next(name for name in alike if name.casefold() not in taken)
        taken.add(names[cell].casefold())
    return names


def cell_specs(base: RunSpec, cells: Sequence[Cell]) -> dict[Cell, RunSpec]:
    """Return the spec of each cell's run.

    Raises:
        ValueError: If an argument is of none of the agents.
    """
    for name in base.agent_args:
        if not any(takes(cell.agent, name) for cell in cells):
            raise ValueError(f"none of the agents takes the argument {name!r}")
    specs = {}
    for cell in cells:
        shared = {name: value for name, value in base.agent_args.items() if takes(cell.agent, name)}
        args = {**shared, **({} if cell.d_max is None else {"d_max": cell.d_max})}
        seed = base.seed if cell.seed is None else cell.seed
        specs[cell] = replace(base, agent=cell.agent, agent_args=args, model=cell.model, seed=seed)
    return specs


def table(results: Results) -> Rows:
    """Return headings and a row per cell, for human readers: values by group share one field (see ``legend``).

    Cells that differ only in their seed share a row, with means over the runs and the spread of
    success between them.
    """
    names = _groups(results)
    headings = (
        "agent",
        "d_max",
        "model",
        "runs",
        "n",
        "won %",
        "± runs",
        "95% interval",
        "won % by group",
    )
    rows: Rows = [(*headings, "k_max by group", "k_max won by group", "calls", "limits", "errors")]
    for cell, runs in _by_seed(results).items():
        whole = [by_group[ALL] for by_group in runs]
        success = spread(whole)
        of_groups = [[by_group[name] for by_group in runs if name in by_group] for name in names]
        rows.append(
            (
                cell.agent,
                "-" if cell.d_max is None else str(cell.d_max),
                without_key(cell.model),
                str(len(runs)),
                str(sum(summary.episodes for summary in whole)),
                number(success.rate, 100),
                number(success.between_runs, 100),
                "-" if success.rate is None else interval(success.low, success.high),
                "/".join(
                    number(spread(summaries).rate, 100, 0) for summaries in of_groups if summaries
                ),
                "/".join(number(_mean(one.k_max for one in group)) for group in of_groups if group),
                "/".join(
                    number(_mean(one.k_max_won for one in group)) for group in of_groups if group
                ),
                number(_mean(_calls(summary) for summary in whole)),
                str(sum(sum(summary.limits.values()) for summary in whole)),
                str(sum(summary.errors for summary in whole)),
            )
        )
    return rows


def _calls(summary: Summary) -> float | None:
    """Return the mean number of calls of an episode; None without one that did not break."""
    return sum(summary.calls.values()) if summary.episodes else None


def _by_seed(results: Results) -> dict[Cell, list[dict[str, Summary]]]:
    """Return the runs of each cell with the seed left out."""
    by_cell: dict[Cell, list[dict[str, Summary]]] = {}
    for cell, by_group in results.items():
        by_cell.setdefault(replace(cell, seed=None), []).append(by_group)
    return by_cell


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def legend(results: Results) -> str:
    """Return the groups of the fields by group."""
    return f"By group: {' / '.join(_groups(results))}."


def tidy(results: Results) -> list[dict[str, str]]:
    """Return a row per cell and group, for programs; rates are fractions."""
    rows = []
    for cell, by_group in results.items():
        for group, summary in by_group.items():
            values = {**asdict(summary), "calls": _calls(summary)}
            values |= {name: sum(values[name].values()) for name in ("limits", "replies")}
            values |= {"precision": summary.precision, "recall": summary.recall}
            for rates in values.pop("passes"):
                values |= {
                    f"pass@{rates['k']}": rates["at_least_one"]["mean"],
                    f"pass^{rates['k']}": rates["every"]["mean"],
                }
            d_max = "" if cell.d_max is None else str(cell.d_max)
            seed = "" if cell.seed is None else str(cell.seed)
            about = {
                "agent": cell.agent,
                "d_max": d_max,
                "model": without_key(cell.model),
                "seed": seed,
            }
            about["group"] = group
            rows.append(
                about
                | {name: "" if value is None else f"{value:.6g}" for name, value in values.items()}
            )
    return rows


def _groups(results: Results) -> list[str]:
    return groups(results.values()) or [ALL]


def as_csv(rows: list[dict[str, str]]) -> str:
    """Return rows as CSV, their headings first."""
    text = io.StringIO()
    # A group of which episodes broke may have fewer attempts at each task.
    headings = dict.fromkeys(heading for row in rows for heading in row)
    writer = csv.DictWriter(text, list(headings), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
