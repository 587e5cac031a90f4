"""The command ``textcraft-gym verify``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from textcraft_gym.cli.options import Json
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.errors import RunError
from textcraft_gym.plugins import key_values
from textcraft_gym.runs.fingerprints import compare as compare_with_release
from textcraft_gym.verify.recheck import not_rechecked
from textcraft_gym.verify.recheck import verify as verify_run

app = typer.Typer(add_completion=False)


@app.command()
def verify(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders; without any, the worlds of this installation."),
    ] = None,
    env: Annotated[
        str | None, typer.Option(help="Without run folders, only the world of this id.")
    ] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            help="A module, or an id or agent not of the suite, that a run may name; may be repeated."
        ),
    ] = None,
    env_arg: Annotated[
        list[str] | None,
        typer.Option(help="KEY=VALUE for gym.make, in place of the run's; may be repeated."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="The split, in place of the run's.")] = None,
    prompts: Annotated[
        str | None, typer.Option(help="The set or folder of prompts, in place of the run's.")
    ] = None,
    show: Annotated[int, typer.Option(min=0, help="Differences to print.")] = 20,
    as_json: Json = False,
) -> None:
    """Replay every recorded action of runs, and print where their records differ from what happens.

    Without a run, the worlds and prompts of this installation are compared with those of the
    release. The exit status is 0 if all is identical, 1 if something differs or could not be
    rechecked, and 2 if a folder cannot be read.
    """
    if not runs:
        if trust or split or prompts:
            raise ValueError(
                "--trust, --split and --prompts are about a run: expected run folders, got none"
            )
        _verify_installation([env] if env else [], key_values(env_arg or []), show, as_json)
        return
    if env:
        raise ValueError("expected run folders or --env, got both")
    found, unreadable = {}, False
    for run in runs:
        try:
            arguments = key_values(env_arg or [])
            found[run] = verify_run(
                run, trusted=trust or (), env_args=arguments, split=split, prompts=prompts
            )
        except RunError as error:  # the other runs are rechecked all the same
            say(f"textcraft-gym: {error}", error=True)
            unreadable = True
            continue
        if not as_json:
            for line in found[run].lines(str(run), show):
                say(line)
    if as_json:
        print_json({str(run): one.as_json() for run, one in found.items()})
    elif found:
        say(f"not rechecked: {', '.join(not_rechecked())}")
    if unreadable or not all(one.identical for one in found.values()):
        raise typer.Exit(2 if unreadable else 1)


def _verify_installation(
    envs: list[str], env_args: Mapping[str, Any], show: int, as_json: bool
) -> None:
    """Print each world beside what the release carries, and exit with status 1 if one differs."""
    found = []
    for world in compare_with_release(envs, **env_args):
        found.append(world)
        if not as_json:
            for line in world.lines(show):
                say(line)
    if as_json:
        print_json([world._asdict() for world in found])
    if any(world.changes for world in found):
        raise typer.Exit(1)
