"""The commands ``textcraft-gym models ...``."""

from __future__ import annotations

from typing import Annotated

import typer

from textcraft_gym.cli.model_check import check_model
from textcraft_gym.cli.options import Json
from textcraft_gym.cli.terminal import print_json, say

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def models() -> None:
    """Try a model before a run."""


@app.command("check")
def check(
    model: Annotated[
        str, typer.Argument(help="A model, as for evaluate: openai:NAME,base_url=..., local, ...")
    ],
    form: Annotated[
        str | None,
        typer.Option(
            help="The form of the talk: line, chat or tools; by default what suits the model."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask a model for a few small answers, let it play one short episode, and say how to use it.

    It makes 25 calls at most. The exit status is 0 if the model can play, 1 if it answers and
    cannot play, and 2 if it cannot be asked.
    """
    found = check_model(model, form)
    if as_json:
        print_json(found.as_json())
    else:
        for line in found.lines():
            say(line)
    raise typer.Exit(found.status)
