"""What was wrong with a lost attempt in TextCraft, from its commands and the game's answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from textcraft_gym.agents.contract.attempt import Attempt, Fault, Turn
from textcraft_gym.agents.games.crafting import Crafts, Recipe, read_crafts, read_recipe

_GOT = re.compile(r"get ([0-9]{1,9}) (.+)")
_STEP = re.compile(r"(?:get|craft) ([0-9]{1,9}) (.+?)(?: using .*)?")
_PLANNED = re.compile(r"Step [0-9]+: (craft .+)")
_GOAL = re.compile(r"Goal: craft ([^\n]*)\.")


def fault(attempt: Attempt) -> Fault | None:
    """Return what was wrong with the last refused command, or else with the plan."""
    crafts = read_crafts(attempt.opening)
    if attempt.refused is None:
        return "missing part" if _left_out(attempt, crafts) else None
    recipe = read_recipe(attempt.refused[0])
    if recipe is None:  # it gets what must be crafted, or what is not there
        return "wrong thing"
    if "enough items" in attempt.refused[1]:
        return _lacking(recipe, held(attempt.turns))
    return _misread(recipe, crafts.recipes.get(recipe.makes.item, []))


def holds(step: str, turns: Sequence[Turn]) -> bool | None:
    """Return whether the items of a step, such as ``craft 2 stick``, are held after some turns."""
    match = _STEP.fullmatch(step)
    if match is None:
        return None
    return held(turns)[match[2]] >= int(match[1])


def held(turns: Iterable[Turn]) -> Counter[str]:
    """Return the counts of items after some turns."""
    counts: Counter[str] = Counter()
    for action, answer in turns:
        got = _GOT.fullmatch(action)
        if got and answer.startswith("Got "):
            counts[got[2]] += int(got[1])
        recipe = read_recipe(action)
        if recipe and answer.startswith("Crafted "):
            counts[recipe.makes.item] += recipe.makes.amount
            for part in recipe.parts:
                counts[part.item] -= part.amount
    return counts


def _lacking(recipe: Recipe, counts: Counter[str]) -> Fault:
    """Return whether a part of a command was missing, or too few of it were held."""
    lacking = [part.item for part in recipe.parts if counts[part.item] < part.amount]
    return "missing part" if any(counts[item] <= 0 for item in lacking) else "wrong count"


def _misread(recipe: Recipe, listed: Sequence[Recipe]) -> Fault:
    """Return how a command that is not listed differs from those that make the same item."""
    things = {part.item for part in recipe.parts}
    for other in listed:
        parts = {part.item for part in other.parts}
        if things == parts:
            return "wrong count"
        if things < parts:
            return "missing part"
    return "wrong thing"


def _left_out(attempt: Attempt, crafts: Crafts) -> bool:
    """Return whether no step of the plan makes a part of the goal that must be crafted."""
    goal = _GOAL.search(attempt.opening)
    steps = [*filter(None, map(read_recipe, _PLANNED.findall(attempt.plan)))]
    made = {step.makes.item for step in steps}
    for step in steps:
        if goal and step.makes.item == goal[1]:
            parts = {part.item for part in step.parts}
            return any(item in crafts.recipes and item not in made for item in parts)
    return False
