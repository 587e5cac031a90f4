"""A small pack as Minecraft 1.14 to 1.21 spell theirs, with the recipes that were hard to load.

The recipes are facts of the game, written for these tests: planks, tags and alternatives as in
1.14, copper and its wax as in 1.17, copied smithing templates and wool that is dyed from any other
wool as in 1.20.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

COLOURS = [
    "black",
    "blue",
    "brown",
    "cyan",
    "gray",
    "green",
    "light_blue",
    "light_gray",
    "lime",
    "magenta",
    "orange",
    "pink",
    "purple",
    "red",
    "white",
    "yellow",
]
TEMPLATES = "netherite_upgrade_smithing_template", "sentry_armor_trim_smithing_template"
TAGS = {
    "planks": ["oak_planks", "cherry_planks"],
    "oak_logs": ["oak_log", "stripped_oak_log"],
    "logs": ["#oak_logs", "cherry_log"],
    "coals": ["coal", "charcoal"],
    "wool": [f"{colour}_wool" for colour in COLOURS],
}


class Spelling(NamedTuple):
    """How a version writes its files: folders, an ingredient (an item or ``#tag``), a result."""

    recipes: str
    tags: str
    ingredient: Callable[[str], Any]
    result: Callable[[str, int], Any]
    extra: dict[str, Any]


def _object(reference: str) -> dict[str, str]:
    return {"tag" if reference[0] == "#" else "item": f"minecraft:{reference.lstrip('#')}"}


def _text(reference: str) -> str:
    return f"{'#' * (reference[0] == '#')}minecraft:{reference.lstrip('#')}"


def _item(item: str, count: int) -> dict[str, Any]:
    return {"item": f"minecraft:{item}"} | ({"count": count} if count > 1 else {})


def _id(item: str, count: int) -> dict[str, Any]:
    return {"count": count, "id": f"minecraft:{item}"}


def _bare(item: str, count: int) -> Any:
    return f"minecraft:{item}" if count == 1 else _item(item, count)


_BOOK = {"category": "misc", "show_notification": True}
SPELLINGS = {
    "1.14": Spelling("recipes", "tags/items", _object, _item, {}),
    "results as texts": Spelling("recipes", "tags/items", _object, _bare, {}),
    "1.20": Spelling("recipes", "tags/items", _object, _item, _BOOK),
    "1.20.5": Spelling("recipes", "tags/items", _object, _id, _BOOK),
    "1.21": Spelling("recipe", "tags/item", _object, _id, _BOOK),
    "1.21.2": Spelling("recipe", "tags/item", _text, _id, _BOOK),
}


class Written(NamedTuple):
    """A recipe before it is spelt: its rows (none if it has no shape), its ingredients by symbol or
    in a list."""

    output: str
    makes: int
    ingredients: dict[str, str | list[str]] | list[str | list[str]]
    rows: tuple[str, ...] = ()
    group: str = ""


RECIPES: dict[str, Written] = (
    {
        "oak_planks": Written("oak_planks", 4, ["#oak_logs"], group="planks"),
        "cherry_planks": Written("cherry_planks", 4, ["cherry_log"], group="planks"),
        "stick": Written("stick", 4, {"#": "#planks"}, ("#", "#"), "sticks"),
        "stick_from_bamboo_item": Written("stick", 1, {"#": "bamboo"}, ("#", "#"), "sticks"),
        "chest": Written("chest", 1, {"#": "#planks"}, ("###", "# #", "###")),
        "torch": Written("torch", 4, {"#": "stick", "X": ["coal", "charcoal"]}, ("X", "#")),
        "campfire": Written(
            "campfire", 1, {"L": "#logs", "S": "stick", "C": "#coals"}, (" S ", "SCS", "LLL")
        ),
        "iron_block": Written("iron_block", 1, {"#": "iron_ingot"}, ("###",) * 3),
        "iron_ingot_from_iron_block": Written("iron_ingot", 9, ["iron_block"], group="iron_ingot"),
        "iron_ingot_from_nuggets": Written(
            "iron_ingot", 1, {"#": "iron_nugget"}, ("###",) * 3, "iron_ingot"
        ),
        "iron_nugget": Written("iron_nugget", 9, ["iron_ingot"]),
        "chain": Written("chain", 1, {"I": "iron_ingot", "N": "iron_nugget"}, ("N", "I", "N")),
        "copper_block": Written("copper_block", 1, {"#": "copper_ingot"}, ("###",) * 3),
        "copper_ingot": Written("copper_ingot", 9, ["copper_block"], group="copper_ingot"),
        "copper_ingot_from_waxed_copper_block": Written(
            "copper_ingot", 9, ["waxed_copper_block"], group="copper_ingot"
        ),
        "waxed_copper_block_from_honeycomb": Written(
            "waxed_copper_block", 1, ["copper_block", "honeycomb"]
        ),
        "spyglass": Written(
            "spyglass", 1, {"X": "copper_ingot", "#": "amethyst_shard"}, (" # ", " X ", " X ")
        ),
        "white_wool_from_string": Written("white_wool", 1, {"#": "string"}, ("##", "##")),
        "painting": Written("painting", 1, {"#": "stick", "X": "#wool"}, ("###", "#X#", "###")),
    }
    | {
        template: Written(
            template, 2, {"#": "diamond", "C": stone, "S": template}, ("#S#", "#C#", "###")
        )
        for template, stone in zip(TEMPLATES, ("netherrack", "cobblestone"), strict=True)
    }
    | {
        f"dye_{colour}_wool": Written(
            f"{colour}_wool",
            1,
            [f"{colour}_dye", [f"{other}_wool" for other in COLOURS if other != colour]],
            group="wool",
        )
        for colour in COLOURS
    }
    | {
        f"{colour}_bed": Written(
            f"{colour}_bed", 1, {"#": f"{colour}_wool", "X": "#planks"}, ("###", "XXX"), "bed"
        )
        for colour in COLOURS
    }
)
"""By the names of their files."""

OTHERS: dict[str, Any] = {
    "bookcloning": {"type": "minecraft:crafting_special_bookcloning", "category": "misc"},
    "decorated_pot": {"type": "minecraft:crafting_decorated_pot", "category": "misc"},
    "dye_black_bundle": {
        "type": "minecraft:crafting_transmute",
        "input": "#minecraft:bundles",
        "material": "minecraft:black_dye",
        "result": "minecraft:black_bundle",
    },
    "copper_ingot_from_smelting_raw_copper": {
        "type": "minecraft:smelting",
        "ingredient": {"item": "minecraft:raw_copper"},
        "result": "minecraft:copper_ingot",
        "experience": 0.7,
        "cookingtime": 200,
    },
    "sentry_armor_trim": {
        "type": "minecraft:smithing_trim",
        "template": {"item": "minecraft:sentry_armor_trim_smithing_template"},
        "base": {"tag": "minecraft:trimmable_armor"},
        "addition": {"tag": "minecraft:trim_materials"},
    },
}
"""Recipes that are not for a crafting table, some of types that 1.20 or 1.21 brought."""


def pack_files(spelling: Spelling) -> dict[str, Any]:
    """Return the JSON of each file of the pack, as a version writes it."""
    recipes = {name: _spelt(recipe, spelling) for name, recipe in RECIPES.items()} | OTHERS
    tags = {
        name: {
            "values": [
                value.replace("#", "#minecraft:") if "#" in value else f"minecraft:{value}"
                for value in values
            ]
        }
        for name, values in TAGS.items()
    }
    folders = {spelling.recipes: recipes, spelling.tags: tags}
    return {
        f"data/minecraft/{folder}/{name}.json": data
        for folder, some in folders.items()
        for name, data in some.items()
    }


def write_jar(file: Path, spelling: Spelling) -> Path:
    """Write the pack as a game jar, with files of the same names that are no recipes."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as jar:
        for name, data in pack_files(spelling).items():
            jar.writestr(name, json.dumps(data, indent=2))
        jar.writestr("data/minecraft/advancement/recipes/misc/stick.json", "{}")
        jar.writestr("data/minecraft/tags/block/planks.json", "{}")
        jar.writestr(
            "data/minecraft/datapacks/trade_rebalance/data/minecraft/recipe/stick.json", "{}"
        )
        jar.writestr("assets/minecraft/models/item/stick.json", "[]")
    return file


def _spelt(recipe: Written, spelling: Spelling) -> dict[str, Any]:
    def spelt(ingredient: str | list[str]) -> Any:
        if isinstance(ingredient, str):
            return spelling.ingredient(ingredient)
        return [spelling.ingredient(alternative) for alternative in ingredient]

    shape: dict[str, Any]
    if isinstance(recipe.ingredients, dict):
        key = {symbol: spelt(part) for symbol, part in recipe.ingredients.items()}
        shape = {"type": "minecraft:crafting_shaped", "key": key, "pattern": list(recipe.rows)}
    else:
        shape = {
            "type": "minecraft:crafting_shapeless",
            "ingredients": [spelt(part) for part in recipe.ingredients],
        }
    group = {"group": recipe.group} if recipe.group else {}
    return shape | group | spelling.extra | {"result": spelling.result(recipe.output, recipe.makes)}
