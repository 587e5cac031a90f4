"""The command ``textcraft-gym export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli.exports import run_trajectories
from textcraft_gym.cli.options import FormatOption
from textcraft_gym.cli.terminal import say
from textcraft_gym.storage.outputs import check_output, run_files
from textcraft_gym.storage.trajectories import write_trajectories

app = typer.Typer(add_completion=False)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    out: Annotated[Path, typer.Option(help="JSONL file to write.")],
    format: FormatOption = "openai",
    won_only: Annotated[bool, typer.Option("--won-only", help="Only won episodes.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N dialogues.")] = None,
) -> None:
    """Write a run's episodes as training dialogues.

    Each says whether it was won.
    """
    check_output(out, run_files(run), [".jsonl"])
    written = write_trajectories(run_trajectories(run, won_only=won_only, limit=limit), out, format)

    line = f"Wrote {written.trajectories} episodes to {out}"
    if written.left_out:
        reason = "not won" if won_only else "without an action"
        line += f"; left out {written.left_out} {reason}"
    say(line)
