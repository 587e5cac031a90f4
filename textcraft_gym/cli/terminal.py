"""Printing for every command: without secrets, and without control characters."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from textcraft_gym.agents.redaction import redact, redacted
from textcraft_gym.printable import printable, printable_lines


def open_standard_streams() -> None:
    """Open standard input, output and error on nothing where they are closed.

    Otherwise a file that is opened later would get their number, and receive what is printed.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def say(line: str, *, error: bool = False) -> None:
    """Print one line, on standard error if it is about an error.

    A terminal breaks it between words, and indents what follows.
    """
    stream = sys.stderr if error else sys.stdout
    width = shutil.get_terminal_size().columns if is_terminal(stream) else None
    for row in wrapped(printable(redact(line)), width, hanging=2):
        print(row, file=stream, flush=True)


def say_command(line: str) -> None:
    """Print a command to be copied; what a terminal has no room for goes on after a backslash."""
    width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None
    *rows, last = wrapped(printable(redact(line)), width and width - 2, hanging=4)
    for row in rows:
        print(f"{row} \\")
    print(last, flush=True)


def is_terminal(stream: Any) -> bool:
    """Return whether somebody reads it in a terminal; a program or a file gets whole lines."""
    return stream is not None and stream.isatty()  # None where it is closed


def has_width(stream: Any) -> bool:
    """Return whether its tables have a width: in a terminal, or where ``COLUMNS`` says so."""
    is_log = stream is sys.stderr  # lines of errors are read by programs, too
    return is_terminal(stream) or ("COLUMNS" in os.environ and not is_log)


def wrapped(
    line: str,
    width: int | None,
    hanging: int = 0,
) -> list[str]:
    """Return a line in rows of a width, broken between words.

    Args:
        line: The line, whose indentation all rows have.
        width: The width; None for one row. A word that is longer stays whole.
        hanging: Further blanks before all rows but the first.
    """
    if width is None or len(line) <= width:
        return [line]
    text = line.lstrip(" ")
    margin = " " * (len(line) - len(text))
    return textwrap.wrap(
        text,
        width,
        initial_indent=margin,
        subsequent_indent=margin + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def print_json(value: list[Any] | Mapping[str, Any]) -> None:
    """Print JSON, without secrets."""
    print(json.dumps(redacted(value), indent=2))


def show_exception(
    kind: type[BaseException],
    error: BaseException,
    where: TracebackType | None,
) -> None:
    """Print the traceback of an exception that nobody expected, as ``sys.excepthook`` does."""
    text = "".join(traceback.format_exception(kind, error, where))
    sys.stderr.write(printable_lines(redact(text)))
