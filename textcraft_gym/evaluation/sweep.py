"""One agent beside another at each depth and span: a grid of runs, and one table of what they came to."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeAlias

from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.agents.registry import takes
from textcraft_gym.evaluation.metrics import ALL, Summary, groups, summarise_by_group
from textcraft_gym.evaluation.report import Rows, markdown_table, number
from textcraft_gym.evaluation.runner import Config, Record, evaluate


@dataclass(frozen=True)
class Cell:
    """One run of a sweep.

    Attributes:
        agent: The agent's name.
        d_max: How deep it decomposes or how many trials it has; None for an agent that knows neither.
        model: The model that answers it.
    """

    agent: str
    d_max: int | None
    model: str

    @property
    def name(self) -> str:
        """The folder of the run."""
        parts = [self.agent, *([] if self.d_max is None else [f"d{self.d_max}"]), without_key(self.model)]
        return "_".join(re.sub(r"[^\w.=]", "-", part) for part in parts)


Found: TypeAlias = dict[Cell, dict[str, Summary]]
"""What each cell came to, by group."""


def grid(agents: Sequence[str], d_max: Sequence[int], models: Sequence[str]) -> Iterator[Cell]:
    """Yield every combination; agents without ``d_max`` once a model."""
    for agent in agents:
        for depth in d_max if takes(agent, "d_max") and d_max else (None,):
            for model in models:
                yield Cell(agent, depth, model)


def sweep(
    base: Config,
    cells: Sequence[Cell],
    out: str | Path,
    *,
    workers: int = 1,
    play: Callable[..., list[Record]] = evaluate,
) -> Found:
    """Play each cell into a run folder of its own below ``out``, and write ``sweep.csv`` and ``sweep.md`` there.

    A sweep that is started again goes on where it was cut off.

    Args:
        base: What is the same for all; a cell replaces its agent, model and ``d_max``.
        cells: What to play.
        out: The folder.
        workers: How many episodes are under way at once.
        play: What plays one run: ``evaluate`` or something around it.
    """
    found = {}
    for cell in cells:
        args = base.agent_args | ({} if cell.d_max is None else {"d_max": cell.d_max})
        config = replace(base, agent=cell.agent, agent_args=args, model=cell.model)
        found[cell] = summarise_by_group(play(config, Path(out) / cell.name, workers=workers))
    headings, *rows = table(found)
    (Path(out) / "sweep.csv").write_text(as_csv(tidy(found)), encoding="utf-8", newline="\n")
    shown = f"{markdown_table(headings, rows)}\n{legend(found)}\n"
    (Path(out) / "sweep.md").write_text(shown, encoding="utf-8", newline="\n")
    return found


def table(found: Found) -> Rows:
    """Return headings and a row for each cell, for people: what differs by group stands in one field (``legend``)."""
    names = _groups(found)
    headings = ("agent", "d_max", "model", "n", "won %", "95% interval", "won % by group", "k_max by group")
    rows: Rows = [(*headings, "calls", "errors")]
    for cell, by_group in found.items():
        whole = by_group[ALL]
        of = [by_group[name] for name in names if name in by_group]
        rows.append(
            (
                cell.agent,
                "-" if cell.d_max is None else str(cell.d_max),
                without_key(cell.model),
                str(whole.episodes),
                number(whole.rate, 100),
                f"{100 * whole.low:.1f}-{100 * whole.high:.1f}",
                "/".join(number(summary.rate, 100, 0) for summary in of),
                "/".join(number(summary.k_max) for summary in of),
                f"{sum(whole.calls.values()):.1f}",
                str(whole.errors),
            )
        )
    return rows


def legend(found: Found) -> str:
    """Return what the fields by group are of."""
    return f"By group: {' / '.join(_groups(found))}."


def tidy(found: Found) -> list[dict[str, str]]:
    """Return a row for each cell and group, for programs; rates are fractions."""
    rows = []
    for cell, by_group in found.items():
        for group, summary in by_group.items():
            values = {**asdict(summary), "calls": sum(summary.calls.values())}
            values |= {"precision": summary.precision, "recall": summary.recall}
            d_max = "" if cell.d_max is None else str(cell.d_max)
            about = {"agent": cell.agent, "d_max": d_max, "model": without_key(cell.model), "group": group}
            rows.append(about | {name: "" if value is None else f"{value:.6g}" for name, value in values.items()})
    return rows


def _groups(found: Found) -> list[str]:
    return groups(found.values()) or [ALL]


def as_csv(rows: list[dict[str, str]]) -> str:
    """Return rows as CSV, their headings first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
