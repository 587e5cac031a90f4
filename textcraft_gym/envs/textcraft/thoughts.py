"""Synthetic thoughts for an expert plan: the use of each item that is got or crafted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from textcraft_gym.envs.textcraft.actions import Action, Craft, Get, parse
from textcraft_gym.envs.textcraft.tasks import Task


def thoughts(task: Task, plan: Sequence[str]) -> list[str]:
    """Return a thought for each action of a winning plan; empty for a repeated action."""
    moves = [parse(action) for action in plan]
    written: list[str] = []
    for index, action in enumerate(plan):
        if index and action == plan[index - 1]:
            written.append("")
        else:
            written.append(_thought(moves[index], plan[index:], moves[index:]))

    last = moves[-1]
    if len(moves) > 1 and isinstance(last, Craft):
        # The first thought names the subgoals: the ingredients of the last craft.
        goal, needs = task.book.names[task.id], _counted(last.ingredients)
        written[0] = f"To craft {goal} I need {needs}. {written[0]}"
    return written


def _thought(
    move: Action,
    plan: Sequence[str],
    moves: Sequence[Action],
) -> str:
    """Return the thought before ``move``, the first action of the remaining plan."""
    if isinstance(move, Get):
        return f"No command makes {move.name}, so I get it, {_uses(move.name, moves)}."
    if not isinstance(move, Craft):
        return ""
    if len(moves) == 1:
        return f"I hold {_counted(move.ingredients)}, which is all that {move.output} takes."
    uses = _uses(move.output, moves)
    thought = f"I hold {_counted(move.ingredients)} and craft {move.output}, {uses}."
    makes, times = int(plan[0].split()[1]), plan.count(plan[0])
    if times > 1:
        thought += f" One craft makes {makes}, so I craft it {times} times."
    return thought


def _uses(name: str, moves: Sequence[Action]) -> str:
    """Return how much of an item each later craft uses: ``2 for stick and 3 for chest``."""
    uses: Counter[str] = Counter()
    for move in moves:
        if isinstance(move, Craft):
            uses[move.output] += dict(move.ingredients).get(name, 0)
    return _joined([f"{amount} for {output}" for output, amount in uses.items() if amount])


def _counted(ingredients: Sequence[tuple[str, int]]) -> str:
    return _joined([f"{amount} {name}" for name, amount in ingredients])


def _joined(words: Sequence[str]) -> str:
    *most, last = words
    if most:
        return f"{', '.join(most)} and {last}"
    return last
