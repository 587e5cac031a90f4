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
"""Number of tasks of each type in ``valid_unseen``, as in the official one.

The other splits have about as many of each type.
"""

SPLITS = {"train": 3600, "valid_seen": 140, "valid_unseen": sum(UNSEEN_TYPES.values())}
"""Number of tasks in each split; the two held-out splits are as large as the official ones."""

UNSEEN_PLANS = range(26, 30)
"""Indices of the floor plans of each kind of room for ``valid_unseen``: the last four of 30."""


@lru_cache(maxsize=8)
def split_ids(split: str) -> tuple[str, ...]:
    """Return the ids of ``train``, ``valid_seen`` or ``valid_unseen``.

    No goal appears twice in one room.

    Raises:
        UnknownName: If there is no such split.
    """
    if split not in SPLITS:
        raise UnknownName.of("split", split, list(SPLITS))
    if split == "valid_unseen":
        return _draw_ids("valid_unseen", UNSEEN_TYPES)
    if split == "train":
        return _seen_ids()[: SPLITS["train"]]
    return _seen_ids()[SPLITS["train"] :]


@lru_cache(maxsize=1)
def _seen_ids() -> tuple[str, ...]:
    """Return the ids of ``train``, then those of ``valid_seen``.

    They are drawn in one go: the splits share the rooms, but no goal in the same room.
    """
    share, rest = divmod(SPLITS["train"] + SPLITS["valid_seen"], len(TASK_TYPES))
    counts = dict.fromkeys(TASK_TYPES, share)
    for task_type in TASK_TYPES[:rest]:
        counts[task_type] += 1
    return _draw_ids("seen", counts)


def _draw_ids(pool: str, counts: Mapping[str, int]) -> tuple[str, ...]:
    """Draw the ids of some tasks of each type, taking turns among the types.

    The tasks of one type take turns among the floor plans.
    """
    streams = [islice(_draw_specs(pool, task_type), count) for task_type, count in counts.items()]
    ids: list[str] = []
    for specs in zip_longest(*streams):
        # In the last turns, types with fewer tasks have none left.
        ids += [spec.id for spec in specs if spec]
    return tuple(ids)


def _draw_specs(pool: str, task_type: str) -> Iterator[TaskSpec]:
    """Draw tasks of a type without end, each goal once in a room; trials are numbered from 1."""
    plans: list[int] = []
    for kind in TASK_ROOMS[task_type]:
        for index, plan in enumerate(ROOM_KINDS[kind].plans):
            is_unseen = index in UNSEEN_PLANS
            if is_unseen is (pool == "valid_unseen"):
                plans.append(plan)
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
