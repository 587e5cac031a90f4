"""Tables: what is on them, drawn for each kind of task."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping

from textcraft_gym.envs.shuffle import Uniform, pick, shuffle
from textcraft_gym.envs.tabletop.state import (
    BOWLS,
    COLOURS,
    HANOI,
    KITS,
    LOCATIONS,
    PACKING,
    PYRAMID,
    SHAPES,
    Thing,
    World,
)

# CLIPort's own numbers.
RINGS, BLOCKS, OBJECTS = 3, 6, 5
MOST_BOWLS, MOST_BLOCKS = 5, 4
PAIR = 0.5
"""Probability that two holes of a kit have one shape, or two blocks to match one colour."""


def generate(kind: str) -> Iterator[World]:
    """Yield ever new tables of a kind, the same on every machine."""
    rng = random.Random(kind).random
    seen: set[World] = set()
    while True:
        world = _GENERATORS[kind](rng)
        if world not in seen:
            seen.add(world)
            yield world


def _kit(rng: Uniform) -> World:
    shapes = shuffle(rng, SHAPES)[: len(LOCATIONS)]
    # Then a goal must say which of the two holes it means.
    if rng() < PAIR:
        shapes[1] = shapes[0]
    colours = shuffle(rng, COLOURS)[:OBJECTS]
    things = [Thing(colour, shape) for colour, shape in zip(colours, shapes, strict=True)]
    return World(KITS, tuple(things), tuple(shuffle(rng, shapes)))


def _rings(rng: Uniform) -> World:
    things = [Thing(colour, "ring") for colour in shuffle(rng, COLOURS)[:RINGS]]
    return World(HANOI, tuple(things))


def _bowls(rng: Uniform) -> World:
    """Draw bowls of different colours and blocks, of which one at least has a matching bowl."""
    # DEPS has many colours to match on one table, where CLIPort's task has one pair.
    bowls = shuffle(rng, COLOURS)[: _between(rng, 3, MOST_BOWLS)]
    blocks = [pick(rng, bowls), *shuffle(rng, COLOURS)[: _between(rng, 1, MOST_BLOCKS - 1)]]
    # No draw without a choice: it would change the tables after this one.
    if len(set(blocks)) < len(blocks) and rng() >= PAIR:
        blocks = list(dict.fromkeys(blocks))
    things = [Thing(colour, "block") for colour in shuffle(rng, blocks)]
    return World(BOWLS, tuple(things), tuple(bowls))


def _objects(rng: Uniform) -> World:
    things = [Thing("", shape) for shape in shuffle(rng, SHAPES)[:OBJECTS]]
    return World(PACKING, tuple(things), wanted=_between(rng, 0, OBJECTS - 1))


def _blocks(rng: Uniform) -> World:
    things = [Thing(colour, "block") for colour in shuffle(rng, COLOURS)[:BLOCKS]]
    return World(PYRAMID, tuple(things))


def _between(rng: Uniform, least: int, most: int) -> int:
    return least + int(rng() * (most - least + 1))


_GENERATORS: Mapping[str, Callable[[Uniform], World]] = {
    KITS: _kit,
    HANOI: _rings,
    BOWLS: _bowls,
    PACKING: _objects,
    PYRAMID: _blocks,
}
