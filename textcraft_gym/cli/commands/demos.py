"""The command ``textcraft-gym demos``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli.demonstrations import expert_trajectories
from textcraft_gym.cli.options import EnvArgs, FormatOption, Split
from textcraft_gym.cli.terminal import say
from textcraft_gym.plugins import key_values
from textcraft_gym.storage.outputs import check_output
from textcraft_gym.storage.trajectories import write_trajectories

app = typer.Typer(add_completion=False)


@app.command()
def demos(
    env: Annotated[str, typer.Option(help="The environment's id.")],
    out: Annotated[Path, typer.Option(help="The file of JSON lines to write.")],
    split: Split = None,
    format: FormatOption = "openai",
    thoughts: Annotated[
        bool, typer.Option("--thoughts", help="Add ReAct thoughts before actions.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every reset.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N tasks.")] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Write the expert's trajectory for every task of a split, as dialogues to learn from."""
    env_args = key_values(env_arg or [])
    check_output(out, [split, *env_args.values()])
    found = expert_trajectories(env, split, thoughts=thoughts, seed=seed, limit=limit, **env_args)
    written = write_trajectories(found, out, format)
    left_out = (
        f"; {written.left_out} tasks that the expert does not win are left out"
        if written.left_out
        else ""
    )
    say(f"{written.trajectories} demonstrations to {out}{left_out}")
