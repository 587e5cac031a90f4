"""Plots of runs as SVG text, to stand in a page. Lines and words take the colour of the text around them.

Fills are Okabe and Ito's, which people of any colour vision tell apart, each with a colour for words upon it. Source:
M. Okabe and K. Ito, Color Universal Design, 2002.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from textcraft_gym.evaluation.metrics import ALL, Summary, groups, summarise_by_group
from textcraft_gym.evaluation.report import Runs

SIMULATED = "simulated model"
SHARE = "share of episodes (%)"
WIDTH = 440
LEFT, RIGHT = 64, 44
"""What stays free beside bars for what stands there."""
LONGEST_NAME = 30
"""How many letters of a group's name are shown."""
TITLE = 30
LINE, BAR, RATE_BAR = 20, 16, 14
"""How high a line is, and bars, which stand a line apart, or close together where they are rates."""
LETTER = 7.2
"""About the width of a letter in units of the plot; words are placed before anything has measured them."""


class Colour(NamedTuple):
    """A fill, and what can be read upon it."""

    fill: str
    words: str = "#000"


BLUE, ORANGE, GREEN = Colour("#0072b2", "#fff"), Colour("#e69f00"), Colour("#009e73")
VERMILION, PURPLE, SKY = Colour("#d55e00"), Colour("#cc79a7"), Colour("#56b4e9")
YELLOW, GREY = Colour("#f0e442"), Colour("#9a9a9a")
DISTINCT = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, GREY, YELLOW)
GROWING = (GREY, Colour("#c6dbef"), Colour("#7fb8da"), Colour("#3a87bd", "#fff"), Colour("#10508f", "#fff"))


class Part(NamedTuple):
    """A part of a bar: its length, what it is, the words upon it, and what it says when pointed at."""

    length: float
    colour: Colour
    words: str
    hint: str


class Bar(NamedTuple):
    """A row of parts, with a name before it and words behind it."""

    name: str
    parts: Sequence[Part]
    end: str = ""


class Panel(NamedTuple):
    """The bars of a run, and a line about it."""

    run: str
    bars: Sequence[Bar]
    note: str = ""


class Axis(NamedTuple):
    """What bars that lie side by side are measured by.

    Attributes:
        left: Where 0 stands.
        ticks: The numbers that are marked, from 0 on.
    """

    left: float
    ticks: Sequence[float]

    @property
    def scale(self) -> float:
        """How long 1 is."""
        return (WIDTH - RIGHT - self.left) / self.ticks[-1]

    def at(self, number: float) -> float:
        """Where a number stands."""
        return self.left + number * self.scale

    def lines(self, y: float, height: float) -> Markup:
        """Lines through bars, a tick each."""
        ways = "".join(f"M{self.at(tick):.2f} {y:g}v{height:g}" for tick in self.ticks)
        return _element("path", d=ways, stroke="currentColor", opacity=0.2)

    def words(self, y: float, unit: str) -> list[Markup]:
        """What stands below the bars."""
        numbers = [_words(self.at(tick), y + 14, f"{tick:g}", text_anchor="middle") for tick in self.ticks]
        return [*numbers, _words(self.at(self.ticks[-1] / 2), y + 34, unit, text_anchor="middle")]


def success_by_group(runs: Runs, simulated: Collection[str] = ()) -> Markup:
    """Return bars of the share of episodes won, by group and run, with 95% Wilson intervals.

    Args:
        runs: Summaries by group of one run or more.
        simulated: The runs that are marked as a simulated model's.
    """
    names = [*groups(runs.values()), ALL]
    axis = Axis(_left(names), _ticks(100.0))
    drawn: list[Markup] = []
    y, height = TITLE, RATE_BAR * len(runs)
    for name in names:
        drawn += [axis.lines(y - 2, height + 4), _bar_name(name, axis.left, y + height / 2 + 4)]
        for number, (run, by_group) in enumerate(runs.items()):
            if name in by_group and by_group[name].rate is not None:
                hint = f"{run}, {name}: {_won(by_group[name])}"
                drawn += _rate_bar(by_group[name], axis, y + RATE_BAR * number, _colour(number), hint)
        y += height + 10
    drawn += axis.words(y - 6, "episodes won (%)")
    y += 42
    for number, run in enumerate(runs):
        drawn += [_swatch(0, y, _colour(number)), _name(run, 20, y + 11, simulated)]
        y += LINE
    return _plot("Success by group, with 95% Wilson intervals", y, drawn)


