"""The command ``textcraft-gym sweep``."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.agents.models.spec import without_key
from textcraft_gym.cli import tables
from textcraft_gym.cli.console import Console
from textcraft_gym.cli.endings import end_runs
from textcraft_gym.cli.options import DryRun, Json
from textcraft_gym.cli.run_options import takes_run_spec
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.reports.records import read_records
from textcraft_gym.runs.estimate import estimate
from textcraft_gym.runs.run_spec import DEFAULT_MODEL, RunSpec
from textcraft_gym.runs.sweep import cell_specs, folder_names, grid
from textcraft_gym.runs.sweep import sweep as run_sweep

app = typer.Typer(add_completion=False)


@app.command()
@takes_run_spec(without=("agent", "model"))
def sweep(
    spec: RunSpec,
    agents: Annotated[str, typer.Option(help="Names of agents, with commas.")],
    out: Annotated[
        Path, typer.Option(help="The folder of the runs; an unfinished sweep in it is continued.")
    ],
    d_max: Annotated[
        str, typer.Option(help="Depths, as 1-4 or 1,3, for agents that have one.")
    ] = "",
    model: Annotated[
        list[str] | None, typer.Option(help="A model, as for evaluate; may be repeated.")
    ] = None,
    seeds: Annotated[
        str, typer.Option(help="Seeds, as 0-4 or 1,3, in place of --seed: a run for each.")
    ] = "",
    as_json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Evaluate a grid of agents, depths, models and seeds, and print one table.

    Limits of money, tokens and time are those of all runs together. The exit status is that of
    evaluate.
    """
    bar_on = (
        Console(stderr=True) if as_json else tables.console
    )  # with --json, standard output has only JSON
    cells = list(grid(_names(agents), _integers(d_max), model or [DEFAULT_MODEL], _integers(seeds)))
    names = folder_names(cells)
    if dry_run:
        estimates = {
            names[cell]: estimate(run, out / names[cell])
            for cell, run in cell_specs(spec, cells).items()
        }
        if as_json:
            print_json([{"run": name, **asdict(found)} for name, found in estimates.items()])
        else:
            tables.show_estimates(estimates)
        return
    try:
        results = run_sweep(
            spec, cells, out, run=partial(tables.evaluate_with_progress, bar_on=bar_on)
        )
    except KeyboardInterrupt:
        say("Stopped. The same command continues from there.")
        raise typer.Exit(130) from None
    if as_json:
        rows = [
            (cell, group, summary)
            for cell, groups in results.items()
            for group, summary in groups.items()
        ]
        print_json(
            [
                {
                    **asdict(cell),
                    "model": without_key(cell.model),
                    "group": group,
                    **asdict(summary),
                }
                for cell, group, summary in rows
            ]
        )
    else:
        tables.show_sweep(results)
    end_runs([read_records(out / name) for name in names.values()], out)


def _names(text: str) -> list[str]:
    """Read ``react,adapt`` as names, one at least."""
    names = [name for name in text.split(",") if name]
    if not names:
        raise ValueError(f"expected one agent or more, got {text!r}")
    return names


def _integers(text: str) -> list[int]:
    """Read ``1-4`` or ``1,3`` as integers."""
    integers: list[int] = []
    for piece in filter(None, text.split(",")):
        first, dash, last = piece.partition("-")
        last = last if dash else first
        if not first.isdecimal() or not last.isdecimal() or int(first) > int(last):
            raise ValueError(f"expected numbers as 1-4 or 1,3, got {text!r}")
        integers += range(int(first), int(last) + 1)
    return integers
