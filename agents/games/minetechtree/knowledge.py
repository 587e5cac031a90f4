"""The player's knowledge of the tech tree: recipes, and readers of the environment's texts.

The recipes are facts of Minecraft 1.16.5, written for all items that the tasks of DEPS (Wang et al.
2023) require; a test compares them with the recipe JSON. ``planks`` and ``log`` mean any kind of
wood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from textcraft_gym.agents.games.crafting import Recipe, Want, ceil_div, listed, read_recipe
from textcraft_gym.goals import EQUIPPED, has

WOODS = ("oak", "birch", "spruce", "jungle", "acacia", "dark oak")

FUELS = {"planks": 15, "coal": 80, "log": 15, "stick": 5}
"""Tenths of an item that one piece of each fuel smelts; the fuel to prefer comes first."""

FAR = 10**6
"""Distance of a source of which none is told, in steps."""

TABLE, FURNACE = "crafting table", "furnace"

ALIASES = {
    "bed": "white bed",
    "stone slab": "cobblestone slab",
    "stone stairs": "cobblestone stairs",
    "table": TABLE,
    "wood": "log",
    "wooden door": "oak door",
    "wooden slab": "oak slab",
    "wool": "white wool",
    "workbench": TABLE,
}
"""Players' and the paper's names that are too unlike the item's own name to be matched."""

_SOURCES = {
    "beef": "cows",
    "leather": "cows",
    "mutton": "sheep",
    "white wool": "sheep",
    "porkchop": "pigs",
    "cobblestone": "stone",
    "coal": "coal ore",
    "iron ore": "iron ore",
    "quartz": "nether quartz ore",
    "diamond": "diamond ore",
} | {f"{wood} log": f"{wood} trees" for wood in WOODS}

_WAYS = """
mine 1 log
hunt 1 beef
hunt 1 leather
hunt 1 mutton
hunt 1 white wool
hunt 1 porkchop
mine 1 cobblestone with wooden pickaxe
mine 1 coal with wooden pickaxe
mine 1 quartz with wooden pickaxe
mine 1 iron ore with stone pickaxe
mine 1 diamond with iron pickaxe
smelt 1 iron ingot using 1 iron ore with furnace
smelt 1 stone using 1 cobblestone with furnace
smelt 1 smooth stone using 1 stone with furnace
smelt 1 cooked beef using 1 beef with furnace
smelt 1 cooked mutton using 1 mutton with furnace
smelt 1 cooked porkchop using 1 porkchop with furnace
craft 4 planks using 1 log
craft 4 stick using 2 planks
craft 1 crafting table using 4 planks
craft 1 chest using 8 planks with crafting table
craft 4 bowl using 3 planks with crafting table
craft 1 furnace using 8 cobblestone with crafting table
craft 1 white bed using 3 white wool, 3 planks with crafting table
craft 3 white carpet using 2 white wool
craft 1 painting using 8 stick, 1 white wool with crafting table
craft 1 item frame using 8 stick, 1 leather with crafting table
craft 1 lever using 1 cobblestone, 1 stick
craft 4 torch using 1 coal, 1 stick
craft 4 cobblestone stairs using 6 cobblestone with crafting table
craft 6 cobblestone slab using 3 cobblestone with crafting table
craft 6 cobblestone wall using 6 cobblestone with crafting table
craft 1 stone pressure plate using 2 stone
craft 1 stone button using 1 stone
craft 4 stone bricks using 4 stone
craft 4 stone brick stairs using 6 stone bricks with crafting table
craft 6 smooth stone slab using 3 smooth stone with crafting table
craft 1 armor stand using 1 smooth stone slab, 6 stick with crafting table
craft 1 quartz block using 4 quartz
craft 1 shield using 1 iron ingot, 6 planks with crafting table
craft 1 bucket using 3 iron ingot with crafting table
craft 1 shears using 2 iron ingot
craft 16 iron bars using 6 iron ingot with crafting table
craft 9 iron nugget using 1 iron ingot
craft 1 minecart using 5 iron ingot with crafting table
craft 1 cauldron using 7 iron ingot with crafting table
craft 3 iron door using 6 iron ingot with crafting table
craft 1 iron trapdoor using 4 iron ingot
craft 2 tripwire hook using 1 iron ingot, 1 stick, 1 planks with crafting table
craft 1 heavy weighted pressure plate using 2 iron ingot
craft 16 rail using 6 iron ingot, 1 stick with crafting table
craft 1 hopper using 5 iron ingot, 1 chest with crafting table
craft 1 furnace minecart using 1 minecart, 1 furnace
craft 1 chest minecart using 1 minecart, 1 chest
craft 1 hopper minecart using 1 hopper, 1 minecart
"""
"""Parts with more steps come first, so that making them does not use up the simpler parts."""

_OF_WOOD = """
mine 1 {0} log
craft 4 {0} planks using 1 {0} log
craft 6 {0} slab using 3 {0} planks with crafting table
craft 4 {0} stairs using 6 {0} planks with crafting table
craft 1 {0} pressure plate using 2 {0} planks
craft 1 {0} button using 1 {0} planks
craft 2 {0} trapdoor using 6 {0} planks with crafting table
craft 3 {0} door using 6 {0} planks with crafting table
craft 1 {0} boat using 5 {0} planks with crafting table
craft 3 {0} sign using 1 stick, 6 {0} planks with crafting table
craft 3 {0} fence using 2 stick, 4 {0} planks with crafting table
craft 1 {0} fence gate using 4 stick, 2 {0} planks with crafting table
"""

_TOOLS = {"pickaxe": (3, 2), "axe": (3, 2), "hoe": (2, 2), "sword": (2, 1), "shovel": (1, 2)}
"""Amounts of the material and of sticks in each tool."""

