"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

from textcraft_gym.errors import UnknownName
from textcraft_gym.registration import SUITE
from textcraft_gym.reports.metrics import ERRORS, Errors
from textcraft_gym.storage.trajectories import FORMATS

EnvId = Annotated[
    str,
    typer.Argument(
        help=f"{', '.join(SUITE)}, or any other id of an environment of text: my_module:My-v0."
    ),
]
EnvArgs = Annotated[
    list[str] | None, typer.Option("--env-arg", help="KEY=VALUE for gym.make; may be repeated.")
]
Split = Annotated[
    str | None,
    typer.Option(help="A split of the environment, by default the one that gym.make plays."),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format", help=f"Form of the dialogues, after what reads them: {', '.join(FORMATS)}."
    ),
]
ErrorsOption = Annotated[
    str,
    typer.Option(
        "--errors",
        help="Episodes that an error broke: exclude leaves them out, count has them as lost.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Only say what it is expected to take; no model is asked, nothing is written.",
    ),
]


def read_errors(text: str) -> Errors:
    """Read ``exclude`` or ``count``."""
    for word in ERRORS:
        if text == word:
            return word
    raise UnknownName("way with errors", text, ERRORS)
