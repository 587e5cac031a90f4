"""A progress bar for work that takes a user by surprise, such as reading a data set for the first time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the amount that is done, and the amount in all."""


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """Show a progress bar if stderr is a terminal, and remove it at the end."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title)
        yield lambda done, total: bar.update(task, completed=done, total=total)
