"""Plots of runs as inline SVG, each with its legend as a list beside it.

Lines and text inherit the colour of the page. Fills are from the colour-blind-safe palette of Okabe
and Ito, each with a readable text colour.
Source: M. Okabe and K. Ito, Color Universal Design, 2002.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any, NamedTuple

from markupsafe import Markup

from textcraft_gym.errors import require
from textcraft_gym.reports.metrics import ALL, Summary, groups, summarise_by_group
from textcraft_gym.reports.paper_table import TOLD, Cell, Column, PaperTable, Row
from textcraft_gym.reports.tables import Runs, number, percent

SHARE = "share of episodes (%)"
WIDTH = 440
LEFT, RIGHT = 64, 52
"""Margins: at least ``LEFT`` for the names of bars, and ``RIGHT`` for the numbers behind them."""
LONGEST_NAME = 30
"""Maximum number of characters shown of a group's name."""
MARGIN = 8
"""Margin on both sides of a figure."""
LONGEST_LABEL = 56
"""Maximum number of characters shown of a row's label in a figure."""
NOTE_LETTERS = 82
"""Maximum number of characters in a line of a note below a figure."""
TITLE = 30
LINE, BAR, RATE_BAR = 20, 16, 14
"""Heights: of a line, of a bar (one a line), and of a success rate's bar (without a gap)."""
LETTER = 7.2
"""Estimated width of a character: text is laid out without font metrics."""


class Colour(NamedTuple):
    """A fill colour, and a text colour that is readable on it."""

    fill: str
    words: str = "#000"


BLUE, ORANGE, GREEN = Colour("#0072b2", "#fff"), Colour("#e69f00"), Colour("#009e73")
VERMILION, PURPLE, SKY = Colour("#d55e00"), Colour("#cc79a7"), Colour("#56b4e9")
YELLOW, GREY = Colour("#f0e442"), Colour("#9a9a9a")
DISTINCT = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, GREY, YELLOW)
GROWING = (GREY, Colour("#c6dbef"), Colour("#7fb8da"), Colour("#3a87bd"), Colour("#10508f", "#fff"))

CLAIMS = {
    "claimed and won": GREEN,
    "claimed and lost": VERMILION,
    "not claimed and won": SKY,
    "won as the game ended it": BLUE,
    "not claimed and lost": GREY,
}


class Part(NamedTuple):
    """A segment of a stacked bar: its length, its colour, its label and its tooltip."""

    length: float
    colour: Colour
    words: str
    hint: str


class Bar(NamedTuple):
    """A stacked bar, with its name on the left and a label on the right."""

    name: str
    parts: Sequence[Part]
    end: str = ""


class Panel(NamedTuple):
    """The bars of a run, and a note below its name."""

    run: str
    bars: Sequence[Bar]
    note: str = ""


class Axis(NamedTuple):
    """The horizontal axis of a plot.

    Attributes:
        left: The x coordinate of 0.
        ticks: The values that are marked, in ascending order from 0.
    """

    left: float
    ticks: Sequence[float]

    @property
    def scale(self) -> float:
        """Units of the plot per unit of the value."""
        return (WIDTH - RIGHT - self.left) / self.ticks[-1]

    def at(self, value: float) -> float:
        """Return the x coordinate of a value."""
        return self.left + value * self.scale

    def lines(self, y: float, height: float) -> Markup:
        """Return the vertical grid lines, one per tick."""
        path = "".join(f"M{self.at(tick):.2f} {y:g}v{height:g}" for tick in self.ticks)
        return _element("path", d=path, stroke="currentColor", opacity=0.2)

    def words(self, y: float, unit: str) -> list[Markup]:
        """Return the tick labels and the axis label."""
        words = []
        for tick in self.ticks:
            words.append(_text(self.at(tick), y + 14, f"{tick:g}", text_anchor="middle"))
        words.append(_text(self.at(self.ticks[-1] / 2), y + 34, unit, text_anchor="middle"))
        return words


