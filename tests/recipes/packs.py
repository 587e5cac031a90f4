"""Small packs, written as the game writes its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textcraft_gym.recipes import RecipeBook
from textcraft_gym.recipes.book import Tags


def shapeless(
    output: str, *ingredients: str | Sequence[str], makes: int = 1, group: str = ""
) -> dict[str, Any]:
    """Return a recipe; an ingredient is an item, ``#tag``, or a list of alternatives."""
    return {
        "type": "minecraft:crafting_shapeless",
        "group": group,
        "ingredients": list(ingredients),
        "result": {"item": output, "count": makes},
    }


def write_pack(
    folder: Path, recipes: Mapping[str, object], tags: Mapping[str, Sequence[object]] | None = None
) -> Path:
    """Write recipes (the JSON of each, by name) and tags (the values of each, by name) as a
    data-pack folder."""
    space = folder / "data" / "minecraft"
    for name, data in recipes.items():
        write_json(space / "recipes" / f"{name}.json", data)
    for name, values in (tags or {}).items():
        write_json(space / "tags" / "items" / f"{name}.json", {"values": values})
    return folder


def write_json(file: Path, data: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data))


def load(
    folder: Path,
    recipes: Sequence[Mapping[str, Any]],
    tags: Mapping[str, Sequence[object]] | None = None,
    reading: Tags = "item",
) -> RecipeBook:
    """Write a pack and load it; the recipes are named after their output and their place in the
    list."""
    named = {
        f"{data['result']['item']}_{place}".replace(":", "_"): data
        for place, data in enumerate(recipes)
    }
    return RecipeBook.load(write_pack(folder, named, tags), tags=reading)
