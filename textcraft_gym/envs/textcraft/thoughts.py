"""Synthetic thoughts for an expert plan: the use of each item that is got or crafted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from textcraft_gym.envs.textcraft.actions import Action, Craft, Get, parse
from textcraft_gym.envs.textcraft.tasks import Task


def thoughts(task: Task, plan: Sequence[str]) -> list[str]:
    """Return a thought for each action of a winning plan, empty where an action repeats the one before."""
    moves = [parse(action) for action in plan]
    written = [
        ""
        if index and action == plan[index - 1]
        else _thought(moves[index], plan[index:], moves[index:])
        for index, action in enumerate(plan)
    ]
    last = moves[-1]
    if len(moves) > 1 and isinstance(last, Craft):
        # The first thought names the subgoals: the ingredients of the last craft.
        written[0] = (
            f"To craft {task.book.names[task.id]} I need {_counted(last.ingredients)}. {written[0]}"
        )
    return written


def _thought(move: Action, plan: Sequence[str], moves: Sequence[Action]) -> str:
    """Return the thought before ``move``, the first action of the remaining plan."""
    if isinstance(move, Get):
        return f"No command makes {move.name}, so I get it, {_uses(move.name, moves)}."
    if not isinstance(move, Craft):
        return ""
    if len(moves) == 1:
        return f"I hold {_counted(move.ingredients)}, which is all that {move.output} takes."
    makes, times = int(plan[0].split()[1]), plan.count(plan[0])
    repeated = f" One craft makes {makes}, so I craft it {times} times." if times > 1 else ""
    return f"I hold {_counted(move.ingredients)} and craft {move.output}, {_uses(move.output, moves)}.{repeated}"


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
    return f"{', '.join(most)} and {last}" if most else last
