"""Where everything on a table stands, from which it is drawn in characters and as a picture.

The table is seen from above and its things from the side: what can be moved lies in the front row,
and behind it stand bowls, stand, box or kit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from textcraft_gym.envs.tabletop.state import (
    BOWLS,
    BOX,
    FIELDS,
    FLOOR,
    HANOI,
    KITS,
    LOCATIONS,
    PACKING,
    PYRAMID,
    SIDES,
    TABLE,
    State,
    World,
)

WIDTH = 78
"""Width of a table, in characters."""
FRONT, BACK, BESIDE = 0, 2, -2
"""The rows of what lies in front, of what is behind it, and of what has fallen down."""

Form: TypeAlias = Literal["block", "bowl", "ring", "hole", "box", "field", "object"]


class Item(NamedTuple):
    """Something to draw.

    Attributes:
        form: Its form.
        label: What is written on it.
        x: Its middle, in characters from the left.
        y: Its row, counted from the front.
        width: Its width in characters.
        colour: Its colour; empty for none.
        shape: The shape of an object or a hole.
        askew: Whether it does not lie straight.
    """

    form: Form
    label: str
    x: int
    y: int
    width: int
    colour: str = ""
    shape: str = ""
    askew: bool = False


def layout(world: World, state: State) -> list[Item]:
    """Return what is on a table, what lies above something else after it."""
    return [*_fixture(world), *_things(world, state)]


def _fixture(world: World) -> Iterator[Item]:
    """Yield what is behind the things."""
    if world.kind == BOWLS:
        for bowl, x in zip(world.places, _spaced(len(world.places)), strict=True):
            yield Item("bowl", bowl, x, BACK, 12, bowl)
    elif world.kind == HANOI:
        for side, x, brown in zip(SIDES, _spaced(len(SIDES)), FIELDS, strict=True):
            yield Item("field", side, x, BACK, 24, f"{brown} brown")
    elif world.kind == PYRAMID:
        for field in FIELDS:
            x, y = _PYRAMID[field]
            yield Item("field", field, x, y - 1, 12, f"{field} brown")
    elif world.kind == PACKING:
        yield Item("box", "brown box", WIDTH // 2, BACK, WIDTH - 2, "middle brown")
    else:
        for location, shape in zip(LOCATIONS, world.places, strict=True):
            yield Item(
                "hole",
                short(shape),
                *_HOLES[location],
                20,
                shape=shape,
            )


def _things(world: World, state: State) -> Iterator[Item]:
    """Yield the things, the largest ring first, which lies lowest."""
    for thing in reversed(range(len(world.things))):
        colour, shape = world.things[thing]
        x, y = _place(world, state, thing)
        if world.kind == HANOI:
            yield Item("ring", colour, x, y, 10 + 6 * thing, colour)
        elif world.kind in (KITS, PACKING):
            label = f"{colour} {short(shape)}".strip()
            yield Item(
                "object",
                label,
                x,
                y,
                len(label) + 2,
                colour,
                shape,
                askew=thing in state.spoilt,
            )
        else:
            yield Item("block", colour, x, y, 10, colour)


def _place(
    world: World,
    state: State,
    thing: int,
) -> tuple[int, int]:
    """Return where the middle of a thing is."""
    at = state.at[thing]
    if at in (TABLE, BOX, FLOOR):
        row = {TABLE: FRONT, BOX: BACK + 1, FLOOR: BESIDE}[at]
        # Objects of a kit have long names, and so lie in two rows.
        if world.kind == KITS:
            row += thing % 2
        return _spaced(len(world.things))[thing], row
    if world.kind == PYRAMID:
        return _PYRAMID[at]
    if world.kind == KITS:
        return _HOLES[at]
    places = SIDES if world.kind == HANOI else world.places
    beneath = state.at[thing + 1 :].count(at)
    return _spaced(len(places))[places.index(at)], BACK + 1 + beneath


def short(shape: str) -> str:
    """Return a short name of a shape: ``letter E``."""
    return shape.removesuffix(" shape")


def _spaced(count: int) -> list[int]:
    """Return the centres of ``count`` items in a row."""
    return [WIDTH * (2 * index + 1) // (2 * count) for index in range(count)]


_MIDDLE = WIDTH // 2
_PYRAMID = {
    "lightest": (_MIDDLE - 14, BACK + 1),
    "middle": (_MIDDLE, BACK + 1),
    "darkest": (_MIDDLE + 14, BACK + 1),
    "left": (_MIDDLE - 7, BACK + 2),
    "right": (_MIDDLE + 7, BACK + 2),
    "peak": (_MIDDLE, BACK + 3),
}
_HOLES = {
    "top": (_MIDDLE, BACK + 2),
    "left": (_MIDDLE - 20, BACK + 1),
    "middle": (_MIDDLE, BACK + 1),
    "right": (_MIDDLE + 20, BACK + 1),
    "bottom": (_MIDDLE, BACK),
}
