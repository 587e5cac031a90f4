"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from textcraft_gym.cli.tables import show_all_columns
from textcraft_gym.errors import UnknownName
from textcraft_gym.registration import SUITE
from textcraft_gym.reports.metrics import ERRORS, Errors
from textcraft_gym.storage.trajectories import FORMATS

EnvId = Annotated[
    str,
    typer.Argument(
        help=f"Environment: {', '.join(SUITE)}, or another text environment as my_module:My-v0; "
        "also as --env."
    ),
]
EnvArgs = Annotated[
    list[str] | None, typer.Option("--env-arg", help="KEY=VALUE for gym.make; may be repeated.")
]
Split = Annotated[
    str | None,
    typer.Option(help="Split; by default the environment's."),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        help=f"Dialogue format, named after its readers: {', '.join(FORMATS)}.",
    ),
]
ErrorsOption = Annotated[
    str,
    typer.Option(
        "--errors",
        help="Episodes that ended with an error: exclude them, or count them as lost.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Wide = Annotated[
    bool,
    typer.Option(
        "--wide",
        callback=show_all_columns,
        help="Show every column in full, however narrow the terminal.",
    ),
]
Trust = Annotated[
    list[str] | None,
    typer.Option(
        help="Module, environment or agent from outside the suite that a run may use; "
        "may be repeated."
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Estimate calls, tokens, cost and time; ask no model and write nothing.",
    ),
]


class EnvCommand(TyperCommand):
    """A command whose argument is an environment, which may be given as ``--env``, too."""

    def parse_args(
        self,
        ctx: Any,
        args: list[str],
    ) -> list[str]:
        """Put the value of ``--env`` in the place of the argument."""
        for index, word in enumerate(args):
            option, equals, value = word.partition("=")
            if option == "--env" and (equals or args[index + 1 :]):
                end = index + 1 if equals else index + 2
                args = [value if equals else args[index + 1], *args[:index], *args[end:]]
                break
        return super().parse_args(ctx, args)


def read_errors(text: str) -> Errors:
    """Read ``exclude`` or ``count``."""
    for word in ERRORS:
        if text == word:
            return word
    raise UnknownName.of("way with errors", text, ERRORS)
