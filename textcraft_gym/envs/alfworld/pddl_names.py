"""Names as in ALFRED's PDDL files: an object is named by its type and coordinates."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from textcraft_gym.envs.shuffle import Uniform

Point: TypeAlias = tuple[int, int, int]
"""Coordinates x, y, z in centimetres; y points up."""


def bare(type_name: str) -> str:
    """Return a type as the tables write it: ``Book`` for ``BookType``."""
    return type_name.removesuffix("Type")


def draw_point(rng: Uniform) -> Point:
    """Draw a point of a room."""
    return int(800 * rng()) - 400, int(200 * rng()), int(800 * rng()) - 400


def draw_point_near(rng: Uniform, centre: Point) -> Point:
    """Draw a point within about 40 cm of another one."""
    x, y, z = centre
    return x + int(80 * rng()) - 40, y + int(10 * rng()), z + int(80 * rng()) - 40


def draw_id(
    rng: Uniform,
    type_name: str,
    used: set[str],
    near: Point | None = None,
) -> tuple[str, Point]:
    """Draw an unused id and the point that it encodes, and add the id to ``used``."""
    while True:
        point = draw_point(rng) if near is None else draw_point_near(rng, near)
        id = object_id(type_name, point)
        if id not in used:
            used.add(id)
            return id, point


def object_id(type_name: str, point: Point) -> str:
    """Return ``Cabinet_bar__plus_00_dot_50_bar_...``."""
    # A basin is a part of its sink or bathtub and named after it.
    whole = type_name.removesuffix("Basin")
    part = f"_bar_{type_name}" if whole != type_name else ""
    return f"{whole}_bar_{'_bar_'.join(map(_coordinate, point))}{part}"


@lru_cache(maxsize=1024)
def _coordinate(centimetres: int) -> str:
    metres, hundredths = divmod(abs(centimetres), 100)
    sign = "minus" if centimetres < 0 else "plus"
    return f"_{sign}_{metres:02d}_dot_{hundredths:02d}"


def draw_location(rng: Uniform, used: set[str]) -> str:
    """Draw an unused location, and add it to ``used``.

    It has x and z in quarters of a metre, quarter turns, and degrees downward.
    """
    while True:
        x, z = int(25 * rng()) - 12, int(25 * rng()) - 12
        turn, horizon = int(4 * rng()), (0, 30, 45, 60)[int(4 * rng())]
        location = f"loc_bar_{x}_bar_{z}_bar_{turn}_bar_{horizon}".replace("-", "_minus_")
        if location not in used:
            used.add(location)
            return location
