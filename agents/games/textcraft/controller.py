"""How the goals of a plan are pursued in TextCraft."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Scene, nearest
from textcraft_gym.agents.contract.goals import Goal, has, parse_goals
from textcraft_gym.agents.games.textcraft.commands import Crafts, Recipe, Want, listed, read_crafts, read_held
from textcraft_gym.agents.prompts import Prompts


class Crafting:
    """Applies the command that makes a thing as often as it takes, and gets what no command makes."""

    env_args: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, prompts: Prompts) -> None:
        """Ask no model."""

    def goals(self, plan: str) -> list[Goal]:
        """Return the goals of a plan."""
        return parse_goals(plan)

    def look(self, play: Play) -> Generator[Request, Any, Scene]:
        """Look at the inventory."""
        told = (yield from play.act("inventory")).observation.strip()
        return Scene(read_held(told), told)

    def alternatives(self, goal: Goal, scene: Scene) -> Sequence[Goal]:
        """Return the goal and the others of its line."""
        return goal.alternatives

    def pursue(self, play: Play, goal: Goal, scene: Scene) -> Generator[Request, Any, str | None]:
        """Get or craft what is missing of each thing of a goal."""
        crafts = read_crafts(play.first.observation)
        names = _names(crafts)
        for wanted, count in goal.have.items():
            name = nearest(wanted, names)
            if name is None:
                return f"I do not know {wanted}."
            missing = count - has(scene.held, name)
            makes = crafts.recipes.get(name)
            if missing > 0:
                way = self._craft(play, crafts, makes, missing, goal) if makes else self._get(play, name, missing)
                if reason := (yield from way):
                    return reason
        return None

    def _get(self, play: Play, name: str, count: int) -> Generator[Request, Any, str | None]:
        answer = (yield from play.act(f"get {count} {name}")).observation
        return None if answer.startswith("Got ") else answer

    def _craft(
        self, play: Play, crafts: Crafts, recipes: list[Recipe], count: int, goal: Goal
    ) -> Generator[Request, Any, str | None]:
        """Apply a command of which all parts are held, as often as it takes."""
        for _ in range(recipes[0].times(count)):
            held = (yield from self.look(play)).held
            command = next(filter(None, (_filled(recipe, crafts, held, goal) for recipe in recipes)), None)
            if command is None:
                return f"{recipes[0].makes.item} takes {' or '.join(listed(recipe.parts) for recipe in recipes)}."
            answer = (yield from play.act(str(command))).observation
            if not answer.startswith("Crafted "):
                return answer
        return None


def _names(crafts: Crafts) -> set[str]:
    """Return everything that the commands name, kinds by their members too."""
    recipes = [recipe for of_item in crafts.recipes.values() for recipe in of_item]
    named = {*crafts.recipes, *(part.item for recipe in recipes for part in recipe.parts)}
    return named | {member for name in named for member in crafts.members(name)}


def _filled(recipe: Recipe, crafts: Crafts, held: Mapping[str, int], goal: Goal) -> Recipe | None:
    """Return a recipe with what is held in the place of kinds; None if not all of it is."""
    parts = []
    for part in recipe.parts:
        choices = [*goal.uses, part.item, *crafts.members(part.item)]
        fitting = [name for name in choices if name in (part.item, *crafts.members(part.item))]
        name = next((name for name in fitting if held.get(name, 0) >= part.amount), None)
        if name is None:
            return None
        parts.append(Want(name, part.amount))
    return Recipe(recipe.makes, tuple(parts))
