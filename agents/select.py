"""DEPS's selector: of the goals that can be pursued now, which first."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from textcraft_gym.agents.goals import Goal, has

Horizon: TypeAlias = Callable[[Goal, str], float]
"""Returns how long a goal is expected to take from what is in view, in the ticks of the world."""


def candidates(pending: Mapping[int, Goal], held: Mapping[str, int]) -> list[int]:
    """Return the numbers of the goals that can be pursued now.

    Their materials and tool are held, and what they use up leaves what the others that can be pursued need. Where there
    is none, it is the first goal.
    """
    ready = {
        step: goal
        for step, goal in pending.items()
        if _has_materials(goal, held) and (not goal.tool or has(held, goal.tool))
    }
    free = [
        step
        for step, goal in ready.items()
        if all(_leaves(goal, other, held) for other_step, other in ready.items() if other_step != step)
    ]
    return free or list(ready)[:1] or list(pending)[:1]


def _has_materials(goal: Goal, held: Mapping[str, int]) -> bool:
    return all(has(held, name) >= count for name, count in goal.uses.items())


def _leaves(goal: Goal, other: Goal, held: Mapping[str, int]) -> bool:
    """Whether enough is left for another goal after this one; what both must share goes to the earlier."""
    return all(has(held, name) - goal.uses.get(name, 0) >= count for name, count in other.uses.items())


def choose(goals: Sequence[Goal], view: str, horizon: Horizon, temperature: float, number: random.Random) -> Goal:
    """Draw a goal, the likelier the nearer it is: softmax of the negative horizon over the temperature, in ticks."""
    expected = [horizon(goal, view) for goal in goals]
    nearest = min(expected)
    weights = [math.exp((nearest - ticks) / temperature) for ticks in expected]
    drawn = number.random() * sum(weights)
    for goal, weight in zip(goals, weights, strict=True):
        drawn -= weight
        if drawn < 0:
            return goal
    return goals[-1]
