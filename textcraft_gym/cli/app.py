"""The commands by name; a command is imported when it is called, or listed in the help."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

import textcraft_gym
from textcraft_gym.cli.terminal import say

COMMANDS = (
    "papers",
    "reproduce",
    "evaluate",
    "sweep",
    "optimise-plan",
    "report",
    "view",
    "compare",
    "verify",
    "submit",
    "play",
    "shop",
    "envs",
    "agents",
    "tasks",
    "demos",
    "export",
    "models",
    "recipes",
    "splits",
    "serve",
    "setup",
    "new",
)
"""Their names, in the order of the help; the module of each has its name."""
BOX_WIDTH = 100
"""Columns that the help needs to have boxes; with fewer it is plain, and cuts no word."""


class Commands(TyperGroup):
    """A group of commands, of which Typer knows the names alone until it asks for one."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": dict.fromkeys(COMMANDS)})
        _fit_help(self)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        command = _command(cmd_name)
        _hide_types_of_flags(command, ctx)
        _fit_help(command)
        return command

    def get_params(self, ctx: Any) -> Any:
        """Return the options of ``textcraft-gym`` itself."""
        params = super().get_params(ctx)
        _hide_types(params)
        return params


@cache
def _command(name: str) -> Any:
    """Return a command, which Typer makes from its function in 20 ms."""
    module = import_module(f"textcraft_gym.cli.commands.{name.replace('-', '_')}")
    command = get_command(module.app)
    command.name = name
    return command


def _hide_types_of_flags(command: Any, ctx: Any) -> None:
    """Have the help show no type beside flags, of a command and of those below it."""
    _hide_types(command.params if ctx is None else command.get_params(ctx))
    for below in getattr(command, "commands", {}).values():
        _hide_types_of_flags(below, ctx)


def _fit_help(command: Any) -> None:
    """Have the help fill its lines, in a narrow terminal without boxes."""
    command.help = re.sub(r"(?<!\n)\n(?!\n)", " ", command.help or "")
    if shutil.get_terminal_size().columns < BOX_WIDTH:
        command.rich_markup_mode = None
    for below in getattr(command, "commands", {}).values():
        if below is not None:  # the names of commands that are not imported
            _fit_help(below)


def _hide_types(params: Iterable[Any]) -> None:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""


app = typer.Typer(cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"textcraft-gym {textcraft_gym.__version__}")
        raise typer.Exit


@app.callback(help=textcraft_gym.__doc__)
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Options of ``textcraft-gym`` without a command."""
