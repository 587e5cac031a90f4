"""Tasks of an environment."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from typing import Any, Protocol

import gymnasium as gym

from textcraft_gym.registration import SUITE, find

UNGROUPED = "all"
"""The group of tasks that form no groups, and in tables the row of all tasks together."""


class Task(Protocol):
    """A task of the suite; of a foreign environment's tasks only the ``id`` is needed.

    A task may have a ``family``, a name that it shares with tasks that are nearly the same, such as
    beds of other colours. Intervals and tests then take families, and not tasks, as independent.
    """

    @property
    def id(self) -> str:
        """The name to give to ``reset(options={"task": ...})``."""

    @property
    def group(self) -> str:
        """The group of its results in tables; ``all`` if the game's tasks form no groups."""

    @property
    def depth(self) -> int:
        """Difficulty, by the measure of its game."""

    @property
    def optimal_length(self) -> int:
        """Fewest actions that solve it."""

    @property
    def content(self) -> str:
        """The goal and everything it involves, as text; tasks with equal content are the same."""


def tasks(
    env_id: str,
    split: str | None = None,
    **env_args: Any,
) -> tuple[Task, ...]:
    """Return the tasks of a split, as ``gym.make(env_id, split=split, **env_args)`` plays it.

    Args:
        env_id: An id, or ``my_module:My-v0``.
        split: The split, by default ``all`` of an environment of the suite, and what ``gym.make``
            plays of others.
        env_args: Further arguments of ``gym.make``.

    Raises:
        UnknownName: For an environment, a split or an argument that does not exist.
        ValueError: For an environment without tasks.
    """
    if split is None and env_id in SUITE:
        split = "all"
    if split is not None:
        env_args["split"] = split
    with closing(find(env_id).make(**env_args)) as env:
        listed = tasks_of(env)
    if listed is None:
        raise ValueError(f"{env_id} has no list of tasks: its episodes differ by their seeds")
    return listed


def tasks_of(env: gym.Env[str, str]) -> tuple[Task, ...] | None:
    """Return the tasks of an environment, None if it lists none."""
    return tuple(env.get_wrapper_attr("tasks")) if env.has_wrapper_attr("tasks") else None


def describe_task(task: Task) -> dict[str, Any]:
    """Return the fields of a task in records; a foreign task may have only an ``id``."""
    return {
        "task": task.id,
        "group": getattr(task, "group", UNGROUPED),
        "family": getattr(task, "family", task.id),
        "depth": getattr(task, "depth", 0),
        "optimal_length": getattr(task, "optimal_length", None),
    }


def task_hash(env_id: str, task: Task) -> str:
    """Return a SHA-256 of the environment's id and the task's content, the same in every version.

    Splits without a common hash share no task, even if their task ids differ. A foreign
    environment's task may have no content; its id stands for it.
    """
    content = json.dumps([env_id, getattr(task, "content", task.id)])
    return hashlib.sha256(content.encode()).hexdigest()
