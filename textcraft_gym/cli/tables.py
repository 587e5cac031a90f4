"""Tables of the command line, rendered with Rich."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from textcraft_gym.cli.console import Console
from textcraft_gym.printable import printable

WIDTH_WITHOUT_TERMINAL = 160
LEFT_ALIGNED = (
    "group",
    "against",
    "such as",
    "summary",
    "split",
    "game",
    "shows",
    "worlds",
    "type",
    "default",
    "meaning",
)
"""Headings of text columns; the first column is always text, and all others are numbers."""
PROSE = ("summary", "such as", "shows", "default", "meaning")
"""Headings of columns that wrap."""
MIN_PROSE_WIDTH = 20
MAX_EXAMPLES = 6


def _width() -> int | None:
    """Return the console's width; None for that of the terminal."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()  # None where it is closed
    return None if is_terminal or "COLUMNS" in os.environ else WIDTH_WITHOUT_TERMINAL


console = Console(width=_width())


def new_table(title: str, headings: Iterable[str]) -> Table:
    """Return a table without rows."""
    table = Table(
        title=cell(title),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for index, heading in enumerate(headings):
        is_text = index == 0 or heading in LEFT_ALIGNED
        table.add_column(
            cell(heading),
            justify="left" if is_text else "right",
            no_wrap=heading not in PROSE,
            overflow="fold",
        )
    return table


def print_table(table: Table) -> None:
    """Print a table, wider than the terminal if need be: an id that wraps cannot be copied."""
    unbounded = console.options.update(width=10_000)
    needed = Measurement.get(console, unbounded, table).maximum

    for column in table.columns:
        if column.header in PROSE:  # only prose may wrap
            widest = max((len(str(text)) for text in column.cells), default=0)
            needed -= max(0, widest - MIN_PROSE_WIDTH)

    width = console.width
    console.width = max(width, needed)  # print(width=...) cannot exceed the console's width
    console.print(table)
    console.width = width


def show_rows(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows with the same keys as a table; None is a dash."""
    table = new_table(title, rows[0])
    for row in rows:
        table.add_row(*map(_value, row.values()))
    print_table(table)


def _value(value: object) -> str:
    return "-" if value is None else cell(str(value))


def cell(text: str) -> str:
    """Return a text for a cell: in one line, as two would look like two rows, and not as markup."""
    return escape(printable(text))


def examples(names: Sequence[str]) -> str:
    """Return the first of some names."""
    shown = ", ".join(names[:MAX_EXAMPLES])
    return f"{shown}, ..." if len(names) > MAX_EXAMPLES else shown
