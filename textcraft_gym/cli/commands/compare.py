"""The command ``textcraft-gym compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from textcraft_gym.cli.options import ErrorsOption, Json, Wide, read_errors
from textcraft_gym.cli.report_tables import show_comparison, show_lines, show_standings
from textcraft_gym.cli.run_folders import warnings_of
from textcraft_gym.cli.terminal import print_json
from textcraft_gym.reports.compare import MIN_SHARED, Verdict, verdicts
from textcraft_gym.reports.folders import Folders, named
from textcraft_gym.reports.notes import advantages

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Two or more run folders.")],
    errors: ErrorsOption = "exclude",
    as_json: Json = False,
    wide: Wide = False,
) -> None:
    """Compare runs task by task.

    Of two runs it shows which tasks flipped, the difference in success, and its p-value. Of more it
    ranks them, and adjusts intervals and p-values of all pairs. Runs that differ only in their seed
    count as one.
    """
    if len(runs) < 2:
        raise ValueError("expected two runs or more, got one")
    pooled = Folders(named(runs)).pools
    sets = verdicts({pool.name: pool.records for pool in pooled}, errors=read_errors(errors))
    warnings = warnings_of(pooled, is_one_world=True)
    if as_json:
        print_json({"warnings": warnings, "sets": list(map(_as_json, sets))})
        return
    show_lines(warnings)
    if len(sets) > 1:
        show_lines([_apart(sets)])
    for of_set in sets:
        _show(of_set, [pool.name for pool in pooled])
    show_lines(advantages(pool.config for pool in pooled))


def _show(verdict: Verdict, order: Sequence[str]) -> None:
    """Show how two runs differ, or the ranking of others.

    Args:
        verdict: The verdict on them.
        order: The names of all runs as given: of two, the second is compared with the first.
    """
    if len(verdict.pairs) != 1:
        show_standings(verdict)
        return
    (pair,) = verdict.pairs
    first, second = sorted((pair.better, pair.worse), key=order.index)
    comparison = pair.comparison if second == pair.better else pair.comparison.reverse
    show_comparison(first, second, comparison)
    if verdict.power:
        show_lines([verdict.power])


def _apart(sets: Sequence[Verdict]) -> str:
    parts = []
    for verdict in sets:
        runs = ", ".join(standing.run for standing in verdict.standings)
        parts.append(f"{runs} ({verdict.tasks} tasks)")
    return (
        f"Not compared with each other, as they share fewer than {100 * MIN_SHARED:.0f}% "
        f"of the tasks: {'; '.join(parts)}."
    )


def _as_json(verdict: Verdict) -> Mapping[str, Any]:
    """Return a verdict with each pair once."""
    standings = [{"run": standing.run, "won": standing.won} for standing in verdict.standings]
    return {
        "tasks": verdict.tasks,
        "families": verdict.families,
        "left_out": verdict.left_out,
        "repeats": verdict.repeats,
        "standings": standings,
        "pairs": [asdict(pair) for pair in verdict.pairs],
        "power": verdict.power,
    }
