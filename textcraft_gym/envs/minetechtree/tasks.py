"""The tasks of DEPS (Wang et al. 2023, appendix): 76 items of the tech tree in eight groups."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from textcraft_gym.envs.minetechtree.expert import fewest_actions, fewest_skills
from textcraft_gym.envs.minetechtree.minedojo_names import task_id
from textcraft_gym.envs.minetechtree.minedojo_specifications import (
    MineDojoMissing,
    Specification,
    specification,
)
from textcraft_gym.envs.minetechtree.state import Aim
from textcraft_gym.errors import UnknownName
from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE

RULES = ("vanilla", "deps")
JOIN = "+"
EQUIP_GROUP = "MT5"

TICKS = {
    "MT1": 3000,
    "MT2": 3000,
    "MT3": 6000,
    "MT4": 3000,
    "MT5": 6000,
    "MT6": 6000,
    "MT7": 6000,
    "MT8": 12000,
}
"""The paper's limit of each group."""

SEVERAL: Mapping[str, int] = {"goals2": 2, "goals3": 3, "goals4": 4}
"""The splits whose tasks are several items at once, and how many."""

SPLITS = ("core71", "table2", *TICKS, "all", *SEVERAL)

# Pairs of the paper's Required Skills and the items that need this number, each group in the
# paper's order.
_TABLE: dict[str, tuple[tuple[int, str], ...]] = {
    "MT1": (
        (2, "oak_planks"),
        (3, "stick oak_pressure_plate oak_button"),
        (4, "oak_slab bowl chest oak_stairs oak_boat oak_trapdoor oak_door"),
        (5, "oak_sign oak_fence oak_fence_gate"),
    ),
    "MT2": (
        (3, "crafting_table"),
        (5, "wooden_pickaxe wooden_axe wooden_hoe wooden_sword wooden_shovel"),
        (7, "furnace stone_pickaxe stone_axe stone_hoe stone_sword stone_shovel"),
    ),
    "MT3": (
        (5, "white_bed white_carpet"),
        (6, "painting item_frame"),
        (9, "cooked_porkchop cooked_beef cooked_mutton"),
    ),
    "MT4": (
        (7, "cobblestone_stairs cobblestone_slab cobblestone_wall lever stone_button"),
        (8, "coal"),
        (9, "stone torch stone_pressure_plate stone_bricks"),
        (10, "armor_stand quartz_block stone_brick_stairs"),
    ),
    "MT5": (
        (5, "leather_boots leather_chestplate leather_helmet leather_leggings"),
        (11, "shield iron_boots iron_chestplate iron_helmet iron_leggings"),
    ),
    "MT6": ((11, "bucket shears iron_pickaxe iron_axe iron_hoe iron_shovel iron_sword"),),
    "MT7": (
        (11, "iron_bars iron_nugget minecart cauldron iron_door iron_trapdoor tripwire_hook"),
        (11, "heavy_weighted_pressure_plate rail"),
        (12, "hopper furnace_minecart"),
        (13, "chest_minecart"),
        (14, "hopper_minecart"),
    ),
    "MT8": ((12, "diamond"),),
}

PAPER_NAMES = {
    "wooden_slab": "oak_slab",
    "wooden_door": "oak_door",
    "stone_stairs": "cobblestone_stairs",
    "stone_slab": "cobblestone_slab",
}
"""The paper's names, those of Minecraft 1.11; either name finds a task."""

NOT_CORE = frozenset(
    {"armor_stand", "quartz_block", "stone_bricks", "stone_brick_stairs", "stone_button"}
)
"""The tasks of the list that are not among the 71 of the paper's text.

They are inferred: the paper does not name them, and its results are of 69.
"""

NOT_IN_TABLE_2 = frozenset({"stone", "stone_pressure_plate"})
"""The further tasks that tables 2 and 21 leave out: they have 69, of which six of MT4."""

APART = (
    ("oak_boat", "oak_door", "oak_fence", "oak_sign"),
    ("white_bed", "white_carpet", "painting"),
    ("item_frame", "leather_boots", "leather_helmet"),
    ("cooked_porkchop",),
    ("furnace", "stone_pickaxe", "cobblestone_wall", "lever"),
    ("coal", "torch"),
    ("bucket", "shears"),
)
"""Tasks by their only source: oak trees, sheep, cows, pigs, stone, coal ore, iron ore.

Each source lies at its own place.
"""
DRAWN = 100
"""Number of tasks of each split of several items."""


