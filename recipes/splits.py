"""Tasks by recipe depth, and their division into train, dev and test."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from textcraft_gym.errors import number
from textcraft_gym.recipes.book import RecipeBook
from textcraft_gym.recipes.pack import BUNDLED
from textcraft_gym.recipes.recipe import RecipeError
from textcraft_gym.storage.cache import atomic_write

Splits: TypeAlias = dict[str, tuple[str, ...]]
"""Task ids by the name of their split."""

# As in ADaPT's paper, where nothing shallower is a task.
MIN_TASK_DEPTH = 2
PAPER_GOALS = BUNDLED / "paper_goals.jsonl"
"""A file of splits: its ``test`` has the 77 goals of depth 2 of the ADaPT paper."""


def task_items(book: RecipeBook) -> tuple[str, ...]:
    """Return the task items, sorted: craftable ones of depth 2 or more, else of depth 1."""
    least = min(MIN_TASK_DEPTH, max(book.depths.values(), default=0))
    return tuple(sorted(item for item, depth in book.depths.items() if depth >= least))


def training_items(book: RecipeBook) -> tuple[str, ...]:
    """Return the craftable items that are no task items, sorted: those of depth 1, if any."""
    return tuple(sorted(set(book.depths).difference(task_items(book))))


def paper_splits(book: RecipeBook) -> Splits:
    """Return the splits of the ADaPT paper: test has depth 3 and more and 77 of depth 2.

    Dev has the rest.

    With the recipes of Minecraft 1.16.5 the 77 are the goals that the authors played. In another
    book, goals of theirs that are not of depth 2 there are replaced by the first others by a hash
    of the item id.
    """
    played = _paper_goals()
    tasks = task_items(book)
    shallow = [item for item in tasks if book.depths[item] == MIN_TASK_DEPTH]
    # A hash in place of a shuffle: one more item leaves the order of the others as it is.
    shallow.sort(key=lambda item: (item not in played, _stable_hash(item)))
    dev = set(shallow[len(played) :])
    return {
        "test": tuple(item for item in tasks if item not in dev),
        "dev": tuple(item for item in tasks if item in dev),
    }


def made_splits(book: RecipeBook) -> Splits:
    """Return the splits of made recipes: half of each depth to train, a quarter to dev and test."""
    return make_splits(book, (0.5, 0.25, 0.25))


def make_splits(
    book: RecipeBook,
    fractions: Sequence[float] = (0.8, 0.1, 0.1),
    *,
    seed: int = 0,
    compositional: bool = False,
) -> Splits:
    """Divide the tasks into train, dev and test, every depth by the same fractions.

    Args:
        book: The recipes, whose tasks are divided.
        fractions: Of train, dev and test; they add up to 1. A depth with few tasks is rounded by
            largest remainder.
        seed: Seed of the division. The same book, fractions and seed always give the same one.
        compositional: Keep every craftable intermediate of a test tree out of train's goals, so
            that test asks for compositions whose parts were never a goal. Such goals go to dev, and
            dev gives train others of their depth while it has any; so train can come out smaller
            than its fraction.

    Raises:
        ValueError: If the fractions are not three parts of 1.
    """
    for part in fractions:
        number("each fraction", part)
    if (
        len(fractions) != 3
        or not all(0 <= part <= 1 for part in fractions)
        or abs(sum(fractions) - 1) > 1e-9
    ):
        raise ValueError(
            f"expected three fractions of 0 or more that add up to 1, got {tuple(fractions)}"
        )
    splits: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
    for stratum in _by_depth(book).values():
        # Not by shuffling: a new item of a book leaves the others in their order.
        shuffled = sorted(stratum, key=lambda item: _stable_hash(f"{seed}:{item}"))
        for name, size in zip(splits, _apportion(len(stratum), fractions), strict=True):
            splits[name] += shuffled[:size]
            del shuffled[:size]

    if compositional:
        _move_intermediates(book, splits)
    return {name: tuple(sorted(items)) for name, items in splits.items()}


class Leakage(NamedTuple):
    """Overlap between the trees of train and the trees of test.

    Attributes:
        intermediates: For each craftable intermediate of a test tree: whether it was a ``goal`` of
            train, only an ``intermediate`` of a train tree, or ``unseen``.
        goals: For each test goal, its intermediates that were met in either way.
    """

    intermediates: dict[str, Literal["goal", "intermediate", "unseen"]]
    goals: dict[str, tuple[str, ...]]

    def count(self, met_as: str) -> int:
        """Return the number of intermediates of a role: ``goal``, ``intermediate``, ``unseen``."""
        return sum(role == met_as for role in self.intermediates.values())


def leakage(
    book: RecipeBook,
    train: Iterable[str],
    test: Iterable[str],
) -> Leakage:
    """Report which sub-recipes of test were goals or intermediates in train."""
    train_goals = set(train)
    train_intermediates = _intermediates(book, train_goals)
    test_goals = list(test)
    intermediates: dict[str, Literal["goal", "intermediate", "unseen"]] = {}
    for item in sorted(_intermediates(book, test_goals)):
        if item in train_goals:
            intermediates[item] = "goal"
        elif item in train_intermediates:
            intermediates[item] = "intermediate"
        else:
            intermediates[item] = "unseen"

    met = {}
    for goal in test_goals:
        tree = sorted(book.tree(goal)[1:])
        met[goal] = tuple(item for item in tree if intermediates[item] != "unseen")
    return Leakage(intermediates, met)


def write_splits(
    book: RecipeBook,
    splits: Mapping[str, Iterable[str]],
    file: str | Path,
) -> None:
    """Write splits as JSON lines, ``{"split": "train", "task": "minecraft:chest", "depth": 2}``."""
    lines = []
    for name, items in splits.items():
        for item in items:
            row = {"split": name, "task": item, "depth": book.depths[item]}
            lines.append(json.dumps(row) + "\n")
    atomic_write(Path(file), "".join(lines))


def read_splits(file: str | Path) -> Splits:
    """Read a file of splits that ``write_splits`` wrote.

    Raises:
        RecipeError: If a line is not an object with a split and a task, or repeats an earlier line;
            it names the line.
        OSError: If the file cannot be read.
    """
    splits: dict[str, list[str]] = defaultdict(list)
    for line_number, line in enumerate(Path(file).read_bytes().splitlines(), 1):
        try:
            row = json.loads(line)
            split, task = row["split"], row["task"]
        except (ValueError, TypeError, KeyError) as error:
            raise RecipeError.at(
                f"{file}:{line_number}",
                'expected {"split": ..., "task": ...}',
            ) from error
        if not isinstance(split, str) or not isinstance(task, str):
            raise RecipeError.at(
                f"{file}:{line_number}",
                "expected the names of a split and a task",
            )
        if task in splits[split]:
            raise RecipeError.at(f"{file}:{line_number}", f"duplicate task {task} in split {split}")
        splits[split].append(task)
    return {name: tuple(items) for name, items in splits.items()}


@cache
def _paper_goals() -> frozenset[str]:
    return frozenset(read_splits(PAPER_GOALS)["test"])


def _stable_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _by_depth(book: RecipeBook) -> dict[int, list[str]]:
    strata: dict[int, list[str]] = defaultdict(list)
    for item in task_items(book):
        strata[book.depths[item]].append(item)
    return dict(sorted(strata.items()))


def _apportion(total: int, fractions: Sequence[float]) -> list[int]:
    # 1e-9, since a product such as 100 * 0.29 is just below the integer.
    sizes = [int(total * fraction + 1e-9) for fraction in fractions]
    by_remainder = sorted(range(len(sizes)), key=lambda i: sizes[i] - total * fractions[i])
    for i in by_remainder[: total - sum(sizes)]:
        sizes[i] += 1
    return sizes


def _intermediates(book: RecipeBook, goals: Iterable[str]) -> set[str]:
    """Return the craftable items below the goals in their trees."""
    items: set[str] = set()
    for goal in goals:
        items.update(book.tree(goal)[1:])
    return items


def _move_intermediates(book: RecipeBook, splits: dict[str, list[str]]) -> None:
    """Swap train goals that are intermediates of test for dev goals of their depth that are not."""
    barred = _intermediates(book, splits["test"])
    for item in list(splits["train"]):
        if item not in barred:
            continue
        splits["train"].remove(item)
        for goal in splits["dev"]:
            if goal not in barred and book.depths[goal] == book.depths[item]:
                splits["dev"].remove(goal)
                splits["train"].append(goal)
                break
        splits["dev"].append(item)
