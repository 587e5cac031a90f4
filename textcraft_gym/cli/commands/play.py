"""The command ``textcraft-gym play``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from secrets import randbelow
from typing import TYPE_CHECKING, Annotated

import typer

from textcraft_gym.agents.contract.model import ModelError
from textcraft_gym.agents.registry import AGENTS, find_agent
from textcraft_gym.cli.options import EnvArgs, EnvCommand, EnvId, Split
from textcraft_gym.cli.play import play as play_episode
from textcraft_gym.cli.terminal import say
from textcraft_gym.plugins import key_values

if TYPE_CHECKING:
    from textcraft_gym.runs.run_spec import RunSpec

app = typer.Typer(add_completion=False)


@app.command(cls=EnvCommand)
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

    others: dict[str, Sequence[object]] = {
        "--split": [split],
        "--task": [task],
        "--seed": [seed],
        "--agent-arg": agent_arg or [],
        "--env-arg": env_arg or [],
    }
    if _is_agent(watch):
        command = _command(env, watch, others)
        raise ValueError(f"{watch} is an agent, not a model: --agent names it, as in {command}")

    # Imported here: to play by hand needs no runs.
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
        _watch(spec, task)
    except ModelError as error:
        if agent or not _lacks_module(error):
            raise
        # A module that is no model may have been meant as an agent.
        command = _command(env, watch, others)
        raise ValueError(f"{error}. An agent follows --agent, as in {command}") from error


def _watch(spec: RunSpec, task: str | None) -> None:
    from textcraft_gym.cli.watch import watch

    try:
        watch(spec, task)
    except KeyboardInterrupt:
        say("Stopped.")
        raise typer.Exit(130) from None


def _command(
    env: str,
    agent: str,
    others: Mapping[str, Sequence[object]],
) -> str:
    """Return the command that watches an agent, with the options of the one that was typed."""
    command = ["textcraft-gym", "play", env, "--watch", "local", "--agent", agent]
    for option, values in others.items():
        for value in values:
            command += [] if value is None else [option, str(value)]
    return shlex.join(command)


def _lacks_module(error: ModelError) -> bool:
    """Return whether a model cannot be made since the module that it names is missing."""
    reason = error.__cause__
    return reason is not None and isinstance(reason.__cause__, ModuleNotFoundError)


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