def success_by_group(runs: Runs) -> Markup:
    """Return bars of the share of episodes won, by group and run, with 95% Wilson intervals.

    Args:
        runs: Summaries by group of one run or more.
    """
    names = [*groups(runs.values()), ALL]
    axis = Axis(_left(names), _ticks(100.0))
    drawn: list[Markup] = []
    y, height = TITLE, RATE_BAR * len(runs)
    for name in names:
        drawn += [axis.lines(y - 2, height + 4), _bar_name(name, axis.left, y + height / 2 + 4)]
        for index, (run, by_group) in enumerate(runs.items()):
            # A run may have no episode in this group, or only failed ones, which have no rate.
            if name in by_group and by_group[name].rate is not None:
                hint = f"{run}, {name}: {_won(by_group[name])}"
                drawn += _rate_bar(by_group[name], axis, y + RATE_BAR * index, _colour(index), hint)
        y += height + 10
    drawn += axis.words(y - 6, "episodes won (%)")
    legend = {run: _colour(index) for index, run in enumerate(runs)}
    return _plot("Success by group, with 95% Wilson intervals", y + 36, drawn, legend)


def figure(table: PaperTable) -> str:
    """Return the success of a table for a paper as an image by itself, worlds one below the other.

    It is black on white in a font that every system has, and holds its legend and its notes on
    agents.
    """
    axis = Axis(_left(column.heading for column in table.columns), _ticks(100.0))
    drawn: list[Markup] = []
    y = 8.0
    for index, row in enumerate(table.rows):
        drawn.append(_rect(0, y, BAR - 4, BAR - 4, _colour(index)))
        drawn.append(_text(BAR + 4, y + 11, _cut(row.label, LONGEST_LABEL)))
        y += LINE
    for world in table.worlds:
        y += 12
        if len(table.worlds) > 1:
            drawn.append(_text(0, y + 12, world, font_weight=600))
            y += LINE + 4
        for column in table.columns:
            if column.world == world:
                y = _grouped(drawn, column, table.rows, axis, y)
        drawn += axis.words(y - 6, "success (%)")
        y += 36
    for note in table.notes:
        if note.startswith(TOLD):
            for line in wrap(note, NOTE_LETTERS):
                drawn.append(_text(0, y + 12, line, font_size=11))
                y += LINE - 4
    width = WIDTH + 2 * MARGIN
    image = _element(
        "svg",
        _element(
            "rect",
            x=-MARGIN,
            width=width,
            height=y,
            fill="#fff",
        ),
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"{-MARGIN} 0 {width} {y:g}",
        width=width,
        height=y,
        color="#000",
        fill="#000",
        font_family="Helvetica, Arial, sans-serif",
        font_size=13,
    )
    return f"{image}\n"


def as_pdf(image: str) -> bytes:
    """Return an SVG image as a PDF.

    Raises:
        MissingExtra: Without the package that draws it.
        ValueError: Without the library that the package draws with.
    """
    try:
        require("pdf", "cairosvg")
    except OSError as error:
        raise ValueError("a PDF needs the library cairo of the system; an SVG does not") from error
    import cairosvg

    pdf: bytes = cairosvg.svg2pdf(bytestring=image.encode())
    return pdf


def _grouped(
    drawn: list[Markup],
    column: Column,
    rows: Sequence[Row],
    axis: Axis,
    y: float,
) -> float:
    """Draw the bars of a group, one a row of the table, and return where the next begins."""
    height = RATE_BAR * len(rows)
    drawn += [
        axis.lines(y - 2, height + 4),
        _bar_name(column.heading, axis.left, y + height / 2 + 4),
    ]
    for index, row in enumerate(rows):
        if cell := row.cells.get(column):
            hint = f"{row.label}, {column.heading}: {percent(cell.rate)} of {cell.tasks} tasks"
            drawn += _rate_bar(cell, axis, y + RATE_BAR * index, _colour(index), hint)
    return y + height + 10


def calls_by_group(runs: Runs) -> Markup:
    """Return bars of the mean number of calls to models, by run and group, stacked by role."""
    roles: dict[str, None] = {}
    for by_group in runs.values():
        roles |= dict.fromkeys(by_group[ALL].calls)
    colours = {role: _colour(index) for index, role in enumerate(roles)}

    panels = []
    for run, by_group in runs.items():
        bars = []
        for name, summary in by_group.items():
            parts = []
            for role, mean in summary.calls.items():
                hint = f"{run}, {name}: {mean:.1f} calls of the {role}"
                parts.append(Part(mean, colours[role], f"{mean:.1f}", hint))
            bars.append(Bar(name, parts, f"{sum(summary.calls.values()):.1f}"))
        panels.append(Panel(run, bars))
    return _stacked("Calls to models by group", "mean calls per episode", panels, colours)


