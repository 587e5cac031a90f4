"""The task ids of each split."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice, zip_longest

from textcraft_gym.envs.alfworld.facts import ROOM_KINDS, TASK_ROOMS
from textcraft_gym.envs.alfworld.goals import draw_goal, goal_options
from textcraft_gym.envs.alfworld.problem import TASK_TYPES, Goal
from textcraft_gym.envs.alfworld.task_id import TaskSpec
from textcraft_gym.envs.shuffle import shuffle
from textcraft_gym.errors import UnknownName

UNSEEN_TYPES = dict(zip(TASK_TYPES, (24, 18, 31, 23, 21, 17), strict=True))
"""Number of tasks of each type in ``valid_unseen``, as in the official one; the other splits have each type evenly."""

SPLITS = {"train": 3600, "valid_seen": 140, "valid_unseen": sum(UNSEEN_TYPES.values())}
"""Number of tasks in each split; the two held-out splits are as large as the official ones."""

UNSEEN_PLANS = range(26, 30)
"""Indices of the floor plans that each kind of room keeps for ``valid_unseen``: the last four of its 30."""


@lru_cache(maxsize=8)
def split_ids(split: str) -> tuple[str, ...]:
    """Return the ids of ``train``, ``valid_seen`` or ``valid_unseen``; no goal appears twice in one room.

    Raises:
        UnknownName: If there is no such split.
    """
    if split not in SPLITS:
        raise UnknownName("split", split, list(SPLITS))
    if split == "valid_unseen":
        return _draw_ids("valid_unseen", UNSEEN_TYPES)
    train, valid_seen = _seen_ids()
    return train if split == "train" else valid_seen


@lru_cache(maxsize=1)
def _seen_ids() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return ``train`` and ``valid_seen``, drawn in one go: they share the rooms, but no goal in the same room."""
    train_size = SPLITS["train"]
    share, rest = divmod(train_size + SPLITS["valid_seen"], len(TASK_TYPES))
    counts = {task_type: share + (index < rest) for index, task_type in enumerate(TASK_TYPES)}
    ids = _draw_ids("seen", counts)
    return ids[:train_size], ids[train_size:]


def _draw_ids(pool: str, counts: Mapping[str, int]) -> tuple[str, ...]:
    """Draw the ids of some tasks of each type, taking turns among the types and, within one, among the floor plans."""
    streams = [islice(_draw_specs(pool, task_type), count) for task_type, count in counts.items()]
    return tuple(spec.id for turn in zip_longest(*streams) for spec in turn if spec)


def _draw_specs(pool: str, task_type: str) -> Iterator[TaskSpec]:
    """Draw tasks of a type without end, each goal at most once in a room; trials are numbered from 1."""
    plans = [
        plan
        for kind in TASK_ROOMS[task_type]
        for index, plan in enumerate(ROOM_KINDS[kind].plans)
        if (index in UNSEEN_PLANS) is (pool == "valid_unseen")
    ]
    # ``train`` and ``valid_seen`` share a pool, so that no goal of one is in the same room in the
    # other.
    rng = random.Random(f"{pool}/{task_type}").random
    drawn: set[tuple[Goal, int]] = set()
    while True:
        for plan in shuffle(rng, plans):
            goal = draw_goal(rng, task_type, goal_options(task_type, plan))
            if (goal, plan) not in drawn:
                drawn.add((goal, plan))
                yield TaskSpec(goal, plan, len(drawn))
