"""The table drawn in characters, for a terminal."""

from __future__ import annotations

from textcraft_gym.envs.tabletop.layout import BACK, FRONT, WIDTH, Form, Item, layout
from textcraft_gym.envs.tabletop.state import State, World

_EDGES: dict[Form, tuple[str, str, str]] = {
    "block": ("[", " ", "]"),
    "bowl": ("\\", "_", "/"),
    "ring": ("(", "=", ")"),
    "hole": ("{", " ", "}"),
    "box": ("|", "_", "|"),
    "field": ("/", "#", "\\"),
    "object": ("<", " ", ">"),
}
"""The left edge, what is between label and edges, and the right edge."""


def drawing(world: World, state: State) -> str:
    """Return the table in characters, without blanks at the ends of lines."""
    items = layout(world, state)
    low, top = min(item.y for item in items), max(item.y for item in items)
    rows = {y: [" "] * WIDTH for y in range(min(low, FRONT - 1), top + 1)}
    rows[FRONT - 1] = ["="] * WIDTH
    for item in items:
        written = _written(item)
        start = item.x - len(written) // 2
        rows[item.y][start : start + len(written)] = written
    return "\n".join("".join(rows[y]).rstrip() for y in sorted(rows, reverse=True))


def _written(item: Item) -> str:
    left, between, right = _EDGES[item.form]
    label = f"{item.label}?" if item.askew and item.y >= BACK else item.label
    return f"{left}{label.center(item.width - 2, between)}{right}"
