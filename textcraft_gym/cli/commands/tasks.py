"""The command ``textcraft-gym tasks``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.markup import escape

import textcraft_gym
from textcraft_gym.cli import tables
from textcraft_gym.cli.options import EnvArgs, EnvCommand, EnvId, Json, Wide
from textcraft_gym.cli.terminal import print_json
from textcraft_gym.plugins import key_values
from textcraft_gym.task import UNGROUPED, Task, describe_task

app = typer.Typer(add_completion=False)


@app.command(cls=EnvCommand)
def tasks(
    env: EnvId,
    split: Annotated[str | None, typer.Option(help="The split; by default all tasks.")] = None,
    env_arg: EnvArgs = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N tasks.")] = None,
    guidance: Annotated[
        bool, typer.Option("--guidance", help="Print MineDojo's guidance too, if installed.")
    ] = False,
    as_json: Json = False,
    wide: Wide = False,
) -> None:
    """List tasks with group, depth and optimal length."""
    listed = textcraft_gym.tasks(env, split, **key_values(env_arg or []))[:limit]
    if as_json:
        print_json([{**describe_task(task), **_details(task)} for task in listed])
        return
    _show_tasks(listed)
    if guidance:
        _show_guidance(listed)


def _details(task: Task) -> Mapping[str, Any]:
    """Return what a game says of a task beside the fields that all tasks have, by heading."""
    details: Mapping[str, Any] = getattr(task, "details", {})
    return details


def _show_tasks(tasks: Sequence[Task]) -> None:
    """Print tasks with their details."""
    described = [describe_task(task) for task in tasks]
    is_grouped = any(map(_has_group, described))
    has_depths = any(hasattr(task, "depth") for task in tasks)
    details: dict[str, Any] = {}
    for task in tasks:
        details |= _details(task)

    headings = ["task"]
    if is_grouped:
        headings.append("group")
    if has_depths:
        headings.append("depth")
    headings += ["shortest solution", *details]

    table = tables.new_table("Tasks", headings, ("task", "group", "shortest solution"))
    for task, fields in zip(tasks, described, strict=True):
        shortest = fields["optimal_length"]
        cells = [fields["task"]]
        if is_grouped:
            cells.append(fields["group"])
        if has_depths:
            cells.append(getattr(task, "depth", "-"))
        cells.append("-" if shortest is None else shortest)
        cells += [_details(task).get(heading, "") for heading in details]
        table.add_row(*map(str, cells))
    tables.print_table(table)


def _has_group(described: Mapping[str, Any]) -> bool:
    """Return whether a task's group says more than its depth."""
    return described["group"] not in (UNGROUPED, f"depth {described['depth']}")


def _show_guidance(tasks: Sequence[Task]) -> None:
    """Print MineDojo's prompt and guidance for each task that is also one of MineDojo's.

    Raises:
        MineDojoMissing: If MineDojo's files are not installed.
    """
    for task in tasks:
        read_specification = getattr(task, "specification", None)
        specification = read_specification() if read_specification else None
        if specification:
            prompt, guidance = escape(specification.prompt), escape(specification.guidance)
            tables.console.print(f"[bold]{escape(task.id)}[/]: {prompt}\n{guidance}\n")
