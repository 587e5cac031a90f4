"""The command ``textcraft-gym play``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from secrets import randbelow
from typing import TYPE_CHECKING, Annotated

import typer

from textcraft_gym.agents.registry import AGENTS, find_agent
from textcraft_gym.cli.options import EnvArgs, EnvId, Split
from textcraft_gym.cli.play import play as play_episode
from textcraft_gym.cli.terminal import say
from textcraft_gym.plugins import key_values

if TYPE_CHECKING:
    from textcraft_gym.runs.run_spec import RunSpec

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

    if _is_agent(watch):
        command = ["textcraft-gym", "play", env, "--watch", "local", "--agent", watch]
        command += _as_options("--split", [split])
        command += _as_options("--task", [task])
        command += _as_options("--seed", [seed])
        command += _as_options("--agent-arg", agent_arg)
        command += _as_options("--env-arg", env_arg)
        raise ValueError(
            f"{watch} is an agent, not a model: --agent names it, as in {shlex.join(command)}"
        )

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
    _watch(spec, task)


def _watch(spec: RunSpec, task: str | None) -> None:
    from textcraft_gym.cli.watch import watch

    try:
        watch(spec, task)
    except KeyboardInterrupt:
        say("Stopped.")
        raise typer.Exit(130) from None


def _as_options(option: str, values: Sequence[object] | None) -> list[str]:
    """Return an option with each of its values, as on a command line; nothing for None."""
    words: list[str] = []
    for value in values or ():
        if value is not None:
            words += [option, str(value)]
    return words


def _is_agent(name: str) -> bool:
    """Return whether a name is that of an agent: one of the suite, or a class that no model is."""
    if name in AGENTS:
        return True
    kind, colon, _ = name.partition(":")
    if not colon or kind in ("local", "openai", "inspect"):
        return False
    try:
        agent = find_agent(name)
    except ValueError:  # whoever makes the model says why
        return False
    is_playable = callable(agent) or any(hasattr(agent, door) for door in ("episode", "act"))
    return is_playable and not hasattr(agent, "complete")
