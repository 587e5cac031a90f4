"""Tables of the command line, as wide as the terminal: what does not fit is left out, and named."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table as RichTable

from textcraft_gym.cli.console import Console
from textcraft_gym.cli.terminal import has_width, say, wrapped
from textcraft_gym.printable import printable

UNLIMITED = 100_000
"""Columns where nothing is left out: with ``--wide``, and where a pipe or a file reads."""
NAMES = (
    "",
    "against",
    "agent",
    "argument",
    "d_max",
    "game",
    "group",
    "id",
    "model",
    "name",
    "run",
    "split",
    "task",
    "type",
    "worlds",
)
"""Headings of columns of names, which are cut only where the needed columns do not fit beside."""
PROSE = ("default", "meaning", "plays", "shows", "such as", "summary", "what it does")
"""Headings of columns of words, which are cut to the room that the others leave."""
MIN_NAME_WIDTH = 10
MIN_PROSE_WIDTH = 24
MAX_HEADING_LINES = 3
GAP = 2
"""Blanks between two columns; the table has one on either side."""
ELLIPSIS = "…"
NO_BREAK = "\N{NO-BREAK SPACE}%"
MAX_EXAMPLES = 6


def _width(stream: Any) -> int | None:
    """Return a console's width; None for that of the terminal, or of ``COLUMNS``."""
    if not has_width(stream):
        return UNLIMITED
    # Rich takes a width of 0, which some environments set for an unknown one, at its word.
    columns = os.environ.get("COLUMNS", "")
    return shutil.get_terminal_size().columns if columns.isdecimal() and not int(columns) else None


console = Console(width=_width(sys.stdout))
_options = {"wide": False}


def show_all_columns(wanted: bool) -> None:
    """Print the tables that follow in full, or as wide as the terminal."""
    _options["wide"] = wanted


@dataclass
class Row:
    """A row of a table, with a style of Rich's, and whether a blank line comes after it."""

    cells: tuple[str, ...]
    style: str = ""
    end_section: bool = False


