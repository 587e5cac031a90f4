"""The commands ``textcraft-gym splits ...``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import textcraft_gym
from textcraft_gym.cli import tables
from textcraft_gym.cli.recipe_options import Recipes, TagsOption, open_book
from textcraft_gym.recipes.splits import leakage, paper_splits
from textcraft_gym.storage.cache import atomic_write
from textcraft_gym.storage.outputs import check_output

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Divide tasks into train, dev and test."
)


@app.command("paper")
def show_paper_splits(recipes: Recipes = None, tags: TagsOption = "group") -> None:
    """Show the splits in the sizes of the ADaPT paper."""
    book = open_book(recipes, tags)
    splits = paper_splits(book)
    tables.show_splits(book.depths, splits)
    tables.show_leakage(leakage(book, splits["dev"], splits["test"]), "dev", "test")


@app.command("make")
def make_splits(
    out: Annotated[
        Path,
        typer.Option(help="The file of JSON lines to write; FILE.leakage.json goes beside it."),
    ],
    env: Annotated[str, typer.Option(help="TextCraft-v0 or TextCraftTags-v0.")] = "TextCraft-v0",
    train: float = 0.8,
    dev: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
    compositional: Annotated[
        bool, typer.Option(help="No intermediate of a test tree is a train goal.")
    ] = False,
    recipes: Recipes = None,
) -> None:
    """Make train, dev and test by fractions, stratified by depth, and report the overlap of train and test."""
    leakage_file = out.with_suffix(".leakage.json")
    for file in (out, leakage_file):
        check_output(file, [recipes])
    made = textcraft_gym.make_splits(
        env, (train, dev, test), seed=seed, compositional=compositional, out=out, recipes=recipes
    )
    report = json.dumps(made.leakage._asdict(), indent=2) + "\n"
    atomic_write(leakage_file, report)
    tables.show_splits(made.depths, made.splits)
    tables.show_leakage(made.leakage, "train", "test")
