"""The commands ``textcraft-gym recipes ...``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textcraft_gym.cli import tables
from textcraft_gym.cli.options import Json
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
    help="Minecraft's recipes: import a pack, show an item, count.",
)


@app.command("import")
def import_recipes(
    path: Annotated[Path, typer.Argument(help="A data-pack folder, a zip, a wheel or a game jar.")],
    out: Annotated[Path, typer.Option(help="The folder to write recipes.jsonl and tags.jsonl to.")],
) -> None:
    """Turn recipes and item tags into a compact bundle, which loads wherever a path to recipes is taken."""
    for name in BUNDLE:
        check_output(out / name, [path])
    pack = open_pack(path)
    RecipeBook.load(path)
    write_bundle(pack, out)
    say(f"{len(pack.recipes)} recipes and {len(pack.tags)} item tags to {out}")


@app.command("show")
def show_recipe(
    item: str, recipes: Recipes = None, tags: TagsOption = "group", as_json: Json = False
) -> None:
    """Draw the recipe tree of an item, named with or without minecraft:."""
    book = open_book(recipes, tags)
    item = item if item in book.names else DEFAULT_NAMESPACE + item
    if item not in book.names:
        raise UnknownName("item", item.removeprefix(DEFAULT_NAMESPACE), list(book.names))
    if as_json:
        print_json(tables.tree_rows(book, item))
    else:
        tables.show_tree(book, item)


@app.command("stats")
def recipe_stats(
    recipes: Recipes = None, tags: TagsOption = "group", as_json: Json = False
) -> None:
    """Count recipes, items and depths."""
    stats = tables.recipe_stats(open_pack(recipes), open_book(recipes, tags))
    if as_json:
        print_json(stats)
    else:
        tables.show_stats(stats)