def calls_by_group(runs: Runs, simulated: Collection[str] = ()) -> Markup:
    """Return bars of the mean number of calls to models, by run and group, stacked by role."""
    roles = list(dict.fromkeys(role for by_group in runs.values() for role in by_group[ALL].calls))
    colours = {role: _colour(number) for number, role in enumerate(roles)}

    def bar(run: str, name: str, summary: Summary) -> Bar:
        parts = [
            Part(mean, colours[role], f"{mean:.1f}", f"{run}, {name}: {mean:.1f} calls of the {role}")
            for role, mean in summary.calls.items()
        ]
        return Bar(name, parts, f"{sum(summary.calls.values()):.1f}")

    panels = [Panel(run, [bar(run, *item) for item in by_group.items()]) for run, by_group in runs.items()]
    return _stacked("Calls to models by group", "mean calls an episode", panels, colours, simulated)


def k_max_by_group(runs: Mapping[str, Sequence[Mapping[str, Any]]], simulated: Collection[str] = ()) -> Markup:
    """Return bars of the share of episodes that went down to each level of decomposition, by run and group.

    Args:
        runs: Episode records by run.
        simulated: The runs that are marked as a simulated model's.
    """
    played = {run: [record for record in records if not record.get("error")] for run, records in runs.items()}
    levels = sorted({record["k_max"] for records in played.values() for record in records})
    colours = {level: GROWING[min(level, len(GROWING) - 1)] for level in levels}

    def bar(run: str, name: str, records: Sequence[Mapping[str, Any]]) -> Bar:
        reached = Counter(record["k_max"] for record in records if name in (record["group"], ALL))
        parts = [
            _share(reached[level], reached.total(), colours[level], f"{run}, {name}", f"went down to level {level}")
            for level in levels
        ]
        return Bar(name, parts, f"n {reached.total()}")

    panels = [
        Panel(run, [bar(run, name, records) for name in summarise_by_group(records)]) for run, records in played.items()
    ]
    legend = {f"level {level}": colour for level, colour in colours.items()}
    return _stacked("Deepest level of decomposition (k_max)", SHARE, panels, legend, simulated)


def claims_and_reward(runs: Runs, simulated: Collection[str] = ()) -> Markup:
    """Return a bar a run of what its agent took to be won, against what was."""
    colours = {
        "claimed and won": GREEN,
        "claimed and lost": VERMILION,
        "not claimed and won": SKY,
        "not claimed and lost": GREY,
    }

    def panel(run: str, summary: Summary) -> Panel:
        right, claimed, won, whole = summary.rightly_claimed, summary.claimed, summary.won, summary.episodes
        counts = zip(colours.items(), (right, claimed - right, won - right, whole - claimed - won + right), strict=True)
        parts = [_share(count, whole, colour, run, name) for (name, colour), count in counts]
        note = f"precision {_percent(summary.precision)}, recall {_percent(summary.recall)}"
        return Panel(run, [Bar(ALL, parts, f"n {whole}")], note)

    panels = [panel(run, by_group[ALL]) for run, by_group in runs.items()]
    return _stacked("What agents took to be won, and what was", SHARE, panels, colours, simulated)


def _share(count: int, whole: int, colour: Colour, whose: str, what: str) -> Part:
    percent = 100 * count / whole if whole else 0.0
    return Part(percent, colour, f"{percent:.0f}%", f"{whose}: {count} of {whole} {what}")


def _stacked(
    title: str, unit: str, panels: Sequence[Panel], legend: Mapping[str, Colour], simulated: Collection[str]
) -> Markup:
    """Lay out runs one below the other, so that their names have room and their bars one scale."""
    bars = [bar for panel in panels for bar in panel.bars]
    longest = max((sum(part.length for part in bar.parts) for bar in bars), default=0.0)
    axis = Axis(_left(bar.name for bar in bars), _ticks(100.0 if unit == SHARE else longest))
    drawn, y = _legend(legend, TITLE)
    for panel in panels:
        drawn.append(_name(panel.run, 0, y + 18, simulated))
        if panel.note:
            y += LINE
            drawn.append(_words(0, y + 16, panel.note, opacity=0.75))
        y += LINE + 6
        height = LINE * len(panel.bars)
        drawn.append(axis.lines(y - 2, height))
        for number, bar in enumerate(panel.bars):
            drawn += _bar(bar, axis, y + LINE * number, BAR)
        y += height
    return _plot(title, y + 42, [*drawn, *axis.words(y, unit)])


