"""The page of all runs below a folder, which leads to their reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, NamedTuple

from textcraft_gym.reports.growing import GrowingRun
from textcraft_gym.reports.notes import so_far
from textcraft_gym.reports.page import encodable, policy, script, templates

FORMS: Mapping[str, str] = {"connects": "'self'", "forms": "'self'"}
"""Sources of a page that asks its server, and whose form does."""


class RunLine(NamedTuple):
    """A run in the list of all; numbers are None as long as there are none.

    Attributes:
        run: Its name.
        agent, model: Who plays; the model is empty if the agent asks none.
        env, split: What is played.
        episodes: Number of episodes that were played.
        total: Number of episodes to play; None if that is not known.
        is_finished: Whether all were played.
        success: Share of the episodes won, over tasks.
        low, high: Its 95% interval.
        errors: Number of episodes that broke.
        damaged: Number of lines that are no records.
        started, updated: When the run began, and when it last changed, as ISO 8601 in UTC.
    """

    run: str
    agent: str
    model: str
    env: str
    split: str
    episodes: int
    total: int | None
    is_finished: bool
    success: float | None
    low: float
    high: float
    errors: int
    damaged: int
    started: str
    updated: str


def run_line(name: str, run: GrowingRun) -> RunLine:
    """Return the line of a run."""
    config, result = run.config, run.result()
    total = config.get("episodes")
    updated = datetime.fromtimestamp(run.updated, timezone.utc)
    return RunLine(
        run=name,
        agent=config["agent"],
        model=str(config.get("model") or ""),
        env=config["env"],
        split=config["split"] or "",
        episodes=result.episodes,
        total=total if isinstance(total, int) else None,
        is_finished=not so_far(run.records, config),
        success=result.success.mean,
        low=result.success.low,
        high=result.success.high,
        errors=result.errors,
        damaged=run.damaged,
        started=str(config.get("started") or ""),
        updated=updated.isoformat(timespec="seconds"),
    )


def run_lines(runs: Mapping[str, GrowingRun]) -> list[RunLine]:
    """Return the lines of runs, the one that began last first."""
    lines = [run_line(name, run) for name, run in sorted(runs.items())]
    return sorted(lines, key=lambda line: line.started, reverse=True)


def runs_page(
    title: str,
    lines: Sequence[RunLine],
    addresses: Mapping[str, str],
    *,
    is_live: bool,
) -> str:
    """Return the page of all runs.

    Args:
        title: What they are called together.
        lines: The runs.
        addresses: The address of each run's report, and with the key "" that of all of them.
        is_live: Whether a server has the page: then it follows the runs, and a form selects some.
    """
    code = script("runs.js")
    sources: dict[str, Any] = dict(FORMS) if is_live else {}
    page = templates().get_template("runs.html")
    return encodable(
        page.render(
            title=title,
            lines=lines,
            addresses=addresses,
            is_live=is_live,
            script=code,
            policy=policy(code, **sources),
        )
    )
