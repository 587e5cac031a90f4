"""Tasks: numbered tables of each kind, and their splits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, islice

from textcraft_gym.envs.tabletop import text
from textcraft_gym.envs.tabletop.expert import plan
from textcraft_gym.envs.tabletop.generator import generate
from textcraft_gym.envs.tabletop.reliability import RELIABILITIES
from textcraft_gym.envs.tabletop.rules import parts
from textcraft_gym.envs.tabletop.state import KINDS, Game, World, first_state
from textcraft_gym.errors import UnknownName

NUMBERS: Mapping[str, range] = {"paper": range(5), "dev": range(5, 105), "test": range(105, 205)}
"""The numbers of the tables of each kind in each split."""

SPLITS = (*NUMBERS, "all")
LIMIT = 15
"""The paper's number of goals of an episode."""


@dataclass(frozen=True)
class Task:
    """One table.

    Attributes:
        id: Its kind and its number, ``towers-of-hanoi/3``.
        group: Its kind.
        world: What is on it.
    """

    id: str
    group: str
    world: World = field(repr=False, compare=False)

    @property
    def depth(self) -> int:
        """Number of parts that it takes, each of which is worth the same."""
        return parts(self.world)

    @property
    def optimal_length(self) -> int:
        """Number of the expert's goals, if none is missed."""
        return len(plan(self.world))

    @property
    def content(self) -> str:
        """What the player reads."""
        return text.reset(Game(self.world, LIMIT), first_state(self.world))


def split_tasks(split: str) -> tuple[Task, ...]:
    """Return the tasks of ``paper``, ``dev``, ``test`` or ``all``, the kinds by turns.

    Raises:
        UnknownName: If there is no such split.
    """
    if split not in SPLITS:
        raise UnknownName.of("split", split, SPLITS)
    numbers = chain.from_iterable(
        numbers for name, numbers in NUMBERS.items() if split in (name, "all")
    )
    # By turns, so that the first few of a split have all kinds.
    return tuple(all_tasks()[f"{kind}/{number}"] for number in numbers for kind in KINDS)


def find_task(name: object) -> Task:
    """Return a task by its id.

    Raises:
        UnknownName: If there is none.
    """
    if not isinstance(name, str) or name not in all_tasks():
        raise UnknownName.of("task", name, list(all_tasks()))
    return all_tasks()[name]


@cache
def all_tasks() -> dict[str, Task]:
    """Return all tasks by id."""
    count = sum(map(len, NUMBERS.values()))
    tasks = {}
    for kind in KINDS:
        for number, world in enumerate(islice(generate(kind), count)):
            id = f"{kind}/{number}"
            tasks[id] = Task(id, kind, world)
    return tasks


@cache
def fingerprint() -> str:
    """Return a SHA-256 of all tables and of the controller's rates."""
    contents = [[task.id, task.content, task.world] for task in all_tasks().values()]
    return hashlib.sha256(repr([contents, dict(RELIABILITIES)]).encode()).hexdigest()
