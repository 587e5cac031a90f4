"""The command ``textcraft-gym``: runs a command, and says what went wrong in one line."""

from __future__ import annotations

import re
import sys
import warnings
from typing import TextIO

from textcraft_gym.agents.contract.model import ModelError
from textcraft_gym.cli.signals import sigterm_as_interrupt
from textcraft_gym.cli.terminal import open_standard_streams, say, show_exception
from textcraft_gym.errors import RunStopped, TextCraftGymError, os_reason, require

_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def main() -> None:
    """Run the command; a mistake of the caller gives one line on standard error and status 2.

    So does a run that stops before its last episode: status 3 at its limit, 1 where no further
    episode could succeed. Ctrl-C and SIGTERM end it in the same way, with status 130 and 143.
    """
    open_standard_streams()
    sys.excepthook = show_exception
    warnings.showwarning = _show_warning
    try:
        with sigterm_as_interrupt():
            _run()
    except RunStopped as stop:
        say(f"textcraft-gym: {stop}", error=True)
        sys.exit(3 if stop.at_limit else 1)
    except OSError as error:
        say(f"textcraft-gym: {os_reason(error)}", error=True)
        sys.exit(2)
    except (TextCraftGymError, ModelError, ValueError) as error:
        say(f"textcraft-gym: {error}", error=True)
        sys.exit(2)


def _run() -> None:
    """Run the command, if the packages of the command line are installed."""
    require("cli", "typer")
    from textcraft_gym.cli.app import app

    app()


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as one line, without its place in the code: the user typed a command."""
    # Gymnasium colours its warnings, also where nobody watches.
    say(f"textcraft-gym: warning: {_COLOUR.sub('', str(message))}", error=True)
