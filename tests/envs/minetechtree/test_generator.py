"""Worlds: what is in each of them, and that they follow from task and word alone."""

from __future__ import annotations

from textcraft_gym.envs.minetechtree.facts import (
    DEPTHS,
    HOME_BIOMES,
    ORES,
    OTHER_BIOMES,
    SOURCES,
    TREES,
)
from textcraft_gym.envs.minetechtree.generator import BIOME_DISTANCE, BIOME_RADIUS, generate
from textcraft_gym.envs.minetechtree.state import Point

WORLDS = [generate("diamond", word) for word in range(300)]
START = Point(0, 0)


def test_world__has_all_that_tasks_need():
    needed = {"oak trees", "cows", "sheep", "pigs", "stone", *(ore.name for ore in ORES)}
    for world in WORLDS:
        assert needed <= {place.source.name for place in world.places}


def test_world__has_forest_and_plains_and_two_others():
    homes = {biome.name for biome in HOME_BIOMES}
    seen = set()
    for world in WORLDS:
        names = [name for name, _ in world.centres]
        assert len(set(names)) == 4
        assert homes < set(names)
        seen.update(names)
    assert seen == homes | {biome.name for biome in OTHER_BIOMES}


def test_world__holds_in_each_biome_what_belongs_there():
    for world in WORLDS[:50]:
        for biome in (*HOME_BIOMES, *OTHER_BIOMES):
            centres = [at for name, at in world.centres if name == biome.name]
            for centre in centres:
                near = {
                    place.source.name
                    for place in world.places
                    if place.at.distance(centre) <= 2 * BIOME_RADIUS
                }
                assert set(biome.holds) <= near


def test_ores__lie_as_deep_as_they_do():
    for world in WORLDS:
        for source, at in world.places:
            least, most = DEPTHS.get(source.name, (0, 0))
            assert least <= at.down <= most


def test_worlds__differ_in_where_one_begins_and_how_far_it_is():
    assert len({world.biome(START) for world in WORLDS}) == 6
    assert len(set(WORLDS)) == len(WORLDS)
    nearest = [
        min(place.at.distance(START) for place in world.places if place.source in TREES)
        for world in WORLDS
    ]
    assert min(nearest) < 10 < 40 < max(nearest)
    far = [at.distance(START) for world in WORLDS for _, at in world.centres[1:]]
    assert (min(far), max(far)) == BIOME_DISTANCE


def test_world__follows_from_task_and_word():
    assert generate("chest", 5) == generate("chest", 5)
    assert generate("chest", 5) != generate("chest", 6)
    assert generate("chest", 5) != generate("stick", 5)


def test_world__is_the_one_it_always_was():
    """A change of these numbers is a new version of the environment."""
    world = generate("diamond", 0)
    assert [name for name, _ in world.centres] == GOLDEN_BIOMES
    assert [
        tuple(place.at) for place in world.places if place.source == SOURCES["diamond ore"]
    ] == GOLDEN_DIAMOND


GOLDEN_BIOMES = ["jungle", "forest", "plains", "dark forest"]
GOLDEN_DIAMOND = [(-18, -24, 52)]