@dataclass
class Table:
    """A table of texts and numbers.

    Attributes:
        title: The line above it.
        headings: The headings; the first column has names, whatever it is called.
        ranked: Headings by importance; the others follow in their order.
        needed: Number of the most important columns. Names are cut so that these fit; the others
            are shown only beside whole names.
        rows: The rows.
    """

    title: str
    headings: Sequence[str]
    ranked: Sequence[str] = ()
    needed: int = 1
    rows: list[Row] = field(default_factory=list)

    def add_row(
        self,
        *cells: str,
        style: str = "",
        end_section: bool = False,
    ) -> None:
        """Add a row; its cells are texts of one line, since two would look like two rows."""
        padded = (*map(printable, cells), *[""] * (len(self.headings) - len(cells)))
        self.rows.append(Row(padded, style, end_section))

    def columns(self) -> list[Column]:
        """Return the columns, the most important first."""
        texts = list(zip(*(row.cells for row in self.rows), strict=True))
        texts = texts or [()] * len(self.headings)
        columns = []
        for index, heading in enumerate(self.headings):
            is_name = index == 0 or heading in NAMES
            columns.append(Column(index, printable(heading), is_name, texts[index]))
        return sorted(columns, key=self._rank)

    def _rank(self, column: Column) -> tuple[bool, bool, int, int]:
        """Return what columns are sorted by: those that tell rows apart come before zeros."""
        heading = self.headings[column.index]
        rank = self.ranked.index(heading) if heading in self.ranked else len(self.ranked)
        is_needed = rank < self.needed
        says_nothing = set(column.cells) <= {"", "-", "0"}
        return not is_needed, says_nothing, rank, column.index


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        index: Its place.
        heading: Its heading.
        is_name: Whether it has names.
        cells: The cells below the heading.
    """

    index: int
    heading: str
    is_name: bool
    cells: Sequence[str]

    @property
    def is_prose(self) -> bool:
        """Whether it has words of which a part says something."""
        return self.heading in PROSE

    @property
    def content(self) -> int:
        """The width of its widest cell."""
        return max(map(cell_len, self.cells), default=0)

    def full(self, *, folded: bool) -> int:
        """Return the width that shows all of it, with the heading in one line or folded."""
        heading = cell_len(self.heading)
        if folded:
            words = self.heading.replace(" %", NO_BREAK).split(" ")
            heading = max(map(cell_len, words))
            while len(_folded(self.heading, heading).split("\n")) > MAX_HEADING_LINES:
                heading += 1
        return max(self.content, heading, 1)

    def least(self, *, folded: bool) -> int:
        """Return the smallest width at which its cells can still be told apart."""
        full = self.full(folded=folded)
        if self.is_prose:
            return min(full, MIN_PROSE_WIDTH)
        if not self.is_name:
            return full  # a number that is cut is another number
        distinct = set(self.cells)
        for width in range(min(full, MIN_NAME_WIDTH), full):
            if len({cut(text, width) for text in distinct}) == len(distinct):
                return width
        return full


def new_table(
    title: str,
    headings: Iterable[str],
    ranked: Sequence[str] = (),
    needed: int = 1,
) -> Table:
    """Return a table without rows."""
    return Table(title, list(headings), ranked, needed)


def show_rows(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    ranked: Sequence[str] = (),
    needed: int = 1,
) -> list[str]:
    """Print rows with the same keys as a table, where None is a dash; see ``print_table``."""
    return print_table(table_of(title, rows, ranked, needed))


def table_of(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    ranked: Sequence[str] = (),
    needed: int = 1,
) -> Table:
    """Return rows with the same keys as a table; None is a dash."""
    table = new_table(title, rows[0] if rows else (), ranked, needed)
    for row in rows:
        table.add_row(*("-" if value is None else str(value) for value in row.values()))
    return table


def print_table(table: Table) -> list[str]:
    """Print a table that is no wider than the terminal, and say what it leaves out.

    Returns:
        The headings that are shown.
    """
    limit = UNLIMITED if _options["wide"] else console.width
    columns, widths = _laid_out(table, limit)
    console.print(printable(table.title), style="italic", markup=False, highlight=False)
    columns.sort(key=lambda column: column.index)
    width = console.width
    console.width = max(width, limit)
    console.print(_drawn(table, columns, widths))
    console.width = width
    if note := _note(columns, widths):
        console.print(note, style="dim", markup=False, highlight=False)
    return [table.headings[column.index] for column in columns if column.index in widths]


def is_whole(table: Table) -> bool:
    """Return whether a table shows all that it has, as wide as the terminal is now."""
    columns, widths = _laid_out(table, UNLIMITED if _options["wide"] else console.width)
    return not _note(columns, widths)


def _laid_out(table: Table, limit: int) -> tuple[list[Column], dict[int, int]]:
    """Return a table's columns, the most important first, and the widths of those that fit."""
    columns = table.columns()
    room = limit - GAP  # a blank at either side
    widths = fitted(columns, room, table.needed, folded=False)
    if len(widths) < len(columns):  # headings of several lines make room
        widths = fitted(columns, room, table.needed, folded=True)
    return columns, widths


def print_words(
    text: str,
    indent: int = 0,
    hanging: int = 0,
) -> None:
    """Print a text of one line, broken between words where the terminal ends.

    Args:
        text: The text.
        indent: Blanks before each line.
        hanging: Further blanks before all lines but the first.
    """
    for line in wrapped(" " * indent + text, console.width, hanging):
        say(line)


