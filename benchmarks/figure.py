"""A figure of rates that go with something, as SVG: plots side by side, a line with 95% intervals for each agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT, PLOT_TOP, PLOT_BOTTOM = 480, 500, 66, 330
STROKES = (
    ("#0072b2", ""),
    ("#e69f00", 'stroke-dasharray="8 3"'),
    ("#009e73", 'stroke-dasharray="2 3"'),
    ("#cc79a7", 'stroke-dasharray="8 3 2 3"'),
    ("#d55e00", ""),
)


class Point(NamedTuple):
    """A rate with its interval, each from 0 to 1."""

    rate: float
    low: float
    high: float


class Panel(NamedTuple):
    """One plot.

    Attributes:
        title: What stands above it.
        axis: What stands below it.
        at: What stands at each place of the axis.
        lines: By name, a point for each place.
    """

    title: str
    axis: str
    at: Sequence[str]
    lines: dict[str, Sequence[Point]]


def figure(heading: str, panels: Sequence[Panel]) -> str:
    """Return plots side by side as SVG."""
    width = WIDTH * len(panels)
    drawn = [panel(one, WIDTH * number) for number, one in enumerate(panels)]
    ground = f'<rect width="{width}" height="{HEIGHT}" fill="#ffffff"/>'
    size = f'viewBox="0 0 {width} {HEIGHT}" font-family="sans-serif" fill="#222222"'
    title = text(width / 2, 22, heading, "middle", 15)
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{ground}{title}{"".join(drawn)}</svg>\n'


def panel(of: Panel, left: int) -> str:
    """Return one plot."""
    step = (WIDTH - 90) / (len(of.at) - 1)
    drawn = [
        text(left + WIDTH / 2, 50, of.title, "middle"),
        text(left + WIDTH / 2, PLOT_BOTTOM + 38, of.axis, "middle"),
    ]
    for percent in range(0, 101, 20):
        y = place(percent / 100)
        drawn.append(path(f"M{left + 45} {y:.1f}H{left + WIDTH - 20}", "#dddddd"))
        drawn.append(text(left + 38, y + 4, str(percent), "end"))
    for number, name in enumerate(of.at):
        drawn.append(text(left + 55 + number * step, PLOT_BOTTOM + 18, name, "middle"))
    for number, (name, points) in enumerate(of.lines.items()):
        colour, dash = STROKES[number]
        # Lines that coincide stay visible beside each other.
        at = [left + 55 + place_on_axis * step + 2 * (number - 2) for place_on_axis in range(len(of.at))]
        drawn += [
            path(f"M{x:.1f} {place(one.low):.1f}V{place(one.high):.1f}", colour)
            for x, one in zip(at, points, strict=True)
        ]
        line = " ".join(f"{x:.1f},{place(one.rate):.1f}" for x, one in zip(at, points, strict=True))
        drawn.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" {dash}/>')
        y = PLOT_BOTTOM + 62 + 20 * number
        drawn.append(f'<path d="M{left + 60} {y - 4}h34" stroke="{colour}" stroke-width="2" {dash}/>')
        drawn.append(text(left + 102, y, name, "start"))
    return "".join(drawn)


def place(rate: float) -> float:
    """Return how far down a rate stands."""
    return PLOT_BOTTOM - rate * (PLOT_BOTTOM - PLOT_TOP)


def path(way: str, colour: str) -> str:
    """Return a thin line."""
    return f'<path d="{way}" stroke="{colour}"/>'


def text(x: float, y: float, words: str, anchor: str, size: int = 13) -> str:
    """Return words."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{words}</text>'
