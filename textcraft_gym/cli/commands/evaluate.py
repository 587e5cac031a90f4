"""The command ``textcraft-gym evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli.endings import end_runs
from textcraft_gym.cli.estimates import show_estimates
from textcraft_gym.cli.options import DryRun
from textcraft_gym.cli.progress import evaluate_with_progress
from textcraft_gym.cli.report_tables import show_runs
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
    out: Annotated[Path, typer.Option(help="Run folder; an unfinished run in it resumes.")],
    table: Annotated[bool, typer.Option(help="Print the tables at the end.")] = True,
    dry_run: DryRun = False,
) -> None:
    """Evaluate an agent on the tasks of a split.

    Prints success by group of tasks.

    Exit status: 0 when done, 1 if every episode ended with an error or no further one could
    succeed, 2 for a usage error, 3 at a limit of cost, tokens or time, 130 after Ctrl-C, 143 after
    SIGTERM.
    """
    if dry_run:
        show_estimates({out.name: estimate(spec, out)})
        return
    try:
        records = evaluate_with_progress(spec, out)
    except KeyboardInterrupt:
        say(f"Stopped with {len(read_records(out))} episodes in {out}; run it again to resume.")
        raise typer.Exit(130) from None
    if table:
        show_runs({out.name: summarise_by_group(records)})
    end_runs([records], out)
