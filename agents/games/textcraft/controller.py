"""The controller of TextCraft, which pursues goals by the listed commands."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Scene, nearest
from textcraft_gym.agents.games.crafting import Crafts, Recipe, Want, listed, read_crafts, read_held
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.goals import Goal, has, parse_goals


class CraftingController:
    """Crafts an item by repeating its command, and gets the items that no command makes."""

    env_args: ClassVar[Mapping[str, Any]] = {}
    feedback: ClassVar[str] = "terse"

    def __init__(self, prompts: Prompts) -> None:
        """Ignore the prompts: this controller asks no model."""

    def goals(self, plan: str) -> list[Goal]:
        """Return the goals of a plan."""
        return parse_goals(plan)

    def look(self, play: Play) -> Generator[Request, Any, Scene]:
        """Look at the inventory."""
        inventory = (yield from play.act("inventory")).observation.strip()
        return Scene(read_held(inventory), inventory)

    def alternatives(self, goal: Goal, scene: Scene) -> Sequence[Goal]:
        """Return the goal and the others on its line."""
        return goal.alternatives

    def pursue(
        self,
        play: Play,
        goal: Goal,
        scene: Scene,
    ) -> Generator[Request, Any, str | None]:
        """Get or craft the missing amount of each item of a goal."""
        crafts = read_crafts(play.first.observation)
        names = _names(crafts)
        for wanted, count in goal.have.items():
            name = nearest(wanted, names)
            if name is None:
                return f"I do not know {wanted}."
            missing = count - has(scene.held, name)
            if missing <= 0:  # some of it may be held from earlier goals
                continue
            recipes = crafts.recipes.get(name)
            if recipes:
                reason = yield from self._craft(play, crafts, recipes, missing, goal)
            else:
                reason = yield from self._get(play, name, missing)
            if reason:
                return reason
        return None

    def _get(
        self,
        play: Play,
        name: str,
        count: int,
    ) -> Generator[Request, Any, str | None]:
        answer = (yield from play.act(f"get {count} {name}")).observation
        return None if answer.startswith("Got ") else answer

    def _craft(
        self,
        play: Play,
        crafts: Crafts,
        recipes: list[Recipe],
        count: int,
        goal: Goal,
    ) -> Generator[Request, Any, str | None]:
        """Repeat a command whose parts are all held, until ``count`` items are made."""
        for _ in range(recipes[0].times(count)):
            held = (yield from self.look(play)).held  # the last command used parts up
            command = _possible(recipes, crafts, held, goal)
            if command is None:
                parts = " or ".join(listed(recipe.parts) for recipe in recipes)
                return f"{recipes[0].makes.item} takes {parts}."
            answer = (yield from play.act(str(command))).observation
            if not answer.startswith("Crafted "):
                return answer
        return None


def _names(crafts: Crafts) -> set[str]:
    """Return every item that the commands name, including the members of kinds."""
    names = set(crafts.recipes)
    for recipes in crafts.recipes.values():
        for recipe in recipes:
            names.update(part.item for part in recipe.parts)
    for name in list(names):
        names.update(crafts.members(name))
    return names


def _possible(
    recipes: Sequence[Recipe],
    crafts: Crafts,
    held: Mapping[str, int],
    goal: Goal,
) -> Recipe | None:
    """Return the first recipe whose parts are all held, with held items in place of kinds."""
    for recipe in recipes:
        filled = _filled(recipe, crafts, held, goal)
        if filled:
            return filled
    return None


def _filled(
    recipe: Recipe,
    crafts: Crafts,
    held: Mapping[str, int],
    goal: Goal,
) -> Recipe | None:
    """Return a recipe with held items in place of kinds; None if a part is not held."""
    parts = []
    for part in recipe.parts:
        fitting = [part.item, *crafts.members(part.item)]
        named = [name for name in goal.uses if name in fitting]  # the plan's own choice goes first
        name = next((name for name in [*named, *fitting] if held.get(name, 0) >= part.amount), None)
        if name is None:
            return None
        parts.append(Want(name, part.amount))
    return Recipe(recipe.makes, tuple(parts))
