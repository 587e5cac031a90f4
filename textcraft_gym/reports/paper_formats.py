"""Tables for papers, written as LaTeX, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence

from textcraft_gym.printable import printable
from textcraft_gym.reports.paper_table import Cell, Column, PaperTable, Row
from textcraft_gym.reports.tables import markdown_table

WIDE = 9
"""Number of columns above which a table of LaTeX spans both columns of a page."""
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def latex(table: PaperTable) -> str:
    """Return a float with the table, which needs the packages booktabs and graphicx.

    Below each rate, in a line of its own, is the interval, so that the table stays narrow. One that
    is wider than the text is scaled down.
    """
    kind = "table*" if len(table.columns) > WIDE else "table"
    lines = [
        r"% Needs \usepackage{booktabs,graphicx}.",
        rf"\begin{{{kind}}}",
        r"\centering",
        rf"\caption{{{escaped(' '.join(table.notes))}}}",
        r"\label{tab:results}",
        r"\smallskip",
        r"\setlength{\tabcolsep}{4pt}",
        r"\sbox0{%",
        rf"\begin{{tabular}}{{l{'c' * len(table.columns)}}}",
        r"\toprule",
        *_heads(table),
        r"\midrule",
        *_latex_rows(table),
        r"\bottomrule",
        r"\end{tabular}}",
        r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
        rf"\end{{{kind}}}",
    ]
    return "\n".join(lines) + "\n"


def markdown(table: PaperTable) -> str:
    """Return the table as Markdown, with its notes below."""
    rows = []
    for row in table.rows:
        rows.append([row.label, *(_markdown_cell(row.cells.get(at)) for at in table.columns)])
    below = "".join(f"\n{printable(note)}\n" for note in table.notes)
    return markdown_table(["", *_headings(table)], rows) + below


def as_csv(table: PaperTable) -> str:
    """Return the table as CSV, each number of a cell in a column of its own, with all digits."""
    numbers = ("", " low", " high", " between runs", " tasks")
    headings = ["agent", "told", "so far"]
    for heading in _headings(table):
        headings += [f"{heading}{number}" for number in numbers]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    for row in table.rows:
        values = [printable(row.agent), "yes" if row.is_told else "no", row.so_far]
        for column in table.columns:
            values += _numbers(row.cells.get(column))
        writer.writerow(values)
    return text.getvalue()


FORMATS: Mapping[str, Callable[[PaperTable], str]] = {
    ".tex": latex,
    ".csv": as_csv,
    ".md": markdown,
}
"""What writes each format, by the suffix of its files."""


def escaped(text: str) -> str:
    """Return a text for LaTeX, in one line, without commands."""
    return "".join(_SPECIAL.get(character, character) for character in printable(text))


def _headings(table: PaperTable) -> list[str]:
    """Return the headings in one line: with the world, where there are several."""
    several = len(table.worlds) > 1
    return [f"{at.world} {at.heading}" if several else at.heading for at in table.columns]


def _heads(table: PaperTable) -> Iterator[str]:
    """Yield the lines of the head: of several worlds, their names above the groups."""
    if len(table.worlds) > 1:
        names, rules, start = [], [], 2
        for world, count in table.worlds.items():
            names.append(rf"\multicolumn{{{count}}}{{c}}{{{escaped(world)}}}")
            rules.append(rf"\cmidrule(lr){{{start}-{start + count - 1}}}")
            start += count
        yield _line(["", *names])
        yield " ".join(rules)
    yield _line(["", *(escaped(column.heading) for column in table.columns)])


def _latex_rows(table: PaperTable) -> Iterator[str]:
    for number, row in enumerate(table.rows):
        if number:
            yield r"\addlinespace"
        yield _line([escaped(row.label), *_each(row, table.columns, _latex_rate)])
        yield _line(["", *_each(row, table.columns, _latex_interval)])


def _each(
    row: Row,
    columns: Sequence[Column],
    write: Callable[[Cell], str],
) -> Iterator[str]:
    for column in columns:
        cell = row.cells.get(column)
        yield "" if cell is None else write(cell)


def _latex_rate(cell: Cell) -> str:
    rate = f"{100 * cell.rate:.1f}"
    text = rf"\textbf{{{rate}}}" if cell.is_best else rate
    if cell.between_runs is not None:
        text += rf"{{\scriptsize\,$\pm$\,{100 * cell.between_runs:.1f}}}"
    return text + escaped(cell.mark)


def _latex_interval(cell: Cell) -> str:
    return rf"{{\scriptsize [{100 * cell.low:.0f}, {100 * cell.high:.0f}]}}"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _markdown_cell(cell: Cell | None) -> str:
    if cell is None:
        return "-"
    rate = f"{100 * cell.rate:.1f}"
    text = f"**{rate}**" if cell.is_best else rate
    if cell.between_runs is not None:
        text += f" ± {100 * cell.between_runs:.1f}"
    return f"{text}{cell.mark} [{100 * cell.low:.0f}, {100 * cell.high:.0f}]"


def _numbers(cell: Cell | None) -> list[str]:
    if cell is None:
        return [""] * 5
    shares = (cell.rate, cell.low, cell.high, cell.between_runs)
    percent = ["" if share is None else f"{round(100 * share, 4):g}" for share in shares]
    return [*percent, str(cell.tasks)]
