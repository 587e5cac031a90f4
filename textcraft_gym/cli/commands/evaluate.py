"""The command ``textcraft-gym evaluate``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli.default_folders import folder_of_run
from textcraft_gym.cli.endings import end_runs
from textcraft_gym.cli.estimates import show_estimates
from textcraft_gym.cli.options import DryRun, Json, Wide
from textcraft_gym.cli.progress import evaluate_with_progress, progress_console
from textcraft_gym.cli.report_tables import show_runs
from textcraft_gym.cli.run_options import takes_run_spec
from textcraft_gym.cli.terminal import print_json, say
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
        Path | None,
        typer.Option(
            help="Run folder, by default runs/ENV-AGENT-MODEL; an unfinished run in it resumes."
        ),
    ] = None,
    table: Annotated[bool, typer.Option(help="Print the tables at the end.")] = True,
    dry_run: DryRun = False,
    as_json: Json = False,
    wide: Wide = False,
) -> None:
    """Evaluate an agent on the tasks of a split.

    Prints success by group of tasks.

    Exit status: 0 when done, 1 if every episode ended with an error or no further one could
    succeed, 2 for a usage error, 3 at a limit of cost, tokens or time, 130 after Ctrl-C, 143 after
    SIGTERM.
    """
    out = out or folder_of_run(spec)
    if dry_run:
        show_estimates({out.name: estimate(spec, out)}, as_json)
        return
    try:
        records = evaluate_with_progress(spec, out, progress_console(as_json))
    except KeyboardInterrupt:
        say(
            f"Stopped with {len(read_records(out).done)} episodes in {out}; run it again to resume."
        )
        raise typer.Exit(130) from None
    summaries = summarise_by_group(records)
    if as_json:
        print_json({out.name: {group: asdict(summary) for group, summary in summaries.items()}})
    elif table:
        show_runs({out.name: summaries})
    end_runs([records], out)
