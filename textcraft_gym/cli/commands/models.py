"""The commands ``textcraft-gym models ...``."""

from __future__ import annotations

from typing import Annotated

import typer

from textcraft_gym.cli.model_check import LABEL, check_model
from textcraft_gym.cli.options import Json
from textcraft_gym.cli.tables import print_words
from textcraft_gym.cli.terminal import print_json

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def models() -> None:
    """Check a model before a run."""


@app.command("check")
def check(
    model: Annotated[
        str, typer.Argument(help="Model, as for evaluate: openai:NAME,base_url=..., local, ...")
    ],
    form: Annotated[
        str | None,
        typer.Option(help="Dialogue form: line, chat or tools; by default the model's own."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Test whether a model can play, and how.

    It asks for a few short answers, then lets the model play one short episode: at most 25 calls.

    Exit status: 0 if the model can play, 1 if it answers but cannot play, 2 if it cannot be
    used.
    """
    result = check_model(model, form)
    if as_json:
        print_json(result.as_json())
    else:
        for line in result.lines():
            print_words(line, hanging=LABEL)
    raise typer.Exit(result.status)
