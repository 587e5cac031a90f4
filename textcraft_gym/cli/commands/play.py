"""The command ``textcraft-gym play``."""

from __future__ import annotations

from secrets import randbelow
from typing import Annotated

import typer

from textcraft_gym.cli.options import EnvArgs, EnvId, Split
from textcraft_gym.cli.play import play as play_episode
from textcraft_gym.cli.terminal import say
from textcraft_gym.plugins import key_values

app = typer.Typer(add_completion=False)


@app.command()
def play(
    env: EnvId,
    split: Split = None,
    task: Annotated[str | None, typer.Option(help="Task id; by default drawn by the seed.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed that draws the task and distractors.")
    ] = None,
    watch: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Watch this model play instead; as for evaluate."),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="With --watch, the agent; by default react.")
    ] = None,
    agent_arg: Annotated[
        list[str] | None,
        typer.Option(help="With --watch, KEY=VALUE for the agent; may be repeated."),
    ] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Play an episode yourself, or watch a model play.

    It reads actions from a terminal or a pipe.
    """
    env_args = key_values(env_arg or [])
    if split is not None:
        env_args["split"] = split
    if watch is None:
        if agent or agent_arg:
            raise ValueError("expected --watch MODEL with --agent and --agent-arg")
        play_episode(env, task=task, seed=seed, **env_args)
        return

    from textcraft_gym.cli.watch import watch as watch_episode
    from textcraft_gym.runs.run_spec import RunSpec

    spec = RunSpec(
        env,
        env_args.pop("split", None),
        agent or "react",
        key_values(agent_arg or []),
        model=watch,
        env_args=env_args,
        seed=randbelow(1 << 31) if seed is None else seed,
    )
    try:
        watch_episode(spec, task)
    except KeyboardInterrupt:
        say("Stopped.")
        raise typer.Exit(130) from None
