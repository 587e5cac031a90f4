"""Printing for every command: without secrets, and without control characters."""

from __future__ import annotations

import json
import os
import sys
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
    """Print one line, on standard error if it is about an error."""
    print(printable(redact(line)), file=sys.stderr if error else sys.stdout, flush=True)


def print_json(value: list[Any] | Mapping[str, Any]) -> None:
    """Print JSON, without secrets."""
    print(json.dumps(redacted(value), indent=2))


def show_exception(
    kind: type[BaseException], error: BaseException, where: TracebackType | None
) -> None:
    """Print the traceback of an exception that nobody expected, as ``sys.excepthook`` does."""
    text = "".join(traceback.format_exception(kind, error, where))
    sys.stderr.write(printable_lines(redact(text)))