_ARMOR = {"boots": 4, "chestplate": 8, "helmet": 5, "leggings": 7}
"""Amount of the material in each piece of armor."""

_SEEN = re.compile(r"^(?:You see|Under the ground): (.+)\.$", re.MULTILINE)
_AWAY = re.compile(r"(.+?)(?: (?:about )?([0-9]{1,6}) steps away)?")
_PLACE = re.compile(r"^You are in the ([a-z ]+)\.$", re.MULTILINE)
_NEAR = re.compile(r"^Near: (.+)\.$", re.MULTILINE)
_HELD = re.compile(r"([0-9]{1,9}) ([^,(\n]+?)( \(equipped\))?(?=,|$)", re.MULTILINE)


@cache
def ways() -> dict[str, Recipe]:
    """Return the recipe of each item, parsed on the first call."""
    lines = _WAYS.splitlines()
    for wood in WOODS:
        lines += _OF_WOOD.format(wood).splitlines()
    recipes: dict[str, Recipe] = {}
    for line in (*lines, *_tools(), *_armor()):
        recipe = read_recipe(line)
        if recipe:
            recipes[recipe.makes.item] = recipe
    return recipes


def _tools() -> Iterator[str]:
    """Yield the commands that craft tools."""
    for material, item in (("wooden", "planks"), ("stone", "cobblestone"), ("iron", "iron ingot")):
        for tool, (count, sticks) in _TOOLS.items():
            parts = [f"{count} {item}", f"{sticks} stick"]
            if item == "planks":  # sticks are made of planks, and so come first
                parts.reverse()
            yield f"craft 1 {material} {tool} using {', '.join(parts)} with crafting table"


def _armor() -> Iterator[str]:
    """Yield the commands that craft armor."""
    for material, item in (("leather", "leather"), ("iron", "iron ingot")):
        for piece, count in _ARMOR.items():
            yield f"craft 1 {material} {piece} using {count} {item} with crafting table"


def members(name: str) -> list[str]:
    """Return the members of a kind; for an item, the item alone."""
    if name in ("log", "planks"):
        return [f"{wood} {name}" for wood in WOODS]
    return [name]


def source(item: str) -> str:
    """Return the source of an item in the world; empty for an item that is made."""
    return _SOURCES.get(item, "")


def read_held(text: str) -> dict[str, int]:
    """Return the counts of an inventory.

    An equipped item has a second entry, such as ``shield (equipped)``.
    """
    held: dict[str, int] = {}
    for count, item, worn in _HELD.findall(text.rpartition("Inventory: ")[2]):
        held[item] = int(count)
        if worn:
            held[item + EQUIPPED] = 1
    return held


def read_around(text: str) -> dict[str, int | None]:
    """Return the distance to each source in steps, the nearest first; None if not told."""
    distances: dict[str, int | None] = {}
    for line in _SEEN.findall(text):
        for place in line.split(", "):
            match = _AWAY.fullmatch(place)
            if match:
                distances[match[1]] = int(match[2]) if match[2] else None

    def distance(source: tuple[str, int | None]) -> int:
        _, steps = source
        return FAR if steps is None else steps

    return dict(sorted(distances.items(), key=distance))


def read_sight(text: str) -> str:
    """Return how a text tells distances: ``exact``, ``rough`` or ``names``."""
    if " steps away" not in text:
        return "names"
    return "rough" if " about " in text else "exact"


def read_place(text: str) -> str:
    """Return the landscape that a text says one is in; empty for none."""
    match = _PLACE.search(text)
    return match[1] if match else ""


def read_near(text: str) -> list[str]:
    """Return the stations nearby, which MineDojo treats as if they were held."""
    match = _NEAR.search(text)
    if match is None:
        return []
    return [station for station in (TABLE, FURNACE) if station in match[1]]


def scaled(recipe: Recipe, count: int, fuel: str = "planks") -> Recipe:
    """Return a recipe that makes ``count`` or more items at once, its fuel as the last part."""
    times = recipe.times(count)
    whole = recipe.repeated(times)
    if recipe.verb != "smelt":
        return whole
    return whole._replace(parts=(*whole.parts, Want(fuel, burnt(fuel, times))))


def burnt(fuel: str, count: int) -> int:
    """Return the number of pieces of a fuel that smelt ``count`` items."""
    for name, tenths in FUELS.items():
        if has({fuel: 1}, name):  # which also finds oak planks under planks
            return ceil_div(10 * count, tenths)
    return count  # an unknown fuel is taken to smelt one item a piece


def command(
    recipe: Recipe,
    held: Mapping[str, int],
    like: Iterable[str] = (),
) -> str:
    """Return the action for a recipe, with held items in place of kinds, ``like`` first."""
    if recipe.verb not in ("craft", "smelt"):
        return str(recipe)
    parts: list[Want] = []
    for part in recipe.parts:
        parts += _shares(part, held, like)
    return f"{recipe.verb} {recipe.makes.amount} {recipe.makes.item} using {listed(parts)}"


def _shares(
    part: Want,
    held: Mapping[str, int],
    like: Iterable[str],
) -> list[Want]:
    """Return members of a kind that make up the amount: ``like`` first, then the most held."""
    choices = sorted(members(part.item), key=lambda item: (item not in like, -held.get(item, 0)))
    shares, left = [], part.amount
    for item in choices:
        amount = min(left, held.get(item, 0))
        if amount:
            shares.append(Want(item, amount))
            left -= amount
    if left:  # the game's answer then names the missing items
        return [Want(choices[0], part.amount)]
    return shares