def fitted(
    columns: Sequence[Column],
    room: int,
    needed: int,
    *,
    folded: bool,
) -> dict[int, int]:
    """Return the widths of the columns that fit into a room, by their places.

    Args:
        columns: The columns, the most important first.
        room: Width of the table, without the blanks at its sides.
        needed: Number of columns whose names are cut before they are left out.
        folded: Whether headings may have several lines.
    """
    widths = {column.index: column.full(folded=folded) for column in columns}
    if sum(widths.values()) + GAP * (len(widths) - 1) <= room:
        return widths
    first, *others = columns
    widths = {first.index: max(1, min(first.least(folded=folded), room))}
    left = room - widths[first.index]

    def add(column: Column, width: int) -> None:
        nonlocal left
        if column.index not in widths and GAP + width <= left:
            widths[column.index] = width
            left -= GAP + width

    def widen() -> None:
        nonlocal left
        for column in columns:
            width = widths.get(column.index)
            if width is not None:
                widths[column.index] = min(column.full(folded=folded), width + left)
                left -= widths[column.index] - width

    for column in others[: max(0, needed - 1)]:
        add(column, column.least(folded=folded))
    widen()  # before the others come: a whole name is worth more than another number
    for column in others:
        width = column.least if column.is_prose else column.full
        add(column, width(folded=folded))
    widen()
    return widths


def cut(text: str, width: int) -> str:
    """Return a name in a width; of a long one the beginning and the end, which tell it apart."""
    if cell_len(text) <= width:
        return text
    end = (width - 1) // 3
    return f"{_start(text, width - 1 - end)}{ELLIPSIS}{_start(text[::-1], end)[::-1]}"


def cut_words(text: str, width: int) -> str:
    """Return the first words of a text that fit into a width."""
    if cell_len(text) <= width:
        return text
    start = _start(text, width - 1)
    words, blank, _ = start.rpartition(" ")
    return f"{words.rstrip(',;:') if blank else start}{ELLIPSIS}"


def _start(text: str, width: int) -> str:
    """Return as much of the beginning of a text as is no wider than this."""
    start = text[: max(0, width)]
    while cell_len(start) > width:  # some characters take two columns
        start = start[:-1]
    return start


def _drawn(
    table: Table,
    columns: Sequence[Column],
    widths: Mapping[int, int],
) -> RichTable:
    """Return a table as Rich draws it."""
    drawing = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    shown = [column for column in columns if column.index in widths]
    for column in shown:
        width = widths[column.index]
        is_text = column.is_name or column.is_prose
        drawing.add_column(
            escape(_folded(column.heading, width)),
            justify="left" if is_text else "right",
            vertical="bottom",
            no_wrap=True,
            overflow="crop",
            width=width,
        )
    for row in table.rows:
        cells = []
        for column in shown:
            shorten = cut_words if column.is_prose else cut
            cells.append(escape(shorten(row.cells[column.index], widths[column.index])))
        drawing.add_row(*cells, style=row.style, end_section=row.end_section)
    return drawing


def _folded(heading: str, width: int) -> str:
    """Return a heading in as many lines as its column needs."""
    if cell_len(heading) <= width:
        return heading
    whole = heading.replace(" %", NO_BREAK)  # a unit stays with its word
    lines = textwrap.wrap(whole, width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(cut(line.replace(NO_BREAK, " %"), width) for line in lines)


def _note(columns: Sequence[Column], widths: Mapping[int, int]) -> str:
    """Return what a table does not show; empty if it shows all."""
    missing: list[str] = []
    is_cut = False
    for column in columns:
        if column.index not in widths:
            missing.append(column.heading)
        elif column.content > widths[column.index]:
            is_cut = True

    parts = [f"Left out: {', '.join(dict.fromkeys(missing))}."] if missing else []
    if is_cut:
        parts.append("Some texts are cut.")
    return " ".join([*parts, "--wide shows all."]) if parts else ""


def cell(text: str) -> str:
    """Return a text as markup of one line."""
    return escape(printable(text))


def examples(names: Sequence[str]) -> str:
    """Return the first of some names."""
    shown = ", ".join(names[:MAX_EXAMPLES])
    return f"{shown}, ..." if len(names) > MAX_EXAMPLES else shown
