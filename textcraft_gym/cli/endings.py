"""The end of a command that plays runs: what a user should know, and the exit status."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import typer

from textcraft_gym.cli.terminal import say
from textcraft_gym.reports.advice import advice
from textcraft_gym.reports.records import Records
from textcraft_gym.reports.tables import distinct_errors

MAX_ERRORS_SHOWN = 5


def end_runs(runs: Sequence[Records], out: Path) -> None:
    """Print advice and errors, and exit with status 1 if every episode ended with an error."""
    for line in advice(chain.from_iterable(runs)):
        say(f"textcraft-gym: {line}", error=True)

    errors = distinct_errors(chain.from_iterable(runs))
    failed = sum(errors.values())
    episodes = sum(map(len, runs))
    if failed:
        share = "every episode" if failed == episodes else f"{failed} of {episodes} episodes"
        say(
            f"textcraft-gym: {share} ended with an error; records and tracebacks are in {out}:",
            error=True,
        )
        for error, count in errors.most_common(MAX_ERRORS_SHOWN):
            say(f"  {count} x {error}", error=True)
        if len(errors) > MAX_ERRORS_SHOWN:
            say(f"  and {len(errors) - MAX_ERRORS_SHOWN} other errors", error=True)

    if failed == episodes:
        raise typer.Exit(1)
