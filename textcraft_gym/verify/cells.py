"""Where two versions of a page differ: the cells of its tables, by row and column, and its lines.

Markdown, CSV, LaTeX, HTML and SVG are read as the suite writes them, in time linear in their
length, since a page may be from anybody.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

MAX_SPAN = 64
"""Maximum number of columns or rows that a cell may span."""
MAX_SHOWN = 60
"""Maximum number of characters shown of each version of a part."""
LONGER = 1 << 16
"""Number of characters by which a page may be more than twice as long as what it is compared with.

Longer ones are not read.
"""
_UNESCAPED_BAR = re.compile(r"(?<!\\)\|")
_MULTICOLUMN = re.compile(r"\\multicolumn\{(\d{1,2})\}\{c\}\{(.*)\}$")
_LATEX_FORMAT = re.compile(r"\\(?:textbf|scriptsize|,|pm)|[{}$]")
_PACKED = '<script type="text/plain" id="blocks">'
_SPAN = re.compile(r'(col|row)span="(\d{1,4})"')


class Part(NamedTuple):
    """A part of a page that is compared whole.

    Attributes:
        text: Its text.
        where: The cell or the line that it is.
    """

    text: str
    where: str


class Change(NamedTuple):
    """A part in which two versions differ.

    Attributes:
        where: The cell, by row and column, or the line.
        recorded: What the page has there.
        recomputed: What it should have.
    """

    where: str
    recorded: str
    recomputed: str

    def __str__(self) -> str:
        return f"{self.where}: recorded {self.recorded}, recomputed {self.recomputed}"


def parts(text: str, suffix: str) -> list[Part]:
    """Return the parts of a page in a format.

    Raises:
        ValueError: If it cannot be read as one.
    """
    return list(_READERS[suffix](text))


def changes(
    recorded: str,
    recomputed: str,
    suffix: str,
) -> Iterator[Change]:
    """Yield each part in which a page differs from what it should be.

    White space between parts is none, and neither are packed episodes: ``verify`` replays those of
    the runs. After a part that one of them lacks nothing can be said of those that follow.

    Args:
        recorded: The page.
        recomputed: What it should be.
        suffix: The suffix of its format.
    """
    recorded, recomputed = _without_packed(recorded), _without_packed(recomputed)
    if recorded == recomputed:
        return
    if len(recorded) > 2 * len(recomputed) + LONGER:
        sizes = f"{len(recorded):,} characters", f"{len(recomputed):,}"
        yield Change("length", *sizes)
        return
    try:
        ours = parts(recorded, suffix)
    except ValueError as error:
        yield Change("all", f"what cannot be read ({error})", "a page")
        return
    theirs = parts(recomputed, suffix)
    is_aligned = len(ours) == len(theirs)
    for before, now in zip_longest(ours, theirs):
        if before is None or now is None or before.text != now.text:
            yield _change(before, now, suffix)
            if not is_aligned:
                yield Change("number of cells and lines", str(len(ours)), str(len(theirs)))
                return


def _without_packed(text: str) -> str:
    """Return a page of HTML without its packed episodes, which hold the calls if these are here."""
    before, start, after = text.partition(_PACKED)
    packed = after.find("</script>")
    return text if packed < 0 else f"{before}{start}{after[packed:]}"


def _change(
    before: Part | None,
    now: Part | None,
    suffix: str,
) -> Change:
    """Return how a part differs: of a long one, what is around the first character that does."""
    first, second = (part.text if part else "" for part in (before, now))
    if suffix == ".tex":
        plain = [_LATEX_FORMAT.sub("", text).strip() for text in (first, second)]
        if plain[0] != plain[1]:
            first, second = plain
    start = 0
    if max(len(first), len(second)) > MAX_SHOWN:
        pairs = enumerate(zip(first, second, strict=False))
        same = next((index for index, (ours, theirs) in pairs if ours != theirs), len(second))
        start = max(0, min(same, len(first)) - MAX_SHOWN // 2)
    where = now or before
    return Change(where.where if where else "", _cut(first, start), _cut(second, start))


def _cut(text: str, start: int) -> str:
    end = start + MAX_SHOWN
    before, after = "..." if start else "", "..." if end < len(text) else ""
    return f"{before}{text[start:end]}{after}" or "nothing"


class _Table:
    """Names the cells of a table by the labels of their row and the heading of their column."""

    def __init__(self, headings: Sequence[str] = ()) -> None:
        self.headings = list(headings)
        self._labels: dict[int, str] = {}

    def parts(self, cells: Sequence[str]) -> Iterator[Part]:
        """Yield the cells of a row; a label stands for the rows below it that have none."""
        labels: list[str] = []
        for index, cell in enumerate(cells):
            heading = self.headings[index] if index < len(self.headings) else f"column {index + 1}"
            yield Part(cell, ", ".join(filter(None, [*labels, heading])) or "first column")
            if not cell and index in self._labels:
                labels.append(self._labels[index])
            elif cell and (not heading or cell[0].isalpha()):
                labels.append(cell)
                self._labels[index] = cell
            elif heading == "k":
                labels.append(f"k {cell}")


def _heading_parts(headings: Sequence[str]) -> Iterator[Part]:
    for number, heading in enumerate(headings, 1):
        yield Part(heading, f"heading of column {number}")


def _markdown(text: str) -> Iterator[Part]:
    table: _Table | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("|"):
            table = None
            yield Part(line, f"line {number}")
            continue
        cells = [cell.strip() for cell in _UNESCAPED_BAR.split(line)[1:-1]]
        if table is None:
            table = _Table(cells)
            yield from _heading_parts(cells)
        else:
            yield from table.parts(cells)


def _csv(text: str) -> Iterator[Part]:
    table: _Table | None = None
    try:
        for cells in csv.reader(io.StringIO(text.removeprefix("\ufeff"))):
            if table is None:
                table = _Table(cells)
                yield from _heading_parts(cells)
            else:
                yield from table.parts(cells)
    except csv.Error as error:
        raise ValueError(str(error)) from error


def _latex(text: str) -> Iterator[Part]:
    table, is_head = _Table(), False
    for number, line in enumerate(text.split("\n"), 1):
        is_head |= line == r"\toprule"
        if line == r"\midrule":
            is_head = False
        if not line.endswith(r" \\"):
            yield Part(line, f"line {number}")
            continue
        cells = line.removesuffix(r" \\").split(" & ")
        if is_head:
            table.headings = _below(table.headings, _spread(cells))
            yield from _heading_parts(cells)
        else:
            yield from table.parts(cells)


def _spread(cells: Sequence[str]) -> list[str]:
    """Return the cells of a row of LaTeX, one that spans several columns in each of them."""
    spread: list[str] = []
    for cell in cells:
        match = _MULTICOLUMN.match(cell)
        spread += [match[2]] * min(int(match[1]), MAX_SPAN) if match else [cell]
    return spread


def _below(above: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Return headings that have a second line."""
    pairs = zip_longest(above, cells, fillvalue="")
    return [", ".join(filter(None, dict.fromkeys(pair))) for pair in pairs]


