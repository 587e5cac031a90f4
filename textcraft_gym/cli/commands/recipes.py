"""The commands ``textcraft-gym recipes ...``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli import recipe_tables
from textcraft_gym.cli.options import Json, Wide
from textcraft_gym.cli.recipe_options import Recipes, TagsOption, open_book
from textcraft_gym.cli.terminal import print_json, say
from textcraft_gym.errors import UnknownName
from textcraft_gym.recipes import RecipeBook
from textcraft_gym.recipes.made import open_pack
from textcraft_gym.recipes.pack import BUNDLE, write_bundle
from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE
from textcraft_gym.storage.outputs import check_output

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Import, show and count Minecraft's recipes.",
)


@app.command("import")
def import_recipes(
    path: Annotated[Path, typer.Argument(help="Data-pack folder, zip, wheel or game jar.")],
    out: Annotated[Path, typer.Option(help="Folder for recipes.jsonl and tags.jsonl.")],
) -> None:
    """Convert recipes and item tags to a compact bundle.

    The bundle loads wherever a path to recipes is expected.
    """
    for name in BUNDLE:
        check_output(out / name, [path])
    pack = open_pack(path)
    RecipeBook.load(path)  # raises if a recipe is malformed, before anything is written
    write_bundle(pack, out)
    say(f"Wrote {len(pack.recipes)} recipes and {len(pack.tags)} item tags to {out}")


@app.command("show")
def show_recipe(
    item: Annotated[str, typer.Argument(help="Item, with or without minecraft:.")],
    recipes: Recipes = None,
    tags: TagsOption = "group",
    as_json: Json = False,
) -> None:
    """Draw the recipe tree of an item."""
    book = open_book(recipes, tags)
    if item not in book.names:
        item = DEFAULT_NAMESPACE + item
    if item not in book.names:
        raise UnknownName.of("item", item.removeprefix(DEFAULT_NAMESPACE), list(book.names))
    if as_json:
        print_json(recipe_tables.tree_rows(book, item))
    else:
        recipe_tables.show_tree(book, item)


@app.command("stats")
def recipe_stats(
    recipes: Recipes = None,
    tags: TagsOption = "group",
    as_json: Json = False,
    wide: Wide = False,
) -> None:
    """Count recipes, items and depths."""
    stats = recipe_tables.recipe_stats(open_pack(recipes), open_book(recipes, tags))
    if as_json:
        print_json(stats)
    else:
        recipe_tables.show_stats(stats)
