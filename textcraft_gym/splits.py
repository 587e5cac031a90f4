"""User-made splits of TextCraft."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from textcraft_gym.errors import Unsupported
from textcraft_gym.recipes import RecipeBook, splits
from textcraft_gym.recipes.splits import Leakage, Splits, leakage, write_splits
from textcraft_gym.registration import find


class MadeSplits(NamedTuple):
    """Task ids by split, the overlap of train and test, and the depth of every task."""

    splits: Splits
    leakage: Leakage
    depths: dict[str, int]


def make_splits(
    env_id: str = "TextCraft-v0",
    fractions: Sequence[float] = (0.8, 0.1, 0.1),
    *,
    seed: int = 0,
    compositional: bool = False,
    out: str | Path | None = None,
    recipes: str | Path | None = None,
) -> MadeSplits:
    """Divide TextCraft's tasks into train, dev and test, stratified by depth.

    Args:
        env_id: ``TextCraft-v0`` or ``TextCraftTags-v0``.
        fractions: Of train, dev and test; they add up to 1.
        seed: Draws the division.
        compositional: Keep every craftable intermediate of a test tree out of train's goals.
        out: A file of JSON lines to write; ``gym.make(env_id, split=f"{out}:train")`` then plays
            it.
        recipes: Recipes other than the bundled ones, as for ``gym.make``.

    Raises:
        Unsupported: If the environment has no recipes of its own, as the tech tree has not.
        ValueError: If the fractions are not three parts of 1.
    """
    world = find(env_id)
    if not world.takes("recipes"):
        raise Unsupported(f"{env_id} offers no make_splits: TextCraft-v0 and TextCraftTags-v0 do")
    book: RecipeBook = world.make(split="all", recipes=recipes).get_wrapper_attr("book")
    made = splits.make_splits(book, fractions, seed=seed, compositional=compositional)
    if out is not None:
        write_splits(book, made, out)
    return MadeSplits(made, leakage(book, made["train"], made["test"]), book.depths)
