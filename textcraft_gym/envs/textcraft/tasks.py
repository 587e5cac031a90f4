"""TextCraft's tasks: the items to craft, and their splits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from textcraft_gym.envs.textcraft import text
from textcraft_gym.errors import UnknownName
from textcraft_gym.recipes.book import RecipeBook, Tags
from textcraft_gym.recipes.made import is_made
from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE
from textcraft_gym.recipes.solver import shortest_plan
from textcraft_gym.recipes.splits import (
    Splits,
    made_splits,
    paper_splits,
    read_splits,
    task_items,
    training_items,
)
from textcraft_gym.recipes.variants import family


@dataclass(frozen=True)
class Task:
    """Craft one item.

    Attributes:
        id: The item, ``minecraft:beehive``.
        depth: Its recipe depth.
    """

    id: str
    depth: int
    book: RecipeBook = field(repr=False, compare=False)

    @property
    def group(self) -> str:
        """Its depth in words, ``depth 2``."""
        return f"depth {self.depth}"

    @property
    def family(self) -> str:
        """What it is but for its colour or wood, ``minecraft:*_bed``."""
        return family(self.id)

    @cached_property
    def optimal_length(self) -> int:
        """The fewest actions that craft the item from nothing."""
        return shortest_plan(self.book, self.id).length

    @property
    def content(self) -> str:
        """The goal and every command of its tree."""
        commands: set[str] = set()
        for item in self.book.tree(self.id):
            commands.update(text.command(self.book, recipe) for recipe in self.book.recipes[item])
        return "\n".join([self.id, *sorted(commands)])


def split_names(recipes: str | Path | None = None) -> tuple[str, ...]:
    """Return the names of the splits of recipes."""
    return ("train", "dev", "test", "all") if is_made(recipes) else ("train", "test", "dev", "all")


def default_split(recipes: str | Path | None = None, tags: Tags = "group") -> str:
    """Return the split that is played where none is named: ``dev``, or ``all`` if that is empty."""
    if recipes is None or is_made(recipes):
        return "dev"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the environment says the same
        book = RecipeBook.load(recipes, tags=tags)
    return default_split_of(book)


def default_split_of(book: RecipeBook, *, made: bool = False) -> str:
    """Return the split of recipes that is played where none is named."""
    return "dev" if _named_splits(book, made)["dev"] else "all"


def split_tasks(
    book: RecipeBook,
    split: str,
    *,
    made: bool = False,
) -> tuple[Task, ...]:
    """Return the tasks of a split: a named one, or one in a file, ``my.jsonl:train``.

    Args:
        book: The recipes.
        split: The name of the split.
        made: The recipes are made ones, of which ``train``, ``dev`` and ``test`` are fractions.

    Raises:
        UnknownName: If there is no such split, or a split in a file names an unknown task.
    """
    named = _named_splits(book, made)
    if split in named:
        return tuple(find_task(book, item) for item in named[split])
    file, colon, name = str(split).rpartition(":")
    if not colon or not Path(file).is_file():
        raise UnknownName.of("split", split, [*named, "FILE.jsonl:NAME of an existing file"])
    written = read_splits(file)
    if name not in written:
        raise UnknownName.of(f"split in {file}", name, list(written))
    return tuple(find_task(book, item) for item in written[name])


def find_task(book: RecipeBook, item: object) -> Task:
    """Return the task of crafting ``item``, an id with or without ``minecraft:``.

    Raises:
        UnknownName: If there is no such task.
    """
    known = _all_tasks(book)
    if isinstance(item, str):
        for name in (item, DEFAULT_NAMESPACE + item):
            if name in known:
                return known[name]
    raise UnknownName.of("task", item, list(known))


@lru_cache(maxsize=64)
def _all_tasks(book: RecipeBook) -> dict[str, Task]:
    return {item: Task(item, book.depths[item], book) for item in book.recipes}


@lru_cache(maxsize=64)
def _named_splits(book: RecipeBook, made: bool) -> Splits:
    if made:
        splits = made_splits(book)
    else:
        splits = {"train": training_items(book), **paper_splits(book)}
    return splits | {"all": task_items(book)}
