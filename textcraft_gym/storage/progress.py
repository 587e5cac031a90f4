"""Progress of work that takes a user by surprise, such as reading a data set for the first time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the amount that is done, and the amount in all."""

BAR_SECONDS = 0.1
LINE_SECONDS = 10.0


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """Show a progress bar if stderr is a terminal, and remove it at the end.

    Else a line is printed every ten seconds.
    """
    if not sys.stderr.isatty():
        yield _every(
            LINE_SECONDS,
            lambda done, total: sys.stderr.write(f"{title}: {done / total:.0%}\n"),
        )
        return
    # Imported here: it takes a tenth of a second, and is rarely needed.
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title)
        yield _every(BAR_SECONDS, lambda done, total: bar.update(task, completed=done, total=total))


def _every(seconds: float, show: Progress) -> Progress:
    """Return a function to call often, which shows progress once in as many seconds."""
    shown = time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown >= seconds:
            shown = now
            show(done, total)

    return update
