"""Line plots of rates side by side as SVG, with 95% intervals."""

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
        title: Title above the plot.
        axis: Label of the horizontal axis.
        ticks: Labels of the ticks.
        lines: Points of each line by its name, one per tick.
    """

    title: str
    axis: str
    ticks: Sequence[str]
    lines: dict[str, Sequence[Point]]


def figure(heading: str, panels: Sequence[Panel]) -> str:
    """Return plots side by side as SVG."""
    width = WIDTH * len(panels)
    plots = [draw_panel(panel, WIDTH * index) for index, panel in enumerate(panels)]
    background = f'<rect width="{width}" height="{HEIGHT}" fill="#ffffff"/>'
    size = f'viewBox="0 0 {width} {HEIGHT}" font-family="sans-serif" fill="#222222"'
    title = text(width / 2, 22, heading, "middle", 15)
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{background}{title}{"".join(plots)}</svg>\n'


def draw_panel(panel: Panel, left: int) -> str:
    """Return one plot."""
    step = (WIDTH - 90) / (len(panel.ticks) - 1)
    parts = [
        text(left + WIDTH / 2, 50, panel.title, "middle"),
        text(left + WIDTH / 2, PLOT_BOTTOM + 38, panel.axis, "middle"),
    ]
    for percent in range(0, 101, 20):
        y = height(percent / 100)
        parts.append(path(f"M{left + 45} {y:.1f}H{left + WIDTH - 20}", "#dddddd"))
        parts.append(text(left + 38, y + 4, str(percent), "end"))
    for index, name in enumerate(panel.ticks):
        parts.append(text(left + 55 + index * step, PLOT_BOTTOM + 18, name, "middle"))
    for index, (name, points) in enumerate(panel.lines.items()):
        colour, dash = STROKES[index]
        # A small offset keeps coinciding lines visible.
        xs = [left + 55 + tick * step + 2 * (index - 2) for tick in range(len(panel.ticks))]
        parts += [
            path(f"M{x:.1f} {height(point.low):.1f}V{height(point.high):.1f}", colour)
            for x, point in zip(xs, points, strict=True)
        ]
        line = " ".join(f"{x:.1f},{height(point.rate):.1f}" for x, point in zip(xs, points, strict=True))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" {dash}/>')
        y = PLOT_BOTTOM + 62 + 20 * index
        parts.append(f'<path d="M{left + 60} {y - 4}h34" stroke="{colour}" stroke-width="2" {dash}/>')
        parts.append(text(left + 102, y, name, "start"))
    return "".join(parts)


def height(rate: float) -> float:
    """Return the y coordinate of a rate."""
    return PLOT_BOTTOM - rate * (PLOT_BOTTOM - PLOT_TOP)


def path(data: str, colour: str) -> str:
    """Return a thin line."""
    return f'<path d="{data}" stroke="{colour}"/>'


def text(x: float, y: float, words: str, anchor: str, size: int = 13) -> str:
    """Return a text element."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{words}</text>'
