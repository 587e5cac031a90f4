"""The command ``textcraft-gym evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.endings import end_runs
from textcraft_gym.cli.options import DryRun
from textcraft_gym.cli.run_options import takes_run_spec
from textcraft_gym.cli.terminal import say
from textcraft_gym.reports.metrics import summarise_by_group
from textcraft_gym.reports.records import read_records
from textcraft_gym.runs.estimate import estimate
from textcraft_gym.runs.run_spec import RunSpec

app = typer.Typer(add_completion=False)


@app.command()
@takes_run_spec()
def evaluate(
    spec: RunSpec,
    out: Annotated[
        Path, typer.Option(help="The run folder; an unfinished run in it is continued.")
    ],
    table: Annotated[bool, typer.Option(help="Print the tables at the end.")] = True,
    dry_run: DryRun = False,
) -> None:
    """Let an agent play every task of a split, and print its success by group of tasks.

    The exit status is 0 at the end, 1 if every episode ended with an error or no further one could
    succeed, 2 for a mistake in the command, 3 at a limit of money, tokens or time, 130 after
    Ctrl-C, and 143 after SIGTERM.
    """
    if dry_run:
        tables.show_estimates({out.name: estimate(spec, out)})
        return
    try:
        records = tables.evaluate_with_progress(spec, out)
    except KeyboardInterrupt:
        say(
            f"Stopped. {len(read_records(out))} episodes are in {out}; the same command continues from there."
        )
        raise typer.Exit(130) from None
    if table:
        tables.show_runs({out.name: summarise_by_group(records)})
    end_runs([records], out)
