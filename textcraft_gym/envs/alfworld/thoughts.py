"""Thoughts for demonstrations: the reasoning of a player who follows a plan."""

from __future__ import annotations

from collections.abc import Sequence

from textcraft_gym.envs.alfworld.problem import Goal
from textcraft_gym.envs.alfworld.reasons import read
from textcraft_gym.envs.alfworld.tasks import Task

_GO, _OPEN, _TAKE = "go to ", "open ", "take "
_VERBS = {
    "pick_clean_then_place_in_recep": "clean it",
    "pick_heat_then_place_in_recep": "heat it",
    "pick_cool_then_place_in_recep": "cool it",
}


def thoughts(task: Task, plan: Sequence[str]) -> list[str]:
    """Return the thought before each action of a winning plan; empty while the previous thought still holds."""
    goal = task.game("0.4").goal
    written: list[str] = []
    subgoal = ""
    for index, action in enumerate(plan):
        next_subgoal = _subgoal(plan[index:])
        has_taken = any(earlier.startswith(_TAKE) for earlier in plan[:index])
        written.append(
            _thought(goal, action, next_subgoal, has_taken) if next_subgoal != subgoal else ""
        )
        subgoal = "" if action == next_subgoal else next_subgoal
    written[0] = f"{_overview(goal)} {written[0]}"
    return written


def _subgoal(plan: Sequence[str]) -> str:
    """Return the first action other than ``go to`` and ``open``."""
    return next((action for action in plan if not action.startswith((_GO, _OPEN))), plan[-1])


def _thought(goal: Goal, action: str, subgoal: str, has_taken: bool) -> str:
    """Return the thought before an action that leads to a subgoal, or is one."""
    here = f"so I go to {action.removeprefix(_GO)}" if action.startswith(_GO) else "and it is here"
    form, arguments = read(subgoal) or ("", {})
    if form == "take":
        kind = _kind(arguments["object"])
        looked_for = f"another {kind}" if has_taken else _a(kind)
        return f"I look for {looked_for}. One may be in or on {arguments['receptacle']}, {here}."
    if form == "treat":
        return f"I hold {arguments['object']}, which I can {arguments['verb']} with {arguments['receptacle']}, {here}."
    if form == "put":
        obj, receptacle = arguments["object"], arguments["receptacle"]
        is_target = _kind(receptacle) == _lowered(goal.target)
        why = (
            f"belongs in or on {receptacle}"
            if is_target
            else f"must leave my hand, for which {receptacle} is good"
        )
        return f"I hold {obj}, which {why}, {here}."
    if form == "use":
        return f"I hold what is to be looked at. Now I need the light of {arguments['object']}, {here}."
    return ""


def _overview(goal: Goal) -> str:
    otype, target = _lowered(goal.otype), _lowered(goal.target)
    if goal.task_type == "look_at_obj_in_light":
        return f"I must find {_a(otype)}, take it, and turn on {_a(target)}."
    if goal.task_type == "pick_two_obj_and_place":
        return f"I must find two things of the kind {otype} and put one after the other in or on {_a(target)}."
    treated = f"{_VERBS[goal.task_type]}, " if goal.task_type in _VERBS else ""
    return f"I must find {_a(otype)}, take it, {treated}and put it in or on {_a(target)}."


def _lowered(type_name: str) -> str:
    """Return the name of a type in texts: ``mug`` for ``MugType``."""
    return type_name.removesuffix("Type").lower()


def _kind(name: str) -> str:
    """Return a name without its number: ``mug`` for ``mug 2``."""
    return name.rpartition(" ")[0]


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
