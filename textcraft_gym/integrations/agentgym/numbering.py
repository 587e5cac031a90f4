"""Which task AgentGym means by a number."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from textcraft_gym.errors import DataError, TextCraftGymError
from textcraft_gym.recipes.book import RecipeBook
from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE

_GOAL = re.compile(r"Goal: craft ([^\n]+?)\.\s*$")
_NUMBER = re.compile(r"(?:.*_)?([0-9]{1,9})")


class NoTask(TextCraftGymError, LookupError):
    """A number that means no task."""


class Numbering(Protocol):
    """Returns the id of the task with a number, or raises ``NoTask``."""

    def __call__(self, number: int) -> str:
        """Return the task's id."""

    def any_task(self, number: int) -> str:
        """Return the id of the task with a number, or of some other one where there is none."""


class InOrder:
    """Numbers the tasks of a list from 0.

    Args:
        tasks: The ids.
        again: Whether the list begins again at its end, as AgentGym's TextCraft does, where any
            number is a task.
    """

    def __init__(self, tasks: Sequence[str], *, again: bool = False) -> None:
        self.tasks = tasks
        self.again = again

    def __call__(self, number: int) -> str:
        """Return the task's id."""
        if self.again:
            return self.any_task(number)
        if not 0 <= number < len(self.tasks):
            raise NoTask(f"expected the number of a task in 0..{len(self.tasks) - 1}, got {number}")
        return self.tasks[number]

    def any_task(self, number: int) -> str:
        """Return the task's id, where the list begins again at its end."""
        return self.tasks[number % len(self.tasks)]


class Mapped:
    """Numbers tasks as mapping files do."""

    def __init__(self, tasks: Mapping[int, str]) -> None:
        self.tasks = tasks

    def __call__(self, number: int) -> str:
        """Return the task's id."""
        if number not in self.tasks:
            raise NoTask(f"{number} is not among the {len(self.tasks)} numbers of the mapping")
        return self.tasks[number]

    def any_task(self, number: int) -> str:
        """Return the task's id, or that of another task for a number that is not mapped."""
        if number in self.tasks:
            return self.tasks[number]
        return list(self.tasks.values())[number % len(self.tasks)]


def goals_in_order(book: RecipeBook) -> list[str]:
    """Return every craftable item by depth, and within a depth by its first recipe's file name.

    That is AgentGym's order where the files of recipes are listed by name. AgentGym takes them in
    the order of the disk, which differs between machines, so that only a mapping tells which goal a
    published number meant.
    """

    def rank(item: str) -> tuple[int, str]:
        first_recipe = min(recipe.id for recipe in book.recipes[item])
        return book.depths[item], first_recipe

    return sorted(book.depths, key=rank)


def read_mapping(files: Iterable[Path], task_of: Callable[[Mapping[str, Any]], str]) -> Mapped:
    """Read mapping files: lists in JSON of objects with an ``item_id``, ``7`` or ``alfworld_7``.

    Args:
        files: The files.
        task_of: Returns the task's id for an object; one without a task raises ``LookupError``,
            ``TypeError`` or ``ValueError``.

    Raises:
        DataError: If a file is no such list or an empty one, or two objects mean different tasks by
            one number.
    """
    tasks: dict[int, str] = {}
    for file in files:
        for index, entry in enumerate(_entries(file)):
            try:
                number = _number(entry["item_id"])
                task = task_of(entry)
            except (LookupError, TypeError, ValueError) as error:
                raise DataError(file, f"expected a number and its task: {error}", index) from error
            known = tasks.setdefault(number, task)
            if known != task:
                raise DataError(file, f"{number} is {task} here, and {known} before", index)
    return Mapped(tasks)


def _entries(file: Path) -> list[Any]:
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(file, f"invalid JSON: {error}") from error
    if not (isinstance(entries, list) and entries):
        raise DataError(file, "expected a list of tasks")
    return entries


def alfworld_task_id(entry: Mapping[str, Any]) -> str:
    """Return the ALFWorld task of an entry of AgentGym's own mapping files."""
    return "/".join([_text(entry["task_type"]), _text(entry["task_id"])])


def textcraft_goal(book: RecipeBook) -> Callable[[Mapping[str, Any]], str]:
    """Return the reader of TextCraft's goals.

    An entry has the ``goal``, an item, or records a conversation, as AgentGym's published
    trajectories do; of a conversation the first message that ends in a goal counts.
    """

    def task(entry: Mapping[str, Any]) -> str:
        goal = _goal(entry)
        item = goal.replace(" ", "_")
        if ":" not in item:
            item = DEFAULT_NAMESPACE + item
        if item not in book.depths:
            raise ValueError(f"{goal!r} is not crafted")
        return item

    return task


def _goal(entry: Mapping[str, Any]) -> str:
    if "goal" in entry:
        return _text(entry["goal"])
    for message in entry["conversations"]:
        if message["from"] != "human":
            continue
        match = _GOAL.search(message["value"])
        if match:
            return match[1]
    raise ValueError("no message of the conversation ends in a goal")


def _number(item: Any) -> int:
    match = _NUMBER.fullmatch(str(item))
    if not match:
        raise ValueError(f"expected a number as 7 or alfworld_7, got {item!r}")
    return int(match[1])


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r}")
    return value
