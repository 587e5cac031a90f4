"""The command ``textcraft-gym verify``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from textcraft_gym.cli.options import Json, Trust
from textcraft_gym.cli.run_folders import run_folders
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.errors import RunError
from textcraft_gym.plugins import key_values
from textcraft_gym.runs.fingerprints import compare as compare_with_release
from textcraft_gym.verify.recheck import Verification, not_rechecked
from textcraft_gym.verify.recheck import verify as verify_run

app = typer.Typer(add_completion=False)

DIFFERENT = 1
UNREADABLE = 2


@app.command()
def verify(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders, or folders of runs; by default this installation."),
    ] = None,
    env: Annotated[
        str | None, typer.Option(help="Without run folders, check only this environment.")
    ] = None,
    trust: Trust = None,
    env_arg: Annotated[
        list[str] | None,
        typer.Option(help="KEY=VALUE for gym.make, replacing the run's; may be repeated."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Split, replacing the run's.")] = None,
    prompts: Annotated[
        str | None, typer.Option(help="Prompt set or folder, replacing the run's.")
    ] = None,
    show: Annotated[int, typer.Option(min=0, help="Maximum number of differences shown.")] = 20,
    as_json: Json = False,
) -> None:
    """Replay recorded actions and report differences.

    Without run folders, it compares the worlds and prompts of this installation with the release.

    Exit status: 0 if all is identical, 1 if something differs or could not be rechecked, 2 if a
    folder cannot be read.
    """
    env_args = key_values(env_arg or [])
    if not runs:
        if trust or split or prompts:
            raise ValueError("--trust, --split and --prompts: expected run folders, got none")
        _verify_installation([env] if env else [], env_args, show, as_json)
        return

    if env:
        raise ValueError("expected run folders or --env, got both")
    recheck = partial(
        verify_run,
        trusted=trust or (),
        env_args=env_args,
        split=split,
        prompts=prompts,
    )
    _verify_runs(run_folders(runs), recheck, show, as_json)


def _verify_runs(
    runs: Sequence[Path],
    recheck: Callable[[Path], Verification],
    show: int,
    as_json: bool,
) -> None:
    """Print what differs in each run, and exit with a status if something does."""
    verifications: dict[Path, Verification] = {}
    for run in runs:
        try:
            verifications[run] = recheck(run)
        except RunError as error:  # the other runs are rechecked all the same
            say(f"textcraft-gym: {error}", error=True)
            continue
        if not as_json:
            _say_lines(verifications[run].lines(str(run), show))

    if as_json:
        print_json({str(run): result.as_json() for run, result in verifications.items()})
    elif any(verification.asked for verification in verifications.values()):
        say(f"not rechecked: {', '.join(not_rechecked())}")

    if len(verifications) < len(set(runs)):
        raise typer.Exit(UNREADABLE)
    if not all(verification.identical for verification in verifications.values()):
        raise typer.Exit(DIFFERENT)


def _verify_installation(
    envs: Sequence[str],
    env_args: Mapping[str, Any],
    show: int,
    as_json: bool,
) -> None:
    """Print how each world differs from the release, and exit with a status if one does."""
    worlds = []
    for world in compare_with_release(envs, **env_args):
        worlds.append(world)
        if not as_json:
            _say_lines(world.lines(show))
    if as_json:
        print_json([world._asdict() for world in worlds])
    if any(world.changes for world in worlds):
        raise typer.Exit(DIFFERENT)


def _say_lines(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)
