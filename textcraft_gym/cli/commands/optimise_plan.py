"""The command ``textcraft-gym optimise-plan``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.default_folders import free_folder
from textcraft_gym.cli.options import Json, Wide
from textcraft_gym.cli.progress import evaluate_with_progress, progress_console
from textcraft_gym.cli.run_options import takes_run_spec
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.runs.optimise_plan import RUN_LIMITS, holds_plans
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
        Path | None,
        typer.Option(
            help="Folder of plans and episodes, by default runs/ENV-plans-TYPE-MODEL; "
            "an unfinished one resumes."
        ),
    ] = None,
    task_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            help="Task group, or a part of its name, such as heat; by default all.",
        ),
    ] = None,
    batch: Annotated[int, typer.Option(help="Episodes before each update of the plan.")] = 4,
    iterations: Annotated[int, typer.Option(help="Updates of the plan.")] = 3,
    as_json: Json = False,
    wide: Wide = False,
) -> None:
    """Have AutoPlan write a plan from its own episodes.

    It plays the training split unless --split names another.
    """
    out = out or _default_folder(spec, task_type, batch)
    run = partial(evaluate_with_progress, bar_on=progress_console(as_json))
    try:
        done = write_plans(
            spec,
            out,
            task_type=task_type,
            batch=batch,
            iterations=iterations,
            run=run,
        )
    except KeyboardInterrupt:
        say("Stopped; run it again to resume.")
        raise typer.Exit(130) from None

    if as_json:
        print_json(summary_of_plans(done))
        return
    headings, *rows = table_of_plans(done)
    tables.show_rows(
        "Success with each plan before its update, and the cost of the update",
        [dict(zip(headings, row, strict=True)) for row in rows],
    )
    plan = done[-1].plan
    say(f"The plan is {plan}: evaluate it with --agent autoplan --agent-arg plan={plan}")


def _default_folder(spec: RunSpec, task_type: str | None, batch: int) -> Path:
    """Return the folder of an optimisation, ``runs/ENV-plans-TYPE-MODEL``, and say it."""
    parts = [spec.env.rpartition(":")[2], "plans", task_type or "", spec.described()["model"]]
    return free_folder(parts, lambda folder: holds_plans(folder, spec, task_type, batch))
