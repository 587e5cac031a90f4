"""The command ``textcraft-gym play``."""

from __future__ import annotations

from secrets import randbelow
from typing import Annotated

import typer

from textcraft_gym.cli.options import EnvArgs, EnvId
from textcraft_gym.cli.play import play as play_episode
from textcraft_gym.cli.terminal import say
from textcraft_gym.cli.watch import watch as watch_episode
from textcraft_gym.plugins import key_values
from textcraft_gym.runs.run_spec import RunSpec

app = typer.Typer(add_completion=False)


@app.command()
def play(
    env: EnvId,
    task: Annotated[str | None, typer.Option(help="A task id.")] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the task and the distractors.")] = None,
    watch: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Watch a model play instead: a model, as for evaluate."),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="With --watch, the agent that asks it; by default react.")
    ] = None,
    agent_arg: Annotated[
        list[str] | None,
        typer.Option(help="With --watch, KEY=VALUE for the agent; may be repeated."),
    ] = None,
    env_arg: EnvArgs = None,
) -> None:
    """Play an episode yourself, in a terminal or from a pipe, or watch a model play one."""
    env_args = key_values(env_arg or [])
    if watch is None:
        if agent or agent_arg:
            raise ValueError(
                "--agent and --agent-arg are about a model that plays: expected --watch MODEL with them"
            )
        play_episode(env, task=task, seed=seed, **env_args)
        return
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
