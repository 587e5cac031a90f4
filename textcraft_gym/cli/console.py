"""The terminal, on which every command prints: no secret gets there, and no control character of a foreign text."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable
from types import TracebackType
from typing import Any

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from textcraft_gym.agents.redaction import redact
from textcraft_gym.printable import printable, printable_lines


class Console(rich.console.Console):
    """A console of Rich that prints the texts of models, servers and run folders as they are written, and obeys none.

    Colours are not in a text but beside it, so that they stay.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(emoji=False, **options)  # a folder may be named :key:

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the pieces of what is printed; those that move the cursor are Rich's own."""
        for segment in super().render(renderable, options):
            yield (
                segment if segment.control else segment._replace(text=printable_lines(segment.text))
            )


def open_standard_streams() -> None:
    """Open those of standard input, output and error that are closed, on nothing.

    A file that is opened later would else get their number, and be written to by whoever prints.
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


def show_exception(
    kind: type[BaseException], error: BaseException, where: TracebackType | None
) -> None:
    """Print the traceback of an exception that nobody expected, as ``sys.excepthook`` does."""
    text = "".join(traceback.format_exception(kind, error, where))
    sys.stderr.write(printable_lines(redact(text)))
