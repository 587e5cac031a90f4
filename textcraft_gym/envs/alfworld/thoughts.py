"""What one would think who follows a plan: what to look for, where to go with it, and why."""

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
    """Return what to think before each action of a plan that wins; nothing where the last thought goes on."""
    goal = task.game("move").goal
    found: list[str] = []
    aim = ""
    for turn, action in enumerate(plan):
        next_aim = _aim(plan[turn:])
        is_new = next_aim != aim
        taken = sum(one.startswith(_TAKE) for one in plan[:turn])
        found.append(_thought(goal, action, next_aim, taken) if is_new else "")
        aim = "" if action == next_aim else next_aim
    found[0] = f"{_overview(goal)} {found[0]}"
    return found


def _aim(plan: Sequence[str]) -> str:
    """Return the first action that is more than a way to something."""
    return next((action for action in plan if not action.startswith((_GO, _OPEN))), plan[-1])


def _thought(goal: Goal, action: str, aim: str, taken: int) -> str:
    """Think of an action that leads to an aim, or is one."""
    goes = f"so I go to {action.removeprefix(_GO)}" if action.startswith(_GO) else "and it is here"
    form, said = read(aim) or ("", {})
    if form == "take":
        kind = _kind(said["o"])
        looked_for = f"another {kind}" if taken else _a(kind)
        return f"I look for {looked_for}. One may be in or on {said['r']}, {goes}."
    if form == "treat":
        return f"I hold {said['o']}, which I can {said['verb']} with {said['r']}, {goes}."
    if form == "put":
        thing, place = said.get("o") or said["o2"], said["r"]
        wanted = _kind(place) == _word(goal.target)
        why = f"belongs in or on {place}" if wanted else f"must leave my hand, for which {place} is good"
        return f"I hold {thing}, which {why}, {goes}."
    if form == "use":
        return f"I hold what is to be looked at. Now I need the light of {said['o']}, {goes}."
    return ""


def _overview(goal: Goal) -> str:
    thing, target = _word(goal.otype), _word(goal.target)
    if goal.task_type == "look_at_obj_in_light":
        return f"I must find {_a(thing)}, take it, and turn on {_a(target)}."
    if goal.task_type == "pick_two_obj_and_place":
        return f"I must find two things of the kind {thing} and put one after the other in or on {_a(target)}."
    treated = f"{_VERBS[goal.task_type]}, " if goal.task_type in _VERBS else ""
    return f"I must find {_a(thing)}, take it, {treated}and put it in or on {_a(target)}."


def _word(of_type: str) -> str:
    """Return how things of a type are called: ``mug`` for ``MugType``."""
    return of_type.removesuffix("Type").lower()


def _kind(name: str) -> str:
    """Return what a thing is: ``mug`` for ``mug 2``."""
    return name.rpartition(" ")[0]


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"