class _Tag(NamedTuple):
    """A tag with what follows it, up to the next tag, and the number of its line."""

    name: str
    tag: str
    text: str
    line: int


class _Cell(NamedTuple):
    """A cell of a table of HTML, and how many columns and rows it takes."""

    text: str
    tag: str
    columns: int
    rows: int


def _html(text: str) -> Iterator[Part]:
    """Yield the parts of a page of HTML or an image: bars are named by their titles."""
    tags = list(_tags(text))
    title = ""
    table: list[_Tag] | None = None
    for tag, following in zip_longest(tags, tags[1:]):
        if tag.name == "table":
            table = []
        if table is not None:
            table.append(tag)
            if tag.name == "/table":
                yield from _table_of_html(table)
                table = None
            continue
        if tag.name == "script":
            yield from _script(tag)
            continue
        if tag.name == "rect" and following and following.name == "title":
            title = _plain(following.text)
        where = title or f"line {tag.line}"
        yield Part(tag.tag, where)
        yield Part(_plain(tag.text), where)
        if tag.name == "/text":  # the number behind a bar was its last part
            title = ""
    if table is not None:
        raise ValueError("a table without an end")


def _tags(text: str) -> Iterator[_Tag]:
    """Yield the tags of HTML or SVG; a script and a style are the text of theirs."""
    start, line = max(0, text.find("<")), 1
    while start < len(text):
        close = text.find(">", start)
        if close < 0:
            raise ValueError("a tag without an end")
        tag = text[start : close + 1]
        name = next(iter(tag[1:-1].strip("/").split(None, 1)), "")
        raw = tag.startswith(("<script", "<style"))
        end = text.find(f"</{name}" if raw else "<", close)
        end = len(text) if end < 0 else end
        yield _Tag(f"/{name}" if tag.startswith("</") else name, tag, text[close + 1 : end], line)
        line += text.count("\n", start, end)
        start = end


