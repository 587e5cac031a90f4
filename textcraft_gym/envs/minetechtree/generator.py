"""Worlds: which biomes there are, and where everything is. All of it follows from a task and one random word."""

from __future__ import annotations

import random

from textcraft_gym.envs.minetechtree.facts import DEPTHS, HOME_BIOMES, ORES, OTHER_BIOMES, SOURCES, STONE, Source
from textcraft_gym.envs.minetechtree.state import Place, Point, World
from textcraft_gym.envs.shuffle import Uniform, shuffle

OTHERS = 2
"""How many biomes a world has besides forest and plains."""

BIOME_DISTANCE = (45, 110)
BIOME_RADIUS = 24
ORE_RADIUS = 36

_DIRECTIONS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def generate(task: str, word: int) -> World:
    """Return the world of a task and a word. The player begins in the midst of one biome; the others lie around it."""
    number = random.Random(f"{task}/{word}").random
    biomes = shuffle(number, [*HOME_BIOMES, *shuffle(number, OTHER_BIOMES)[:OTHERS]])
    start = Point(0, 0)
    centres = [start, *(_afar(number, direction) for direction in shuffle(number, _DIRECTIONS)[1:])]
    places: list[Place] = []
    for biome, centre in zip(biomes, centres, strict=True):
        places += [Place(SOURCES[name], _near(number, centre, BIOME_RADIUS)) for name in biome.holds]
        places.append(_buried(number, STONE, _near(number, centre, BIOME_RADIUS)))
    places += [_buried(number, ore, _near(number, start, ORE_RADIUS)) for ore in ORES]
    named = [(biome.name, at) for biome, at in zip(biomes, centres, strict=True)]
    return World(tuple(places), tuple(named))


def _between(number: Uniform, least: int, most: int) -> int:
    return least + int(number() * (most - least + 1))


def _afar(number: Uniform, direction: tuple[int, int]) -> Point:
    distance = _between(number, *BIOME_DISTANCE)
    return Point(direction[0] * distance, direction[1] * distance)


def _near(number: Uniform, centre: Point, radius: int) -> Point:
    east, south = (_between(number, -radius, radius) for _ in range(2))
    return Point(centre.east + east, centre.south + south)


def _buried(number: Uniform, source: Source, at: Point) -> Place:
    return Place(source, Point(at.east, at.south, _between(number, *DEPTHS[source.name])))
