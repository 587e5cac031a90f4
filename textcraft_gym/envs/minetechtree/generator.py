"""Worlds: biomes and positions of sources, determined by a task and one random integer."""

from __future__ import annotations

import random

from textcraft_gym.envs.minetechtree.facts import (
    DEPTHS,
    HOME_BIOMES,
    ORES,
    OTHER_BIOMES,
    SOURCES,
    STONE,
    Source,
)
from textcraft_gym.envs.minetechtree.state import Place, Point, World
from textcraft_gym.envs.shuffle import Uniform, shuffle

OTHERS = 2
"""Number of biomes of a world in addition to forest and plains."""

BIOME_DISTANCE = (45, 110)
BIOME_RADIUS = 24
ORE_RADIUS = 36

_DIRECTIONS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def generate(task: str, draw: int) -> World:
    """Return the world of a task and a random integer.

    The player starts in the centre of one biome; the others are around it.
    """
    rng = random.Random(f"{task}/{draw}").random
    biomes = shuffle(rng, [*HOME_BIOMES, *shuffle(rng, OTHER_BIOMES)[:OTHERS]])
    start = Point(0, 0)
    # Each of the other biomes lies in a different one of the four directions.
    centres = [start, *(_afar(rng, direction) for direction in shuffle(rng, _DIRECTIONS)[1:])]
    places: list[Place] = []
    for biome, centre in zip(biomes, centres, strict=True):
        places += [Place(SOURCES[name], _near(rng, centre, BIOME_RADIUS)) for name in biome.holds]
        places.append(_buried(rng, STONE, _near(rng, centre, BIOME_RADIUS)))
    places += [_buried(rng, ore, _near(rng, start, ORE_RADIUS)) for ore in ORES]
    named = [(biome.name, at) for biome, at in zip(biomes, centres, strict=True)]
    return World(tuple(places), tuple(named))


def _between(rng: Uniform, least: int, most: int) -> int:
    return least + int(rng() * (most - least + 1))


def _afar(rng: Uniform, direction: tuple[int, int]) -> Point:
    distance = _between(rng, *BIOME_DISTANCE)
    return Point(direction[0] * distance, direction[1] * distance)


def _near(rng: Uniform, centre: Point, radius: int) -> Point:
    east = centre.east + _between(rng, -radius, radius)
    return Point(east, centre.south + _between(rng, -radius, radius))


def _buried(rng: Uniform, source: Source, at: Point) -> Place:
    return Place(source, Point(at.east, at.south, _between(rng, *DEPTHS[source.name])))
