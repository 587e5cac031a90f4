"""Plots of runs as SVG text, to stand in a page. Lines and words take the colour of the text around them.

Fills are Okabe and Ito's, which people of any colour vision tell apart, each with a colour for words upon it. Source:
M. Okabe and K. Ito, Color Universal Design, 2002.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from textcraft_gym.evaluation.metrics import Summary
from textcraft_gym.evaluation.report import Runs

SIMULATED = "simulated model"
SHARE = "share of episodes (%)"
WIDTH = 440
TITLE = 30
LINE = 20
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


class Group(NamedTuple):
    """The bars of a run, and a line about it."""

    run: str
    bars: Sequence[Bar]
    note: str = ""


def success_by_depth(runs: Runs, simulated: Collection[str] = ()) -> Markup:
    """Return bars of the share of episodes won, by depth and run, with 95% Wilson intervals.

    Args:
        runs: Summaries by depth of one run or more.
        simulated: The runs that are marked as a simulated model's.
    """
    left, height = 44, 200
    bottom = TITLE + height
    depths = _depths(runs)
    band = (WIDTH - left) / len(depths)
    width = min(32.0, 0.8 * band / len(runs))
    drawn = [_rate_line(percent, left, bottom - percent / 100 * height) for percent in range(0, 101, 20)]
    turned = f"translate(12 {TITLE + height // 2}) rotate(-90)"
    drawn.append(_element("g", _words(0, 0, "episodes won (%)", text_anchor="middle"), transform=turned))
    for place, depth in enumerate(depths):
        middle = left + (place + 0.5) * band
        drawn.append(_words(middle, bottom + 18, _depth(depth), text_anchor="middle"))
        for number, (run, by_depth) in enumerate(runs.items()):
            if depth in by_depth and by_depth[depth].rate is not None:
                x = middle + (number - len(runs) / 2) * width
                hint = f"{run}, {_depth(depth)}: {_won(by_depth[depth])}"
                drawn.append(_rate_bar(by_depth[depth], x, bottom, width, height, _colour(number), hint))
    y = bottom + 32
    for number, run in enumerate(runs):
        drawn += [_swatch(left, y, _colour(number)), _name(run, left + 20, y + 11, simulated)]
        y += LINE
    return _plot("Success by depth, with 95% Wilson intervals", y, drawn)


def calls_by_depth(runs: Runs, simulated: Collection[str] = ()) -> Markup:
    """Return bars of the mean number of calls to models, by run and depth, stacked by role."""
    roles = list(dict.fromkeys(role for by_depth in runs.values() for role in by_depth["all"].calls))
    colours = {role: _colour(number) for number, role in enumerate(roles)}

    def bar(run: str, depth: str, summary: Summary) -> Bar:
        parts = [
            Part(mean, colours[role], f"{mean:.1f}", f"{run}, {_depth(depth)}: {mean:.1f} calls of the {role}")
            for role, mean in summary.calls.items()
        ]
        return Bar(_depth(depth), parts, f"{sum(summary.calls.values()):.1f}")

    groups = [Group(run, [bar(run, *item) for item in by_depth.items()]) for run, by_depth in runs.items()]
    return _stacked("Calls to models by depth", "mean calls an episode", groups, colours, simulated)


def k_max_by_depth(runs: Mapping[str, Sequence[Mapping[str, Any]]], simulated: Collection[str] = ()) -> Markup:
    """Return bars of the share of episodes that went down to each level of decomposition, by run and depth.

    Args:
        runs: Episode records by run.
        simulated: The runs that are marked as a simulated model's.
    """
    played = {run: [record for record in records if not record.get("error")] for run, records in runs.items()}
    levels = sorted({record["k_max"] for records in played.values() for record in records})
    colours = {level: GROWING[min(level, len(GROWING) - 1)] for level in levels}

    def bar(run: str, depth: str, counts: Counter[int]) -> Bar:
        whole = counts.total()
        parts = [
            _share(counts[level], whole, colours[level], f"{run}, {_depth(depth)}", f"went down to level {level}")
            for level in levels
        ]
        return Bar(_depth(depth), parts, f"n {whole}")

    groups = []
    for run, records in played.items():
        counts = {str(depth): Counter[int]() for depth in sorted({record["depth"] for record in records})}
        for record in records:
            counts[str(record["depth"])][record["k_max"]] += 1
        counts["all"] = sum(counts.values(), Counter[int]())
        groups.append(Group(run, [bar(run, *item) for item in counts.items()]))
    legend = {f"level {level}": colour for level, colour in colours.items()}
    return _stacked("Deepest level of decomposition (k_max)", SHARE, groups, legend, simulated)


def belief_and_reward(runs: Runs, simulated: Collection[str] = ()) -> Markup:
    """Return a bar a run of what its agent took to be won, against what was."""
    colours = {
        "claimed and won": GREEN,
        "claimed and lost": VERMILION,
        "not claimed and won": SKY,
        "not claimed and lost": GREY,
    }

    def group(run: str, summary: Summary) -> Group:
        right, claimed, won, whole = summary.rightly_claimed, summary.claimed, summary.won, summary.episodes
        counts = zip(colours.items(), (right, claimed - right, won - right, whole - claimed - won + right), strict=True)
        parts = [_share(count, whole, colour, run, name) for (name, colour), count in counts]
        note = f"precision {_percent(summary.precision)}, recall {_percent(summary.recall)}"
        return Group(run, [Bar("all", parts, f"n {whole}")], note)

    groups = [group(run, by_depth["all"]) for run, by_depth in runs.items()]
    return _stacked("What agents took to be won, and what was", SHARE, groups, colours, simulated)


def _share(count: int, whole: int, colour: Colour, whose: str, what: str) -> Part:
    percent = 100 * count / whole if whole else 0.0
    return Part(percent, colour, f"{percent:.0f}%", f"{whose}: {count} of {whole} {what}")


def _stacked(
    title: str, unit: str, groups: Sequence[Group], legend: Mapping[str, Colour], simulated: Collection[str]
) -> Markup:
    """Lay out runs one below the other, so that their names have room and their bars one scale."""
    left, right, bar_height = 64, 44, 16
    drawn, y = _legend(legend, TITLE)
    longest = max((sum(part.length for part in bar.parts) for group in groups for bar in group.bars), default=0.0)
    ticks = _ticks(100.0 if unit == SHARE else longest)
    scale = (WIDTH - left - right) / ticks[-1]
    for group in groups:
        drawn.append(_name(group.run, 0, y + 18, simulated))
        if group.note:
            y += LINE
            drawn.append(_words(0, y + 16, group.note, opacity=0.75))
        y += LINE + 6
        height = LINE * len(group.bars)
        lines = "".join(f"M{left + tick * scale:.2f} {y - 2:g}v{height:g}" for tick in ticks)
        drawn.append(_element("path", d=lines, stroke="currentColor", opacity=0.2))
        for number, bar in enumerate(group.bars):
            drawn += _bar(bar, left, y + LINE * number, scale, bar_height)
        y += height
    drawn += [_words(left + tick * scale, y + 14, f"{tick:g}", text_anchor="middle") for tick in ticks]
    drawn.append(_words(left + ticks[-1] * scale / 2, y + 34, unit, text_anchor="middle"))
    return _plot(title, y + 42, drawn)


def _bar(bar: Bar, left: float, y: float, scale: float, height: float) -> list[Markup]:
    drawn, x = [_words(left - 8, y + 12, bar.name, text_anchor="end")], left
    for part in bar.parts:
        width = part.length * scale
        if width:
            drawn.append(_rect(x, y, width, height, part.colour, part.hint))
        if width > len(part.words) * LETTER + 4:
            drawn.append(_words(x + width / 2, y + 12, part.words, text_anchor="middle", fill=part.colour.words))
        x += width
    return [*drawn, _words(x + 6, y + 12, bar.end)]


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


def _rate_line(percent: int, left: float, y: float) -> Markup:
    line = _element("path", d=f"M{left} {y:g}H{WIDTH}", stroke="currentColor", opacity=0.2 if percent else 0.7)
    return line + _words(left - 6, y + 4, str(percent), text_anchor="end")


def _rate_bar(
    summary: Summary, x: float, bottom: float, width: float, height: float, colour: Colour, hint: str
) -> Markup:
    """A bar as high as the rate, and over it a line from one end of the interval to the other."""
    tall = (summary.rate or 0.0) * height
    middle, cap = x + width / 2, width / 5
    low, high = (bottom - end * height for end in (summary.low, summary.high))
    ends = "".join(f"M{middle - cap:.2f} {end:.2f}h{2 * cap:.2f}" for end in (low, high))
    interval = _element("path", d=f"M{middle:.2f} {low:.2f}V{high:.2f}{ends}", fill="none", stroke="currentColor")
    return _element("g", _rect(x, bottom - tall, width, tall, colour, hint), interval)


def _ticks(longest: float, most: int = 6) -> list[float]:
    """Return round numbers at equal distances from 0 to the first that is ``longest`` or more."""
    step = next(
        digit * 10.0**power for power in range(-3, 9) for digit in (1, 2, 5) if digit * 10.0**power * most >= longest
    )
    count = max(1, -int(-longest // step))
    return [round(step * number, 3) for number in range(count + 1)]


def _name(run: str, x: float, y: float, simulated: Collection[str]) -> Markup:
    most = 30 if run in simulated else 44
    name = _element("tspan", run if len(run) <= most else run[: most - 1] + "…", font_weight=600)
    mark = _element("tspan", f" {SIMULATED}", fill="var(--simulated, currentColor)") if run in simulated else ""
    return _words(x, y, name + mark)


def _depths(runs: Runs) -> list[str]:
    depths = {depth for by_depth in runs.values() for depth in by_depth} - {"all"}
    return [*sorted(depths, key=int), "all"]


def _depth(depth: str) -> str:
    return depth if depth == "all" else f"depth {depth}"


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
