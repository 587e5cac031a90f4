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
    env: Annotated[str, typer.Option(help="Environment: an id, or my_module:My-v0.")],
    out: Annotated[Path, typer.Option(help="JSONL file to write.")],
    split: Split = None,
    format: FormatOption = "openai",
    thoughts: Annotated[
        bool, typer.Option("--thoughts", help="Add ReAct thoughts before actions.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every reset.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N tasks.")] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Write the expert's trajectories as training dialogues."""
    env_args = key_values(env_arg or [])
    check_output(out, [split, *env_args.values()], [".jsonl"])
    trajectories = expert_trajectories(
        env,
        split,
        thoughts=thoughts,
        seed=seed,
        limit=limit,
        **env_args,
    )
    written = write_trajectories(trajectories, out, format)

    line = f"Wrote {written.trajectories} demonstrations to {out}"
    if written.left_out:
        tasks = "1 task" if written.left_out == 1 else f"{written.left_out} tasks"
        line += f"; left out {tasks} that the expert does not win"
    say(line)
