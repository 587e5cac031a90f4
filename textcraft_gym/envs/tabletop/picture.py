"""The table as a picture in SVG, which needs no other file and runs no script."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from textcraft_gym.envs.tabletop.layout import BACK, FRONT, WIDTH, Item, layout
from textcraft_gym.envs.tabletop.state import State, World

COLUMN, ROW = 9, 44
"""Size of a character's column and of a row, in pixels."""

_PAINT = {
    "blue": "#4e79a7",
    "red": "#e15759",
    "green": "#59a14f",
    "yellow": "#edc948",
    "gray": "#9b9fa3",
    "cyan": "#4fbfc9",
    "orange": "#f28e2b",
    "purple": "#8c6bb1",
    "pink": "#f7a1b5",
    "white": "#ffffff",
    "lightest brown": "#d9b48f",
    "middle brown": "#b5835a",
    "darkest brown": "#7d5435",
    "": "#c9a27a",
}
_WOOD, _KIT, _LINE = "#f3ece2", "#5d544c", "#3b352f"
_RADIUS = 15
"""Half the size of an object, in pixels."""


def picture(world: World, state: State) -> str:
    """Return the table as an SVG document."""
    items = layout(world, state)
    rows = [item.y for item in items]
    top, low = max(BACK + 1, *rows), min(FRONT, *rows)
    width, height = WIDTH * COLUMN, (top - low + 1) * ROW + 16
    edge = (top - FRONT + 1) * ROW + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}"'
        ' font-family="sans-serif" font-size="13" text-anchor="middle">',
        f'<rect width="{width}" height="{edge}" rx="10" fill="{_WOOD}" stroke="#cdbfae"/>',
        *(_drawn(item, item.x * COLUMN, (top - item.y) * ROW + ROW // 2 + 6) for item in items),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _drawn(item: Item, x: int, y: int) -> str:
    """Return an item whose middle is at a point."""
    width, half = item.width * COLUMN, ROW // 2 - 2
    paint, left = _PAINT[item.colour], x - item.width * COLUMN // 2
    right, above, below = left + width, y - half, y + half
    if item.form == "bowl":
        path = f"M{left} {above}H{right}Q{right - 8} {below} {x} {below}T{left} {above}Z"
        bowl = f'<path d="{path}" fill="{paint}" stroke="{_LINE}"/>'
        return f"{bowl}{_label(item.label, x, y + 2, paint)}"
    if item.form == "box":
        path = f"M{left} {above - ROW}V{below}H{right}V{above - ROW}"
        front = f'<rect x="{left}" y="{above}" width="{width}" height="{2 * half}" fill="{paint}"/>'
        dark = _PAINT["darkest brown"]
        outline = f'<path d="{path}" fill="none" stroke="{dark}" stroke-width="4"/>'
        return f"{front}{outline}{_label(item.label, x, y + 5, paint)}"
    if item.form == "hole":
        plate = f'<rect x="{left}" y="{above - 2}" width="{width}" height="{ROW}" fill="{_KIT}"/>'
        hole = _silhouette(item.shape, x, y - 5, _WOOD)
        return f"{plate}{hole}{_label(item.label, x, below, _KIT, 10)}"
    if item.form == "object":
        turned = f' transform="rotate(24 {x} {y - 5})"' if item.askew else ""
        figure = f"<g{turned}>{_silhouette(item.shape, x, y - 5, paint)}</g>"
        in_kit = item.colour and item.y >= BACK  # the hole has a label already
        return f"{figure}{_label('' if in_kit else item.label, x, below, _WOOD, 10)}"
    round_by = half if item.form == "ring" else 3
    box = f'x="{left}" y="{above}" width="{width}" height="{2 * half}" rx="{round_by}"'
    return f'<rect {box} fill="{paint}" stroke="{_LINE}"/>{_label(item.label, x, y + 5, paint)}'


def _label(
    words: str,
    x: int,
    y: int,
    ground: str,
    size: int = 13,
) -> str:
    """Return words in a colour that can be read on a ground."""
    if not words:
        return ""
    red, green, blue = (int(ground[start : start + 2], 16) for start in (1, 3, 5))
    # The weights of luma: green looks brightest.
    is_light = 0.299 * red + 0.587 * green + 0.114 * blue > 120
    ink = "#1d1a17" if is_light else "#ffffff"
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{ink}">{escape(words)}</text>'


def _silhouette(
    shape: str,
    x: int,
    y: int,
    paint: str,
) -> str:
    """Return the outline of an object or a hole."""
    style = f'fill="{paint}" stroke="{_LINE}"'
    if shape.startswith("letter "):
        letter = shape.split()[1]
        font = 'font-size="34" font-weight="bold"'
        return f'<text x="{x}" y="{y + 12}" {font} {style}>{letter}</text>'
    if shape == "circle":
        return f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" {style}/>'
    if shape == "ring":
        circle = f'<circle cx="{x}" cy="{y}" r="{_RADIUS - 3}" fill="none"'
        edge = f'{circle} stroke="{_LINE}" stroke-width="8"/>'
        return f'{edge}{circle} stroke="{paint}" stroke-width="6"/>'
    if shape == "flower":
        petals = ""
        for petal_x, petal_y in _corners(x, y, [9] * 6):
            petals += f'<circle cx="{petal_x}" cy="{petal_y}" r="6.5" {style}/>'
        return f'{petals}<circle cx="{x}" cy="{y}" r="6" fill="{paint}"/>'
    if shape == "heart":
        left = f"C{x - 26} {y - 6} {x - 10} {y - 24} {x} {y - 8}"
        right = f"C{x + 10} {y - 24} {x + 26} {y - 6} {x} {y + 14}Z"
        return f'<path d="M{x} {y + 14}{left}{right}" {style}/>'
    points = " ".join(f"{corner_x},{corner_y}" for corner_x, corner_y in _polygon(shape, x, y))
    return f'<polygon points="{points}" {style}/>'


def _polygon(
    shape: str,
    x: int,
    y: int,
) -> Iterable[tuple[float, float]]:
    """Return the corners of a shape with straight sides."""
    if shape == "rectangle":
        return [(x - 18, y - 9), (x + 18, y - 9), (x + 18, y + 9), (x - 18, y + 9)]
    if shape == "square":
        return [(x - 13, y - 13), (x + 13, y - 13), (x + 13, y + 13), (x - 13, y + 13)]
    if shape == "plus":
        arms = (
            (-5, -15),
            (5, -15),
            (5, -5),
            (15, -5),
            (15, 5),
            (5, 5),
            (5, 15),
            (-5, 15),
            (-5, 5),
            (-15, 5),
        )
        return [(x + right, y + down) for right, down in (*arms, (-15, -5), (-5, -5))]
    radii = {
        "triangle": [16] * 3,
        "diamond": [17, 11] * 2,
        "pentagon": [15] * 5,
        "hexagon": [15] * 6,
    }
    return _corners(x, y, radii.get(shape, [17, 7] * 5))  # the last one is a star


def _corners(
    x: int,
    y: int,
    radii: list[int],
) -> list[tuple[float, float]]:
    """Return points around a middle, the first above it, at these distances."""
    turn = 2 * math.pi / len(radii)
    corners = []
    for index, radius in enumerate(radii):
        right, up = radius * math.sin(index * turn), radius * math.cos(index * turn)
        corners.append((round(x + right, 1), round(y - up, 1)))
    return corners