def _table_of_html(tags: Sequence[_Tag]) -> Iterator[Part]:
    """Yield the markup of a table, and its cells."""
    yield Part("".join(tag.tag for tag in tags), f"markup of the table at line {tags[0].line}")
    headings: list[str] = []
    group, in_head = "", False
    hanging: dict[int, tuple[int, str]] = {}  # of cells that go on below: for how many rows
    for part, row in _rows(tags):
        in_head = part == "thead" if part else in_head
        texts: list[str] = []
        labels: list[str] = []
        for cell in row:
            while len(texts) in hanging:
                rows, text = hanging.pop(len(texts))
                if rows > 1:
                    hanging[len(texts)] = rows - 1, text
                labels.append(text)
                texts.append("")
            column = len(texts)
            heading = headings[column] if column < len(headings) and not in_head else ""
            named = ", ".join(filter(None, [group, *labels, heading]))
            yield Part(cell.text, named or f"heading of column {column + 1}")

            if cell.rows > 1:
                hanging[column] = cell.rows - 1, cell.text
            texts += [cell.text] * cell.columns
            if not in_head and (cell.tag.startswith("<th") or heading == "group"):
                labels.append(cell.text)
        if in_head:
            headings = _below(headings, texts)
        elif len(row) == 1:  # the heading of a group of rows
            group = row[0].text


def _rows(tags: Sequence[_Tag]) -> Iterator[tuple[str, list[_Cell]]]:
    """Yield the rows of a table, the first of each part of it with the name of the part."""
    part = begin = ""
    row: list[_Cell] = []
    texts: list[str] = []
    for tag in tags:
        if tag.name in ("thead", "tbody"):
            part = tag.name
        elif tag.name == "tr":
            row = []
        elif tag.name in ("td", "th"):
            begin, texts = tag.tag, [tag.text]
        elif tag.name in ("/td", "/th"):
            spans = {name: min(int(count), MAX_SPAN) for name, count in _SPAN.findall(begin)}
            text = _plain("".join(texts))
            row.append(_Cell(text, begin, spans.get("col", 1), spans.get("row", 1)))
        else:
            texts.append(tag.text)
        if tag.name == "/tr":
            yield part, row
            part = ""


def _plain(text: str) -> str:
    """Return a text of HTML without its escapes, each white space as a blank."""
    return " ".join(html.unescape(text).split())


def _script(tag: _Tag) -> Iterator[Part]:
    """Yield the parts of a script: of a list of episodes its cells."""
    where = f"line {tag.line}"
    yield Part(tag.tag, where)
    if 'id="index"' not in tag.tag:
        yield Part(tag.text, where)
        return
    try:
        index = json.loads(tag.text)
        columns, lines = index.pop("columns"), index.pop("lines")
        for line in lines:
            task = line[columns.index("task")]
            for column, cell in zip(columns, line, strict=True):
                yield Part(str(cell), f"list of episodes, {task}, {column}")
        # Where packed episodes begin depends on whether the calls are here.
        index.pop("starts")
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError("its list of episodes is none") from error
    yield Part(json.dumps(index), "list of episodes")


_READERS: Mapping[str, Callable[[str], Iterator[Part]]] = {
    ".md": _markdown,
    ".csv": _csv,
    ".tex": _latex,
    ".html": _html,
    ".htm": _html,
    ".svg": _html,
}
"""What reads each format, by the suffix of its files."""