@dataclass(frozen=True)
class Task:
    """Obtain an item, or several.

    Attributes:
        id: The item, ``iron_pickaxe``, or several joined by ``+``.
        group: ``MT1`` to ``MT8``; for several items, their number, ``2 goals``.
        depth: The paper's Required Skills; for several items, the least number of skills that they
            need together.
        ticks: Limit of ticks; for several items, the largest of theirs.
        aims: The items to obtain.
    """

    id: str
    group: str
    depth: int
    ticks: int
    aims: tuple[Aim, ...]

    @property
    def content(self) -> str:
        """The items to obtain and those to equip."""
        lines = []
        for aim in self.aims:
            verb = "equip" if aim.worn else "obtain"
            lines.append(f"{verb} {aim.item}")
        return "; ".join(lines)

    @property
    def optimal_length(self) -> int:
        """The fewest actions that solve it: those that obtain the items, one for each to equip."""
        return fewest_actions(aim.item for aim in self.aims) + sum(aim.worn for aim in self.aims)

    @property
    def details(self) -> dict[str, str]:
        """Further columns of a list of tasks: ticks, and the id in MineDojo if it is installed."""
        try:
            known = self.specification() is not None
        except MineDojoMissing:
            return {"ticks": str(self.ticks)}
        return {
            "ticks": str(self.ticks),
            "in MineDojo": task_id(self.aims[0].item) if known else "",
        }

    def specification(self) -> Specification | None:
        """Return MineDojo's prompt and guidance, or None; there are none for several items.

        Raises:
            MineDojoMissing: If MineDojo's files, or PyYAML, are not installed.
        """
        if len(self.aims) > 1:
            return None
        return specification(self.aims[0].item)


def split_tasks(split: str, rules: str) -> tuple[Task, ...]:
    """Return the tasks of ``core71``, ``table2``, a group, ``all``, or of several items at once.

    Raises:
        UnknownName: If there is no such split.
    """
    if split not in SPLITS:
        raise UnknownName.of("split", split, SPLITS)
    if split in SEVERAL:
        return _several(SEVERAL[split], rules)
    tasks = all_tasks(rules).values()
    if split in ("core71", "table2"):
        left_out = NOT_CORE if split == "core71" else NOT_CORE | NOT_IN_TABLE_2
        return tuple(task for task in tasks if task.id not in left_out)
    return tuple(task for task in tasks if split in ("all", task.group))


@lru_cache(maxsize=len(RULES) * len(SEVERAL))
def _several(number: int, rules: str) -> tuple[Task, ...]:
    """Return different tasks of items whose sources lie apart.

    Their order decides how far there is to walk.
    """
    rng = random.Random(f"several/{number}")
    drawn: dict[frozenset[str], list[str]] = {}
    while len(drawn) < DRAWN:
        items = [rng.choice(of_source) for of_source in rng.sample(APART, number)]
        drawn.setdefault(frozenset(items), items)
    return tuple(find_task(items, rules) for items in drawn.values())


def find_task(name: object, rules: str) -> Task:
    """Return the task of an item, or of several: a list, or names joined by ``+``.

    A name is the one here or that in the paper.

    Raises:
        UnknownName: If there is no such task.
        ValueError: If there are no names, or one is repeated.
    """
    parts = [_single_task(part, rules) for part in _names(name)]
    if len(parts) == 1:
        return parts[0]
    ids = [part.id for part in parts]
    if not ids or len(set(ids)) < len(ids):
        raise ValueError(f"expected the names of different tasks, got {name!r}")
    aims: list[Aim] = []
    for part in parts:
        aims += part.aims
    skills = fewest_skills(aim.item for aim in aims)
    ticks = max(part.ticks for part in parts)
    return Task(JOIN.join(ids), f"{len(parts)} goals", skills, ticks, tuple(aims))


def _names(name: object) -> Sequence[object]:
    if isinstance(name, str):
        return name.split(JOIN)
    if isinstance(name, Sequence):
        return name
    return [name]


@lru_cache(maxsize=len(RULES))
def all_tasks(rules: str) -> dict[str, Task]:
    """Return the 76 tasks by id."""
    tasks = {}
    for group, rows in _TABLE.items():
        for skills, names in rows:
            for name in names.split():
                aims = (_aim(name, group, rules),)
                tasks[name] = Task(name, group, skills, TICKS[group], aims)
    return tasks


def _aim(name: str, group: str, rules: str) -> Aim:
    """Return the aim of a task; with the rules of DEPS, wearable items count when they are held."""
    return Aim(DEFAULT_NAMESPACE + name, worn=group == EQUIP_GROUP and rules == "vanilla")


def _single_task(name: object, rules: str) -> Task:
    tasks = all_tasks(rules)
    plain = str(name).removeprefix(DEFAULT_NAMESPACE)
    id = PAPER_NAMES.get(plain, plain)
    if not isinstance(name, str) or id not in tasks:
        raise UnknownName.of("task", name, list(tasks))
    return tasks[id]
