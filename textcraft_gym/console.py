"""The terminal, on which every command prints: no secret gets there, and no control character of a foreign text."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable
from types import TracebackType

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from textcraft_gym.agents.redaction import redact
from textcraft_gym.printable import printable, printable_lines


class Console(rich.console.Console):
    """A console of Rich that prints the texts of models, servers and run folders as they are written, and obeys none.

    Colours are not in a text but beside it, so that they stay.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the pieces of what is printed; those that move the cursor are Rich's own."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable_lines(segment.text))


def say(line: str, *, error: bool = False) -> None:
    """Print one line, on standard error if it is about an error."""
    print(printable(redact(line)), file=sys.stderr if error else sys.stdout, flush=True)


def show_exception(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """Print the traceback of an exception that nobody expected, as ``sys.excepthook`` does."""
    text = "".join(traceback.format_exception(kind, error, where))
    sys.stderr.write(printable_lines(redact(text)))
