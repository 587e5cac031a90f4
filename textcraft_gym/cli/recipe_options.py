"""Options of the commands that read Minecraft's recipes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from textcraft_gym.recipes import RecipeBook

Recipes = Annotated[
    Path | None,
    typer.Option(
        help="Data-pack folder, zip or game jar, or made:depth=8; by default Minecraft 1.16.5."
    ),
]
TagsOption = Annotated[
    str, typer.Option("--tags", help="group, as in the published game, or item, as in Minecraft.")
]


def open_book(recipes: Path | None, tags: str) -> RecipeBook:
    """Load recipes as the options say."""
    reading: Any = tags  # checked by load, which names the two
    return RecipeBook.load(recipes, tags=reading)
