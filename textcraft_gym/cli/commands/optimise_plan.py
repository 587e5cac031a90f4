"""The command ``textcraft-gym optimise-plan``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.console import Console
from textcraft_gym.cli.options import Json
from textcraft_gym.cli.run_options import takes_run_spec
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.runs.optimise_plan import RUN_LIMITS
from textcraft_gym.runs.optimise_plan import optimise_plan as write_plans
from textcraft_gym.runs.optimise_plan import summary as summary_of_plans
from textcraft_gym.runs.optimise_plan import table as table_of_plans
from textcraft_gym.runs.run_spec import RunSpec

app = typer.Typer(add_completion=False)


@app.command("optimise-plan")
@takes_run_spec(without=("agent", "repeats", *RUN_LIMITS))
def optimise_plan(
    spec: RunSpec,
    out: Annotated[
        Path,
        typer.Option(
            help="The folder of plans and episodes; an unfinished optimisation is continued."
        ),
    ],
    task_type: Annotated[
        str | None,
        typer.Option(
            "--type", help="A group of tasks, or a part of its name: heat. By default all tasks."
        ),
    ] = None,
    batch: Annotated[int, typer.Option(help="Episodes before each update of the plan.")] = 4,
    iterations: Annotated[int, typer.Option(help="Updates of the plan.")] = 3,
    as_json: Json = False,
) -> None:
    """Let AutoPlan write a plan for a kind of task from its own episodes, on the training split by default."""
    bar_on = (
        Console(stderr=True) if as_json else tables.console
    )  # with --json, standard output has only JSON
    run = partial(tables.evaluate_with_progress, bar_on=bar_on)
    try:
        done = write_plans(
            spec, out, task_type=task_type, batch=batch, iterations=iterations, run=run
        )
    except KeyboardInterrupt:
        say("Stopped. The same command continues from there.")
        raise typer.Exit(130) from None
    if as_json:
        print_json(summary_of_plans(done))
        return
    headings, *rows = table_of_plans(done)
    tables.show_rows(
        "Success with the plan before, and what it took",
        [dict(zip(headings, row, strict=True)) for row in rows],
    )
    say(
        f"The plan is {done[-1].plan}: evaluate it with --agent autoplan --agent-arg plan={done[-1].plan}"
    )