def _bar(bar: Bar, axis: Axis, y: float, height: float) -> list[Markup]:
    drawn, x = [_bar_name(bar.name, axis.left, y + 12)], axis.left
    for part in bar.parts:
        width = part.length * axis.scale
        if width:
            drawn.append(_rect(x, y, width, height, part.colour, part.hint))
        if width > len(part.words) * LETTER + 4:
            drawn.append(_words(x + width / 2, y + 12, part.words, text_anchor="middle", fill=part.colour.words))
        x += width
    return [*drawn, _words(x + 6, y + 12, bar.end)]


def _bar_name(name: str, left: float, y: float) -> Markup:
    return _words(left - 8, y, _cut(name, LONGEST_NAME), text_anchor="end")


def _left(names: Iterable[str]) -> float:
    """Return how much room the names of bars take."""
    longest = max((len(_cut(name, LONGEST_NAME)) for name in names), default=0)
    return max(LEFT, 8 + LETTER * longest)


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _legend(legend: Mapping[str, Colour], y: float) -> tuple[list[Markup], float]:
    """Return swatches with their words, in as many lines as they need, and where what follows begins."""
    drawn, x = [], 0.0
    for words, colour in legend.items():
        width = 32 + LETTER * len(words)
        if x and x + width > WIDTH:
            x, y = 0.0, y + LINE
        drawn += [_swatch(x, y, colour), _words(x + 18, y + 11, words)]
        x += width
    return drawn, y + LINE


def _rate_bar(summary: Summary, axis: Axis, y: float, colour: Colour, hint: str) -> list[Markup]:
    """A bar as long as the rate, over it a line from one end of the interval to the other, and behind it the rate."""
    percent = 100 * (summary.rate or 0.0)
    middle, cap = y + RATE_BAR / 2, RATE_BAR / 5
    low, high = (axis.at(100 * end) for end in (summary.low, summary.high))
    ends = "".join(f"M{end:.2f} {middle - cap:.2f}v{2 * cap:.2f}" for end in (low, high))
    interval = _element("path", d=f"M{low:.2f} {middle:.2f}H{high:.2f}{ends}", fill="none", stroke="currentColor")
    bar = _rect(axis.left, y, percent * axis.scale, RATE_BAR, colour, hint)
    return [_element("g", bar, interval), _words(WIDTH, middle + 4, f"{percent:.0f}%", text_anchor="end")]


def _ticks(longest: float, most: int = 6) -> list[float]:
    """Return round numbers at equal distances from 0 to the first that is ``longest`` or more."""
    step = next(
        digit * 10.0**power for power in range(-3, 9) for digit in (1, 2, 5) if digit * 10.0**power * most >= longest
    )
    count = max(1, -int(-longest // step))
    return [round(step * number, 3) for number in range(count + 1)]


def _name(run: str, x: float, y: float, simulated: Collection[str]) -> Markup:
    name = _element("tspan", _cut(run, 30 if run in simulated else 44), font_weight=600)
    mark = _element("tspan", f" {SIMULATED}", fill="var(--simulated, currentColor)") if run in simulated else ""
    return _words(x, y, name + mark)


def _won(summary: Summary) -> str:
    interval = f"95% interval {100 * summary.low:.1f} to {100 * summary.high:.1f}%"
    return f"{summary.won} of {summary.episodes} won, {_percent(summary.rate)} ({interval})"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _colour(number: int) -> Colour:
    return DISTINCT[number % len(DISTINCT)]


def _plot(title: str, height: float, drawn: Iterable[Markup]) -> Markup:
    return _element(
        "svg",
        _element("title", title),
        _words(0, 16, title, font_size=15, font_weight=600),
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height:g}",
        role="img",
        aria_label=title,
        fill="currentColor",
        font_size=13,
    )


def _swatch(x: float, y: float, colour: Colour) -> Markup:
    return _rect(x, y, 12, 12, colour)


def _rect(x: float, y: float, width: float, height: float, colour: Colour, hint: str = "") -> Markup:
    inside = [_element("title", hint)] if hint else []
    return _element("rect", *inside, x=x, y=y, width=width, height=height, fill=colour.fill)


def _words(x: float, y: float, words: str, **attributes: str | float) -> Markup:
    return _element("text", words, x=x, y=y, **attributes)


def _element(tag: str, *inside: str, **attributes: str | float) -> Markup:
    """Return an element; text inside it and its attributes are escaped, markup inside it stays."""
    written = Markup("").join(
        Markup(' {}="{}"').format(name.replace("_", "-"), f"{value:.6g}" if isinstance(value, float) else value)
        for name, value in attributes.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(tag, written, Markup("").join(inside))
