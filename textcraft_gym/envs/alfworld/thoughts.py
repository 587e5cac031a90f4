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
    """Return the thought before each action of a winning plan.

    It is empty while the previous thought still holds.
    """
    goal = task.game("0.4").goal
    written: list[str] = []
    last_subgoal = ""
    has_taken = False
    for index, action in enumerate(plan):
        subgoal = _subgoal(plan[index:])
        thought = ""
        # On the way to a subgoal, the thought that began it still holds.
        if subgoal != last_subgoal:
            thought = _thought(goal, action, subgoal, has_taken)
        written.append(thought)
        last_subgoal = "" if action == subgoal else subgoal
        has_taken = has_taken or action.startswith(_TAKE)
    written[0] = f"{_overview(goal)} {written[0]}"
    return written


def _subgoal(plan: Sequence[str]) -> str:
    """Return the first action other than ``go to`` and ``open``."""
    for action in plan:
        if not action.startswith((_GO, _OPEN)):
            return action
    return plan[-1]


def _thought(
    goal: Goal,
    action: str,
    subgoal: str,
    has_taken: bool,
) -> str:
    """Return the thought before an action that leads to a subgoal, or is one."""
    here = "and it is here"
    if action.startswith(_GO):
        here = f"so I go to {action.removeprefix(_GO)}"
    form, arguments = read(subgoal) or ("", {})
    if form == "take":
        kind = _kind(arguments["object"])
        looked_for = f"another {kind}" if has_taken else _a(kind)
        return f"I look for {looked_for}. One may be in or on {arguments['receptacle']}, {here}."
    if form == "treat":
        obj, verb, receptacle = arguments["object"], arguments["verb"], arguments["receptacle"]
        return f"I hold {obj}, which I can {verb} with {receptacle}, {here}."
    if form == "put":
        obj, receptacle = arguments["object"], arguments["receptacle"]
        why = f"must leave my hand, for which {receptacle} is good"
        if _kind(receptacle) == _lowered(goal.target):
            why = f"belongs in or on {receptacle}"
        return f"I hold {obj}, which {why}, {here}."
    if form == "use":
        lamp = arguments["object"]
        return f"I hold what is to be looked at. Now I need the light of {lamp}, {here}."
    return ""


def _overview(goal: Goal) -> str:
    otype, target = _lowered(goal.otype), _a(_lowered(goal.target))
    if goal.task_type == "look_at_obj_in_light":
        return f"I must find {_a(otype)}, take it, and turn on {target}."
    if goal.task_type == "pick_two_obj_and_place":
        things = f"two things of the kind {otype}"
        return f"I must find {things} and put one after the other in or on {target}."
    steps = ["take it"]
    if goal.task_type in _VERBS:
        steps.append(_VERBS[goal.task_type])
    return f"I must find {_a(otype)}, {', '.join(steps)}, and put it in or on {target}."


def _lowered(type_name: str) -> str:
    """Return the name of a type in texts: ``mug`` for ``MugType``."""
    return type_name.removesuffix("Type").lower()


def _kind(name: str) -> str:
    """Return a name without its number: ``mug`` for ``mug 2``."""
    return name.rpartition(" ")[0]


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