def k_max_by_group(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> Markup:
    """Return bars of the share of episodes by their deepest decomposition, by run and group.

    Args:
        runs: Episode records by run.
    """
    played: dict[str, list[Mapping[str, Any]]] = {}
    reached: set[int] = set()
    for run, records in runs.items():
        played[run] = [record for record in records if not record.get("error")]
        reached.update(record["k_max"] for record in played[run])

    # Levels beyond the last colour share it: deeper decompositions are rare.
    colours = {level: GROWING[min(level, len(GROWING) - 1)] for level in sorted(reached)}
    panels = []
    for run, records in played.items():
        bars = [_depths(run, group, records, colours) for group in summarise_by_group(records)]
        panels.append(Panel(run, bars))
    legend = {f"level {level}": colour for level, colour in colours.items()}
    return _stacked("Depth used, the deepest level of decomposition", SHARE, panels, legend)


def _depths(
    run: str,
    group: str,
    records: Sequence[Mapping[str, Any]],
    colours: Mapping[int, Colour],
) -> Bar:
    """Return the bar of a group: the share of its episodes at each level."""
    levels = [record["k_max"] for record in records if group in (record["group"], ALL)]
    counts = Counter(levels)
    parts = []
    for level, colour in colours.items():
        outcome = f"went down to level {level}"
        parts.append(_share(counts[level], len(levels), colour, f"{run}, {group}", outcome))
    return Bar(group, parts, f"n {len(levels)}")


def claims_and_reward(runs: Runs) -> Markup:
    """Return a bar per run of the agent's claims of success against the outcomes."""
    panels = [_claims(run, by_group[ALL]) for run, by_group in runs.items()]
    return _stacked("Claims of success against outcomes", SHARE, panels, CLAIMS)


def _claims(run: str, summary: Summary) -> Panel:
    right, by_game = summary.rightly_claimed, summary.won_by_game
    total, claimed = summary.episodes, summary.claimed or 0
    # Episodes both claimed and won are subtracted twice, so they are added back.
    neither = total - claimed - summary.won + right
    # In the order of the colours.
    counts = (right, claimed - right, summary.won - right - by_game, by_game, neither)
    parts = []
    for (name, colour), count in zip(CLAIMS.items(), counts, strict=True):
        parts.append(_share(count, total, colour, run, name))
    missed = None if summary.recall is None else 1 - summary.recall
    wrong = number(summary.wrongly_claimed, digits=0)
    note = f"wrong {wrong} of {claimed}, missed {percent(missed)}"
    return Panel(run, [Bar(ALL, parts, f"n {total}")], note)


def _share(
    count: int,
    total: int,
    colour: Colour,
    bar: str,
    outcome: str,
) -> Part:
    share = count / total if total else 0.0
    return Part(100 * share, colour, percent(share), f"{bar}: {count} of {total} {outcome}")


def _stacked(
    title: str,
    unit: str,
    panels: Sequence[Panel],
    legend: Mapping[str, Colour],
) -> Markup:
    """Return a plot of stacked bars: runs one below the other, on one scale."""
    bars = [bar for panel in panels for bar in panel.bars]
    longest = max((sum(part.length for part in bar.parts) for bar in bars), default=0.0)
    axis = Axis(_left(bar.name for bar in bars), _ticks(100.0 if unit == SHARE else longest))
    # Shares fill the axis to 100 even if every bar is shorter, so that plots of different runs can
    # be compared.
    drawn: list[Markup] = []
    y = TITLE - 8
    for panel in panels:
        drawn.append(_text(0, y + 18, _element("tspan", _cut(panel.run, 44), font_weight=600)))
        if panel.note:
            y += LINE
            drawn.append(_text(0, y + 16, panel.note, opacity=0.75))
        y += LINE + 6
        height = LINE * len(panel.bars)
        drawn.append(axis.lines(y - 2, height))
        for index, bar in enumerate(panel.bars):
            drawn += _bar(bar, axis, y + LINE * index, BAR)
        y += height
    return _plot(title, y + 42, [*drawn, *axis.words(y, unit)], legend)


def _bar(
    bar: Bar,
    axis: Axis,
    y: float,
    height: float,
) -> list[Markup]:
    drawn, x = [_bar_name(bar.name, axis.left, y + 12)], axis.left
    for part in bar.parts:
        width = part.length * axis.scale
        if width:
            drawn.append(_rect(x, y, width, height, part.colour, part.hint))
        # A label that does not fit is left to the tooltip; the bar's end has that of a single part.
        if part.words != bar.end and width > len(part.words) * LETTER + 4:
            middle, fill = x + width / 2, part.colour.words
            drawn.append(
                _text(
                    middle,
                    y + 12,
                    part.words,
                    text_anchor="middle",
                    fill=fill,
                )
            )
        x += width
    return [*drawn, _text(x + 6, y + 12, bar.end)]


def _bar_name(name: str, left: float, y: float) -> Markup:
    return _text(left - 8, y, _cut(name, LONGEST_NAME), text_anchor="end")


def _left(names: Iterable[str]) -> float:
    """Return the width of the margin for the names of bars."""
    longest = max((len(_cut(name, LONGEST_NAME)) for name in names), default=0)
    return max(LEFT, 8 + LETTER * longest)


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _legend(legend: Mapping[str, Colour]) -> Markup:
    items = []
    for label, colour in legend.items():
        swatch = _element("span", class_="swatch", style=f"background: {colour.fill}")
        items.append(_element("li", swatch, _element("span", label, class_="label")))
    return _element("ul", *items, class_="legend", aria_label="Legend")


def _rate_bar(
    success: Summary | Cell,
    axis: Axis,
    y: float,
    colour: Colour,
    hint: str,
) -> list[Markup]:
    """Return a bar of a success rate with its interval as an error bar, and the rate in percent."""
    rate = success.rate or 0.0
    middle, cap = y + RATE_BAR / 2, RATE_BAR / 5
    low, high = (axis.at(100 * end) for end in (success.low, success.high))
    ends = "".join(f"M{end:.2f} {middle - cap:.2f}v{2 * cap:.2f}" for end in (low, high))
    interval = _element(
        "path",
        d=f"M{low:.2f} {middle:.2f}H{high:.2f}{ends}",
        fill="none",
        stroke="currentColor",
    )
    bar = _rect(axis.left, y, 100 * rate * axis.scale, RATE_BAR, colour, hint)
    return [
        _element("g", bar, interval),
        _text(WIDTH, middle + 4, percent(rate), text_anchor="end"),
    ]


def _ticks(longest: float, most: int = 6) -> list[float]:
    """Return even, round numbers from 0 to ``longest`` or more, in at most ``most`` steps."""
    # Tick distances are 1, 2 or 5 times a power of ten.
    least = max(-3, math.floor(math.log10(max(longest, 0.001) / most)))
    distances = (digit * 10.0**power for power in (least, least + 1) for digit in (1, 2, 5))
    step = next(distance for distance in distances if distance * most >= longest)
    count = max(1, math.ceil(longest / step))
    return [round(step * index, 3) for index in range(count + 1)]


def _won(summary: Summary) -> str:
    interval = f"95% interval {100 * summary.low:.1f} to {100 * summary.high:.1f}%"
    return f"{summary.won} of {summary.episodes} won, {percent(summary.rate)} ({interval})"


def _colour(index: int) -> Colour:
    return DISTINCT[index % len(DISTINCT)]


def _plot(
    title: str,
    height: float,
    drawn: Iterable[Markup],
    legend: Mapping[str, Colour],
) -> Markup:
    image = _element(
        "svg",
        _element("title", title),
        _text(
            0,
            16,
            title,
            font_size=15,
            font_weight=600,
        ),
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height:g}",
        role="img",
        aria_label=title,
        fill="currentColor",
        font_size=13,
    )
    return _element("div", image, _legend(legend), class_="plot")


def _rect(
    x: float,
    y: float,
    width: float,
    height: float,
    colour: Colour,
    hint: str = "",
) -> Markup:
    children = [_element("title", hint)] if hint else []
    return _element(
        "rect",
        *children,
        x=x,
        y=y,
        width=width,
        height=height,
        fill=colour.fill,
    )


def _text(
    x: float,
    y: float,
    text: str,
    **attributes: str | float,
) -> Markup:
    return _element(
        "text",
        text,
        x=x,
        y=y,
        **attributes,
    )


def _element(
    tag: str,
    *children: str,
    **attributes: str | float,
) -> Markup:
    """Return an element; text and attributes are escaped, ``Markup`` not. ``class_`` is class."""
    attribute_text = Markup()
    for name, value in attributes.items():
        written = f"{value:.6g}" if isinstance(value, float) else value
        key = name.rstrip("_").replace("_", "-")
        attribute_text += Markup(' {}="{}"').format(key, written)
    return Markup("<{0}{1}>{2}</{0}>").format(tag, attribute_text, Markup("").join(children))
