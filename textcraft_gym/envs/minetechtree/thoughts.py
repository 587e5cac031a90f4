"""Synthetic thoughts for an expert plan: the use of each item."""

from __future__ import annotations

from collections.abc import Sequence

from textcraft_gym.envs.minetechtree.actions import Equip, Gather, Make, parse
from textcraft_gym.envs.minetechtree.tasks import Task
from textcraft_gym.recipes.recipe import name_of

_WHY = {
    "mine": "I mine it first",
    "hunt": "I hunt for it first",
    "craft": "I craft it first",
    "smelt": "I smelt it first",
}


def thoughts(task: Task, plan: Sequence[str]) -> list[str]:
    """Return a thought for each action of a winning plan."""
    goals = [name_of(aim.item) for aim in task.aims]
    written = []
    for index, action in enumerate(plan):
        written.append(_thought(goals, parse(action), plan[index + 1 :]))
    return written


def _thought(
    goals: Sequence[str],
    action: object,
    rest: Sequence[str],
) -> str:
    if isinstance(action, Equip):
        return f"I have the {action.item}. It counts when I wear it."
    if not isinstance(action, (Gather, Make)):
        return ""
    if action.item in goals:
        return f"I have all that {action.item} takes, so I {action.verb} it."
    use = next((f" to {later}" for later in rest if f" {action.item}" in later), "")
    return f"I need {action.item}{use}. {_WHY[action.verb]}."
