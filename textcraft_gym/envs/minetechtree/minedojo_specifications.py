"""The tasks and items of an installed MineDojo, read from its files without importing it.

``pip install minedojo`` fails today, since it pins an old Gym; ``pip install --no-deps minedojo``
puts the files in place, and PyYAML (extra ``[minedojo]``) reads them. Nothing of them is copied
here.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from textcraft_gym.envs.minetechtree.minedojo_names import task_id
from textcraft_gym.errors import TextCraftGymError, how_to_install

TASKS_FILE = "tasks/description_files/programmatic_tasks.yaml"
ITEMS_FILE = "sim/mc_meta/mc_constants.json"
HOW_TO_INSTALL = f"pip install --no-deps minedojo, and {how_to_install('minedojo')}"


class MineDojoMissing(TextCraftGymError, ImportError):
    """MineDojo, or a package that reads or runs it, is missing; the message says how to get it."""


class Specification(NamedTuple):
    """MineDojo's description of a task.

    Attributes:
        prompt: The goal.
        guidance: A way to reach it.
        category: ``harvest``, ``techtree`` and others.
    """

    prompt: str
    guidance: str
    category: str


class Abilities(NamedTuple):
    """The items that MineDojo's simulator can make, in the order of its actions' seventh number.

    Attributes:
        by_hand: Items crafted anywhere.
        at_table: Items crafted near a crafting table.
        in_furnace: Items smelted near a furnace.
    """

    by_hand: tuple[str, ...]
    at_table: tuple[str, ...]
    in_furnace: tuple[str, ...]

    def number(self, item: str) -> int | None:
        """Return the number that makes an item in an action; None if the simulator cannot."""
        everything = self.by_hand + self.at_table + self.in_furnace
        return everything.index(item) if item in everything else None


def find_minedojo() -> Path:
    """Return the folder of the package, which is not imported.

    Raises:
        MineDojoMissing: If it is not installed.
    """
    package = find_spec("minedojo")
    if package is None or not package.submodule_search_locations:
        raise MineDojoMissing(f"MineDojo is not installed. To install its files: {HOW_TO_INSTALL}")
    return Path(next(iter(package.submodule_search_locations)))


def read_specifications() -> dict[str, Specification]:
    """Return MineDojo's programmatic tasks by id.

    Raises:
        MineDojoMissing: If it, or PyYAML, is not installed.
    """
    return _read_specifications(find_minedojo() / TASKS_FILE)


def specification(item: str) -> Specification | None:
    """Return MineDojo's description of the task of obtaining an item, or None if it has none.

    Raises:
        MineDojoMissing: If it, or PyYAML, is not installed.
    """
    return read_specifications().get(task_id(item))


def read_abilities() -> Abilities:
    """Return the items that the simulator can make, derived from its recipes as it does.

    An item counts as crafted by hand if each of its recipes fits a square of two by two. Recipes
    that need their own output are left out, and so are items that would be in two lists or that the
    simulator leaves out.

    Raises:
        MineDojoMissing: If it is not installed.
    """
    return _read_abilities(find_minedojo() / ITEMS_FILE)


@lru_cache(maxsize=2)
def _read_specifications(file: Path) -> dict[str, Specification]:
    try:
        import yaml
    except ImportError as error:
        raise MineDojoMissing(
            f"PyYAML is not installed. To install it: {HOW_TO_INSTALL}"
        ) from error

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with file.open(encoding="utf-8") as stream:
        # Both loaders are safe ones.
        tasks: dict[str, dict[str, Any]] = yaml.load(stream, loader)  # noqa: S506
    return {
        id: Specification(str(task["prompt"]), str(task["guidance"]), str(task["category"]))
        for id, task in tasks.items()
    }


_NOT_BY_HAND = frozenset(
    {"coal", "diamond", "emerald", "gold_ingot", "iron_ingot", "redstone", "stone"}
)
_NOT_AT_TABLE = frozenset({"iron_ingot", "gold_ingot"})
_NOT_IN_FURNACE = frozenset({"iron_nugget", "dye", "gold_nugget"})
_HAND_SIZES = frozenset({0, 1, 2, 4})


@lru_cache(maxsize=2)
def _read_abilities(file: Path) -> Abilities:
    with file.open(encoding="utf-8") as stream:
        constants = json.load(stream)
    crafted = _recipe_sizes(constants["craftingRecipes"])
    smelted = _recipe_sizes(constants["smeltingRecipes"])
    fit_hand = {item for item, sizes in crafted.items() if sizes <= _HAND_SIZES}
    by_hand = fit_hand - _NOT_BY_HAND
    at_table = crafted.keys() - fit_hand - _NOT_AT_TABLE
    in_furnace = smelted.keys() - _NOT_IN_FURNACE
    # Sorted, since the simulator numbers its items in this order.
    items = sorted(item["type"] for item in constants["items"])
    return Abilities(
        tuple(item for item in items if item in by_hand),
        tuple(item for item in items if item in at_table),
        tuple(item for item in items if item in in_furnace),
    )


def _recipe_sizes(recipes: list[dict[str, Any]]) -> dict[str, set[int]]:
    sizes: dict[str, set[int]] = {}
    for recipe in recipes:
        made = recipe["outputItemName"]
        if recipe["ingredients"] and made not in recipe["ingredients"]:
            sizes.setdefault(made, set()).add(recipe.get("recipeSize", 0))
    return sizes
