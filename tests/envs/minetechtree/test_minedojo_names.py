"""What MineDojo calls our items and tasks."""

from __future__ import annotations

import pytest

from textcraft_gym.envs.minetechtree.minedojo_names import new_name, old_name, task_id


@pytest.mark.parametrize(
    ("item", "old", "task"),
    [
        ("minecraft:oak_planks", "planks", "harvest_1_planks"),
        ("dark_oak_planks", "planks", "harvest_1_planks"),
        ("birch_log", "log", "harvest_1_log"),
        ("dark_oak_log", "log2", "harvest_1_log2"),
        ("oak_door", "wooden_door", "harvest_1_wooden_door"),
        ("dark_oak_door", "dark_oak_door", "harvest_1_dark_oak_door"),
        ("oak_stairs", "oak_stairs", "harvest_1_oak_stairs"),
        ("stone_bricks", "stonebrick", "harvest_1_stonebrick"),
        ("cobblestone_slab", "stone_slab", "harvest_1_stone_slab"),
        ("white_bed", "bed", "harvest_1_bed"),
        ("charcoal", "coal", "harvest_1_coal"),
        ("diamond", "diamond", "harvest_1_diamond"),
        ("iron_pickaxe", "iron_pickaxe", "techtree_from_barehand_to_iron_pickaxe"),
        ("leather_boots", "leather_boots", "techtree_from_barehand_to_leather_boots"),
        ("iron_bars", "iron_bars", "harvest_1_iron_bars"),
        ("stone_pressure_plate", "stone_pressure_plate", "harvest_1_stone_pressure_plate"),
        ("shield", "shield", "harvest_1_shield"),
    ],
)
def test_item__has_the_name_of_1_11(item, old, task):
    assert (old_name(item), task_id(item)) == (old, task)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("log", "oak_log"),
        ("wooden_slab", "oak_slab"),
        ("fence", "oak_fence"),
        ("wooden_door", "oak_door"),
        ("stone_slab", "cobblestone_slab"),
        ("wool", "white_wool"),
        ("coal", "coal"),
        ("dark_oak_door", "dark_oak_door"),
        ("diamond", "diamond"),
    ],
)
def test_item__has_the_name_of_1_16(old, new):
    assert new_name(old) == new
    assert old_name(new) == old
