"""The terminal as Rich draws on it: no control character of a foreign text gets there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from textcraft_gym.printable import printable_lines


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
