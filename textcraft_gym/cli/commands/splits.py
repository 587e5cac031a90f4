"""The commands ``textcraft-gym splits ...``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

import textcraft_gym
from textcraft_gym.cli.options import Json, Wide
from textcraft_gym.cli.recipe_options import Recipes, TagsOption, open_book
from textcraft_gym.cli.recipe_tables import show_leakage, show_splits
from textcraft_gym.cli.terminal import print_json
from textcraft_gym.recipes.splits import Leakage, Splits, leakage, paper_splits
from textcraft_gym.storage.cache import atomic_write
from textcraft_gym.storage.outputs import check_output

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Divide tasks into train, dev and test.",
)


@app.command("paper")
def show_paper_splits(
    recipes: Recipes = None,
    tags: TagsOption = "group",
    as_json: Json = False,
    wide: Wide = False,
) -> None:
    """Show splits of the ADaPT paper's sizes."""
    book = open_book(recipes, tags)
    splits = paper_splits(book)
    overlap = leakage(book, splits["dev"], splits["test"])
    _show(book.depths, splits, overlap, "dev", as_json)


@app.command("make")
def make_splits(
    out: Annotated[
        Path, typer.Option(help="JSONL file to write; its .leakage.json goes beside it.")
    ],
    env: Annotated[str, typer.Option(help="TextCraft-v0 or TextCraftTags-v0.")] = "TextCraft-v0",
    train: Annotated[float, typer.Option(help="Fraction of the tasks for train.")] = 0.8,
    dev: Annotated[float, typer.Option(help="Fraction for dev.")] = 0.1,
    test: Annotated[float, typer.Option(help="Fraction for test.")] = 0.1,
    seed: Annotated[int, typer.Option(help="Seed of the random split.")] = 0,
    compositional: Annotated[
        bool, typer.Option(help="Keep intermediates of test trees out of train's goals.")
    ] = False,
    recipes: Recipes = None,
    as_json: Json = False,
    wide: Wide = False,
) -> None:
    """Split tasks at random, stratified by depth.

    Reports the overlap of train and test.
    """
    leakage_file = out.with_suffix(".leakage.json")
    check_output(out, [recipes], [".jsonl"])
    check_output(leakage_file, [recipes])
    made = textcraft_gym.make_splits(
        env,
        (train, dev, test),
        seed=seed,
        compositional=compositional,
        out=out,
        recipes=recipes,
    )
    report = json.dumps(made.leakage._asdict(), indent=2) + "\n"
    atomic_write(leakage_file, report)
    _show(made.depths, made.splits, made.leakage, "train", as_json)


def _show(
    depths: Mapping[str, int],
    splits: Splits,
    overlap: Leakage,
    train: str,
    as_json: bool,
) -> None:
    """Print the tasks of each split, and what those of ``test`` share with those to learn from."""
    if as_json:
        print_json({"splits": dict(splits), "leakage": overlap._asdict()})
        return
    show_splits(depths, splits)
    show_leakage(overlap, train, "test")
