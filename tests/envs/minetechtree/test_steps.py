"""Whether steps of plans hold in the tech tree."""

from __future__ import annotations

import pytest

from tests.envs.minetechtree.conftest import holding
from textcraft_gym.envs.minetechtree.steps import holds

STATE = holding(oak_log=3, wooden_pickaxe=1, shield=1)._replace(
    equipped={"offhand": "minecraft:shield"}
)


@pytest.mark.parametrize(
    ("step", "held"),
    [
        ("mine({'log': 3});", True),
        ("mine({'log': 4});", False),
        ("mine('oak log', 3)", True),
        ("mine('oak log', 4)", False),
        ("craft({'wooden_pickaxe': 1}, {'planks': 3, 'stick': 2}, 'crafting_table');", True),
        ("equip('shield')", True),
        ("equip({'wooden pickaxe': 1})", False),  # held, and not equipped
        ("smelt({'iron ingot': 1}, {'iron ore': 1}, 'furnace');", False),
        ("look around", None),
    ],
)
def test_holds__asks_the_inventory_and_what_is_equipped(step: str, held: bool | None):
    assert holds(STATE, step) is held
