"""MineDojo's names of items: it plays Minecraft 1.11, whose ids differ from those of 1.16.

Between the two is "The Flattening" of Minecraft 1.13, which gave each variant of a block its own
id. So several new names have one old name: every wood's planks are ``planks``.
"""

from __future__ import annotations

from textcraft_gym.envs.minetechtree.facts import WOODS
from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE

_OF_WOOD = {
    "log": "log",
    "planks": "planks",
    "slab": "wooden_slab",
    "pressure_plate": "wooden_pressure_plate",
    "button": "wooden_button",
    "trapdoor": "trapdoor",
    "sign": "sign",
}
"""Items with one id for all woods."""

_RENAMED = {
    "oak_fence": "fence",
    "oak_fence_gate": "fence_gate",
    "oak_boat": "boat",
    "oak_door": "wooden_door",
    "acacia_log": "log2",
    "dark_oak_log": "log2",
    "cobblestone_stairs": "stone_stairs",
    "cobblestone_slab": "stone_slab",
    "smooth_stone_slab": "stone_slab",
    "stone_bricks": "stonebrick",
    "white_wool": "wool",
    "white_carpet": "carpet",
    "white_bed": "bed",
    "charcoal": "coal",
    "nether_quartz_ore": "quartz_ore",
}

_MATERIALS = ("wooden", "stone", "iron", "golden", "diamond", "leather")
_EQUIPMENT = (
    "pickaxe",
    "axe",
    "hoe",
    "sword",
    "shovel",
    "boots",
    "chestplate",
    "helmet",
    "leggings",
)

# The inverse; of several names in _RENAMED the first wins, since the mapping is built from the
# reversed items.
_NEW = {old: f"oak_{kind}" for kind, old in _OF_WOOD.items()} | {
    old: new for new, old in reversed(_RENAMED.items()) if new != "charcoal"
}


def old_name(item: str) -> str:
    """Return the name in Minecraft 1.11 of an item of 1.16, with or without namespace."""
    name = item.removeprefix(DEFAULT_NAMESPACE)
    if name in _RENAMED:
        return _RENAMED[name]
    for wood in WOODS:
        if name.startswith(f"{wood}_"):
            return _OF_WOOD.get(name.removeprefix(f"{wood}_"), name)
    return name


def new_name(item: str) -> str:
    """Return the name in Minecraft 1.16 of an item of 1.11.

    Of several, that of oak or white, or that of the paper's tasks.
    """
    return _NEW.get(item, item)


def task_id(item: str) -> str:
    """Return the id of MineDojo's task of obtaining an item; it has none for some items."""
    name = old_name(item)
    material, _, kind = name.partition("_")
    if material in _MATERIALS and kind in _EQUIPMENT:
        return f"techtree_from_barehand_to_{name}"
    return f"harvest_1_{name}"
