"""Which task AgentGym means by a number."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
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

    def __init__(
        self,
        tasks: Sequence[str],
        *,
        again: bool = False,
    ) -> None:
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
    """Numbers tasks as mapping files do.

    Attributes:
        tasks: The tasks that can be played, by number.
        missing: The others.
    """

    def __init__(
        self,
        tasks: Mapping[int, str],
        exists: Callable[[str], bool],
    ) -> None:
        self.tasks: dict[int, str] = {}
        self.missing: dict[int, str] = {}
        for number, task in tasks.items():
            kept = self.tasks if exists(task) else self.missing
            kept[number] = task

    def __call__(self, number: int) -> str:
        """Return the task's id."""
        if number in self.missing:
            raise NoTask(f"{number} has no task here: {self.missing[number]} cannot be played")
        if number not in self.tasks:
            count = len(self.tasks) + len(self.missing)
            raise NoTask(f"{number} is not among the {count} numbers of the mapping")
        return self.tasks[number]

    def any_task(self, number: int) -> str:
        """Return the task's id, or that of another task for a number without one."""
        if number in self.tasks:
            return self.tasks[number]
        return list(self.tasks.values())[number % len(self.tasks)]


def goals_in_order(book: RecipeBook) -> list[str]:
    """Return every craftable item by depth, and within a depth by its first recipe's file name.

    The order is our own. AgentGym numbers goals in the order in which the disk lists the recipes,
    which differs between machines, so that only a mapping tells which goal a published number
    meant.
    """

    def rank(item: str) -> tuple[int, str]:
        first_recipe = min(recipe.id for recipe in book.recipes[item])
        return book.depths[item], first_recipe

    return sorted(book.depths, key=rank)


def read_mapping(
    files: Sequence[Path],
    task_of: Callable[[Mapping[str, Any]], str],
    exists: Callable[[str], bool],
) -> Mapped:
    """Read mapping files: lists in JSON of objects with an ``item_id``, ``7`` or ``alfworld_7``.

    It warns if some of the tasks cannot be played here.

    Args:
        files: The files, one or more.
        task_of: Returns the task's id for an object; one without a task raises ``LookupError``,
            ``TypeError`` or ``ValueError``.
        exists: Returns whether there is a task of an id.

    Raises:
        DataError: If a file is no such list or an empty one, two objects mean different tasks by
            one number, or none of the tasks can be played here.
    """
    tasks: dict[int, str] = {}
    for file in files:
        for index, entry in enumerate(_entries(file)):
            try:
                number = _number(entry["item_id"])
                task = task_of(entry)
            except (LookupError, TypeError, ValueError) as error:
                raise DataError.at(
                    file,
                    f"expected a number and its task: {error}",
                    index,
                ) from error
            known = tasks.setdefault(number, task)
            if known != task:
                raise DataError.at(file, f"{number} is {task} here, and {known} before", index)
    mapped = Mapped(tasks, exists)
    _report_missing(mapped, files[0])
    return mapped


def _report_missing(mapped: Mapped, file: Path) -> None:
    """Warn of numbers whose task is not here, and raise ``DataError`` if no other is left."""
    missing = len(mapped.missing)
    if not mapped.tasks:
        raise DataError.at(file, f"none of the {missing} numbers has a task here")
    if missing:
        example = min(mapped.missing)
        warnings.warn(
            f"{missing} of the {missing + len(mapped.tasks)} numbers of the mapping have no task "
            f"here, such as {example} ({mapped.missing[example]}): a reset to one gets an error",
            stacklevel=3,
        )


def _entries(file: Path) -> list[Any]:
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError.at(file, f"invalid JSON: {error}") from error
    if not (isinstance(entries, list) and entries):
        raise DataError.at(file, "expected a list of tasks")
    return entries


def alfworld_task_id(entry: Mapping[str, Any]) -> str:
    """Return the ALFWorld task of an entry of AgentGym's own mapping files."""
    return "/".join([_text(entry["task_type"]), _text(entry["task_id"])])


def textcraft_goal(entry: Mapping[str, Any]) -> str:
    """Return the TextCraft task of an entry.

    It has the ``goal``, an item, or records a conversation, as AgentGym's published trajectories
    do; of a conversation the first message that ends in a goal counts.
    """
    item = _goal(entry).replace(" ", "_")
    return item if ":" in item else DEFAULT_NAMESPACE + item


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
