"""Summaries as tables: one row a depth, one group of columns a run."""

from __future__ import annotations

from collections.abc import Mapping

from textcraft_gym.evaluation.metrics import Summary

HEADINGS = ("run", "depth", "n", "won", "won %", "95% interval", "steps", "optimal x", "errors")


def rows(runs: Mapping[str, Mapping[str, Summary]]) -> list[tuple[str, ...]]:
    """Return the cells of a table of runs by depth."""
    return [_row(run, depth, summary) for run, by_depth in runs.items() for depth, summary in by_depth.items()]


def markdown_table(runs: Mapping[str, Mapping[str, Summary]]) -> str:
    """Return the table as Markdown."""
    lines = [HEADINGS, ("---",) * len(HEADINGS), *rows(runs)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _row(run: str, depth: str, summary: Summary) -> tuple[str, ...]:
    return (
        run,
        depth,
        str(summary.episodes),
        str(summary.won),
        "-" if summary.rate is None else f"{100 * summary.rate:.1f}",
        f"{100 * summary.low:.1f}-{100 * summary.high:.1f}",
        "-" if summary.steps is None else f"{summary.steps:.1f}",
        "-" if summary.steps_over_optimal is None else f"{summary.steps_over_optimal:.2f}",
        str(summary.errors),
    )
