"""The figure of a sweep over spans, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from textcraft_gym.evaluation.metrics import ALL
from textcraft_gym.evaluation.sweep import Cell, Found

WIDTH, HEIGHT, PLOT_TOP, PLOT_BOTTOM = 960, 500, 66, 330
STROKES = (
    ("#0072b2", ""),
    ("#e69f00", 'stroke-dasharray="8 3"'),
    ("#009e73", 'stroke-dasharray="2 3"'),
    ("#cc79a7", 'stroke-dasharray="8 3 2 3"'),
    ("#d55e00", ""),
)


def figure(found: Found, spans: Sequence[int], depths: Sequence[int], papers_depth: int) -> str:
    """Return success over span as SVG: the agents with the paper's ``d_max``, and ADaPT at every ``d_max``."""
    agents = {cell.agent: (cell.agent, papers_depth if cell.d_max else None) for cell in found}
    adapt = {f"adapt, d_max {d_max}": ("adapt", d_max) for d_max in depths}
    panels = [
        panel(found, spans, f"Every agent, d_max {papers_depth}", agents, 0),
        panel(found, spans, "ADaPT by d_max", adapt, WIDTH // 2),
    ]
    heading = text(
        WIDTH / 2, 22, "Simulated model: tasks won (%) over its span, with 95% Wilson intervals", "middle", 15
    )
    ground = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" fill="#222222"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{ground}{heading}{"".join(panels)}</svg>\n'


def panel(found: Found, spans: Sequence[int], title: str, lines: dict[str, tuple[str, int | None]], left: int) -> str:
    """Return one plot: a line with intervals for each agent and ``d_max``."""
    step = (WIDTH // 2 - 90) / (len(spans) - 1)
    drawn = [text(left + WIDTH / 4, 50, title, "middle"), text(left + WIDTH / 4, PLOT_BOTTOM + 38, "span", "middle")]
    for percent in range(0, 101, 20):
        y = place(percent / 100)
        drawn.append(path(f"M{left + 45} {y:.1f}H{left + WIDTH // 2 - 20}", "#dddddd"))
        drawn.append(text(left + 38, y + 4, str(percent), "end"))
    for number, span in enumerate(spans):
        drawn.append(text(left + 55 + number * step, PLOT_BOTTOM + 18, str(span), "middle"))
    for number, (name, (agent, d_max)) in enumerate(lines.items()):
        colour, dash = STROKES[number]
        wholes = [found[Cell(agent, d_max, f"simulated:span={span}")][ALL] for span in spans]
        # Lines that coincide stay visible beside each other.
        at = [left + 55 + place_of_span * step + 2 * (number - 2) for place_of_span in range(len(spans))]
        points = " ".join(f"{x:.1f},{place(of.rate or 0):.1f}" for x, of in zip(at, wholes, strict=True))
        drawn += [
            path(f"M{x:.1f} {place(of.low):.1f}V{place(of.high):.1f}", colour) for x, of in zip(at, wholes, strict=True)
        ]
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" {dash}/>')
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
