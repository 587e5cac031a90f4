"""The command ``textcraft-gym verify``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from textcraft_gym.cli.options import Json, Trust
from textcraft_gym.cli.run_folders import runs_in
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.errors import RunError
from textcraft_gym.papers.pages import reproduce_again
from textcraft_gym.plugins import key_values
from textcraft_gym.runs.fingerprints import compare as compare_with_release
from textcraft_gym.verify.pages import Maker, find_pages, report_again, verify_page
from textcraft_gym.verify.recheck import Findings, Verification, not_rechecked
from textcraft_gym.verify.recheck import verify as verify_run

app = typer.Typer(add_completion=False)

Check: TypeAlias = Callable[[], Findings | None]
"""Rechecks a run or a page; of a file that names no runs it returns None."""
MAKERS: Mapping[str, Maker] = {"report": report_again, "reproduce": reproduce_again}
"""What writes pages again, by the name of the command."""

DIFFERENT = 1
UNREADABLE = 2


@app.command()
def verify(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Run folders, folders of runs, or pages of report and reproduce; by default this "
            "installation."
        ),
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
    """Replay runs, recompute pages, report differences.

    A page of report or reproduce names its runs: every cell is recomputed from them. Runs that are
    elsewhere are named, too: textcraft-gym verify paper/table.tex runs. The pages in a folder are
    rechecked with the runs below it.

    Without paths, it compares the worlds and prompts of this installation with the release.

    Exit status: 0 if all is identical, 1 if something differs or could not be rechecked, 2 if a
    folder or a page cannot be read.
    """
    env_args = key_values(env_arg or [])
    if not paths:
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
    checks: dict[Path, Check] = {}
    for path in paths:
        checks |= _checks(path, recheck, [other for other in paths if other.is_dir()])
    _verify_all(checks, show, as_json)


def _checks(
    path: Path,
    recheck: Callable[[Path], Verification],
    folders: Sequence[Path],
) -> dict[Path, Check]:
    """Return the check of each run and page that a path stands for.

    Args:
        path: A page, a run folder, or a folder of runs and pages.
        recheck: The check of a run.
        folders: Where else the runs of pages may be.
    """
    check_page = partial(verify_page, makers=MAKERS, folders=folders)
    if path.is_file():
        return {path: partial(check_page, path)}
    runs = runs_in(path)
    pages = [] if runs == [path] else list(find_pages(path))
    checks: dict[Path, Check] = {run: partial(recheck, run) for run in runs}
    checks |= {page: partial(check_page, page) for page in pages}
    return checks or {path: partial(recheck, path)}  # which says why it is no run


def _verify_all(
    checks: Mapping[Path, Check],
    show: int,
    as_json: bool,
) -> None:
    """Print what differs in each run and page, and exit with a status if something does."""
    found: dict[Path, Findings] = {}
    wrong = 0
    for path, check in checks.items():
        try:
            findings = check()
        except RunError as error:  # the others are rechecked all the same
            say(f"textcraft-gym: {error}", error=True)
            wrong += 1
            continue
        if findings is None:
            say(f"{path}: left out, since it does not say from which runs it was made", error=True)
            continue
        found[path] = findings
        if not as_json:
            _say_lines(findings.lines(str(path), show))

    if as_json:
        print_json({str(path): findings.as_json() for path, findings in found.items()})
    elif any(isinstance(run, Verification) and run.asked for run in found.values()):
        say(f"not rechecked: {', '.join(not_rechecked())}")

    if wrong or not found:
        raise typer.Exit(UNREADABLE)
    if not all(findings.identical for findings in found.values()):
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
