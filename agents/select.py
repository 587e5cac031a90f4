"""DEPS's selector: which goals can be pursued now."""

from __future__ import annotations

from collections.abc import Mapping

from textcraft_gym.agents.goals import Goal, has


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
