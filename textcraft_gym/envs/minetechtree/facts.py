"""Facts that recipes do not hold: sources of items, tools, fuels and times.

Facts of Minecraft: Java Edition 1.16. The tools of blocks, the hardness of blocks, the speed of
tools and the drops of animals (except wool) are those of version 1.16.2 of the data set
``minecraft-data``. Wool, the health of animals, the durability of tools, burning times and walking
speed, which it does not have, are common knowledge of players and were not checked against it. They
are complete for the tasks of DEPS (Wang et al. 2023, appendix), not for the game: no gold, no
redstone, no sand. Random amounts of the game are fixed: an animal drops one of each.
"""

from __future__ import annotations

from typing import NamedTuple

from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE

TICKS_A_STEP = 5
"""4.3 blocks a second at 20 ticks a second."""

TICKS_A_CRAFT = 1
TICKS_A_SMELT = 10
"""Not the game's 200: in MineDojo, where DEPS plays, a command smelts in a few ticks."""

TICKS_A_HIT = 10
"""Ticks for which a hit animal cannot be hurt again; a bare hand takes one point of health."""

TICKS_A_HARDNESS = 30
"""1.5 seconds for each point of hardness, divided by the speed of the tool."""


class Tier(NamedTuple):
    """Power of the tools of a material.

    Attributes:
        level: The highest level of blocks that yield to them.
        speed: Their speed, in bare hands.
        uses: Number of blocks after which a tool breaks; 0 for a bare hand, which never does.
    """

    level: int
    speed: int
    uses: int


BARE_HANDED = Tier(0, 1, 0)

TIERS = {
    "wooden": Tier(1, 2, 59),
    "golden": Tier(1, 12, 32),
    "stone": Tier(2, 4, 131),
    "iron": Tier(3, 6, 250),
    "diamond": Tier(4, 8, 1561),
    "netherite": Tier(5, 9, 2031),
}


class Source(NamedTuple):
    """Something in the world that items come from.

    Attributes:
        name: Its name for the player, ``oak trees``.
        verb: ``mine`` or ``hunt``.
        gives: The items, one of each at a time.
        effort: The hardness of a block, or the health of an animal.
        tool: The kind of tool that is made for it, empty for none.
        level: The least level of such a tool; 0 where a bare hand will do.
    """

    name: str
    verb: str
    gives: tuple[str, ...]
    effort: float
    tool: str = ""
    level: int = 0


def _ids(*names: str) -> tuple[str, ...]:
    return tuple(DEFAULT_NAMESPACE + name for name in names)


WOODS = ("oak", "birch", "spruce", "acacia", "jungle", "dark_oak")

TREES = tuple(
    Source(f"{wood.replace('_', ' ')} trees", "mine", _ids(f"{wood}_log"), 2.0, "axe")
    for wood in WOODS
)

ANIMALS = (
    Source("cows", "hunt", _ids("beef", "leather"), 10),
    Source("sheep", "hunt", _ids("mutton", "white_wool"), 8),
    Source("pigs", "hunt", _ids("porkchop"), 10),
)

STONE = Source("stone", "mine", _ids("cobblestone"), 1.5, "pickaxe", 1)

ORES = (
    Source("coal ore", "mine", _ids("coal"), 3.0, "pickaxe", 1),
    Source("iron ore", "mine", _ids("iron_ore"), 3.0, "pickaxe", 2),
    Source("nether quartz ore", "mine", _ids("quartz"), 3.0, "pickaxe", 1),
    Source("diamond ore", "mine", _ids("diamond"), 3.0, "pickaxe", 3),
)

SOURCES = {source.name: source for source in (*TREES, *ANIMALS, STONE, *ORES)}
SOURCE_OF = {item: source for source in SOURCES.values() for item in source.gives}

DEPTHS = {
    "stone": (2, 5),
    "coal ore": (8, 24),
    "iron ore": (14, 40),
    "nether quartz ore": (40, 60),
    "diamond ore": (50, 59),
}
"""The least and the greatest depth below ground, in steps."""


class Biome(NamedTuple):
    """A landscape and the names of its sources above ground."""

    name: str
    holds: tuple[str, ...]


HOME_BIOMES = (
    Biome("forest", ("oak trees", "birch trees", "pigs")),
    Biome("plains", ("cows", "sheep", "pigs")),
)
"""These two are in every world, so that each has all that the tasks need."""

OTHER_BIOMES = (
    Biome("taiga", ("spruce trees", "sheep")),
    Biome("savanna", ("acacia trees", "cows", "sheep")),
    Biome("jungle", ("jungle trees", "pigs")),
    Biome("dark forest", ("dark oak trees", "cows")),
)

FUELS = {
    "#minecraft:coals": 80,
    "#minecraft:logs_that_burn": 15,
    "#minecraft:planks": 15,
    "minecraft:stick": 5,
}
"""Fuels, and the tenths of an item that one unit smelts."""

UNBURNABLE = "#minecraft:non_flammable_wood"

TABLE = "minecraft:crafting_table"
FURNACE = "minecraft:furnace"

WORN = {
    "_helmet": "head",
    "_chestplate": "chest",
    "_leggings": "legs",
    "_boots": "feet",
    "shield": "off hand",
}
"""Slots of worn items, by the ending of the id; anything else is held in the hand."""
