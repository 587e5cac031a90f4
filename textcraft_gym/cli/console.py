"""The terminal as Rich draws on it: no control character of a foreign text gets there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from textcraft_gym.printable import printable_lines


class Console(rich.console.Console):
    """A console of Rich that escapes control characters in texts of models, servers and runs.

    Colours stay, since Rich keeps them beside a text.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(emoji=False, **options)  # a folder may be named :key:

    def render(
        self,
        renderable: RenderableType,
        options: ConsoleOptions | None = None,
    ) -> Iterable[Segment]:
        """Yield the pieces of what is printed."""
        for segment in super().render(renderable, options):
            if segment.control:  # Rich's own, which moves the cursor
                yield segment
            else:
                yield segment._replace(text=printable_lines(segment.text))
