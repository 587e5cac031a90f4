"""How the goals of a plan are pursued in the Minecraft tech tree."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Scene, Subgoal, nearest
from textcraft_gym.agents.games.crafting import Recipe
from textcraft_gym.agents.games.minetechtree.knowledge import (
    ALIASES,
    FAR,
    FUELS,
    command,
    members,
    read_around,
    read_held,
    read_near,
    read_place,
    read_sight,
    scaled,
    source,
    ways,
)
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.goals import Goal, has, parse_goals

DONE = ("Mined", "Hunted", "Crafted", "Smelted", "Equipped")
"""Prefixes of the answers to actions that succeeded."""
BROKE = " broke."
"""Ending of the answer to an action that wore out its tool, perhaps before it was done."""
TRIES = 8
"""Maximum number of commands for one item; planks take one for each wood."""


class TechTreeController:
    """Mines, hunts, crafts, smelts and equips by one skill an item, judged by the inventory."""

    env_args: ClassVar[Mapping[str, Any]] = {}
    feedback: ClassVar[str] = "terse"

    def __init__(self, prompts: Prompts) -> None:
        """Needs no prompt: it asks no model."""

    def goals(self, plan: str) -> list[Goal]:
        """Return the goals of a plan, each with the needs that the plan does not state."""
        goals: list[Goal] = []
        for goal in parse_goals(plan):
            others = tuple(map(_complete, goal.others))
            goals.append(replace(_complete(goal), others=others))
        return goals

    def look(self, play: Play) -> Generator[Request, Any, Scene]:
        """Look around and at the inventory; neither takes time."""
        around = (yield from play.act("look")).observation
        inventory = (yield from play.act("inventory")).observation
        held = dict.fromkeys(read_near(around), 1) | read_held(inventory)
        return Scene(
            held,
            inventory,
            around,
            read_around(around),
            read_sight(around),
            read_place(around),
        )

    def alternatives(self, goal: Goal, scene: Scene) -> Sequence[Goal]:
        """Return a line's alternatives; any log becomes one per wood in view, nearest first."""
        alternatives: list[Goal] = []
        for alternative in goal.alternatives:
            alternatives += self._of_each_wood(alternative, scene)
        return alternatives

    def subgoal(self, goal: Goal, scene: Scene) -> Subgoal:
        """Return the subgoal to get or make the missing amount of a goal's first item."""
        name, count = next(iter(goal.have.items()))
        known = _known(name)
        if known is None or goal.verb == "equip":
            return Subgoal(goal.verb, name, count)
        recipe = self._skill(known, goal, scene)
        item = recipe.makes.item
        missing = max(0, count - has(scene.held, known))
        steps = scene.distances.get(source(item)) or 0
        return Subgoal(
            recipe.verb,
            item,
            missing,
            steps,
            source(item),
            goal.tool or recipe.tool,
            scene.place,
        )

    def pursue(
        self,
        play: Play,
        goal: Goal,
        scene: Scene,
    ) -> Generator[Request, Any, str | None]:
        """Get, make or equip all that a goal asks for."""
        for index, (wanted, count) in enumerate(goal.have.items()):
            name = _known(wanted)
            if name is None:
                return f"I do not know {wanted}."
            if index:  # the previous item changed the inventory
                scene = yield from self.look(play)
            if goal.verb == "equip":
                reason = yield from self._equip(play, name)
            else:
                reason = yield from self._have(play, name, count, goal, scene)
            if reason:
                return reason
        return None

    def _equip(
        self,
        play: Play,
        name: str,
    ) -> Generator[Request, Any, str | None]:
        answer: str = (yield from play.act(f"equip {name}")).observation
        if answer.startswith(DONE):
            return None
        return answer

    def _have(
        self,
        play: Play,
        name: str,
        count: int,
        goal: Goal,
        scene: Scene,
    ) -> Generator[Request, Any, str | None]:
        for _ in range(TRIES):
            missing = count - has(scene.held, name)
            if missing <= 0:
                return None
            recipe = self._next(name, missing, goal, scene)
            answer = (yield from play.act(command(recipe, scene.held, goal.uses))).observation
            if not answer.startswith(DONE):
                return answer
            # A tool that broke may have done only a part, and one wood may not be enough.
            if recipe.makes.amount >= missing and BROKE not in answer:
                return None
            scene = yield from self.look(play)
        return f"It took too long to get {count} {name}."

    def _of_each_wood(self, goal: Goal, scene: Scene) -> list[Goal]:
        if "log" not in goal.have:
            return [goal]
        woods = {source(item): item for item in members("log")}
        in_view = [woods[name] for name in scene.distances if name in woods]
        return [replace(goal, choice=wood) for wood in in_view] or [goal]

    def _skill(
        self,
        name: str,
        goal: Goal,
        scene: Scene,
    ) -> Recipe:
        """Return the recipe for an item.

        Planks come from the wood of which most logs are held, logs from the chosen or nearest wood.
        """
        recipes = [ways()[item] for item in members(name)]
        if name == "planks":
            return max(recipes, key=lambda recipe: scene.held.get(recipe.parts[0].item, 0))
        chosen = [recipe for recipe in recipes if recipe.makes.item == goal.choice]
        # Sources in view come in the order of their distances; others cannot be reached.
        rank = {name: index for index, name in enumerate(scene.distances)}
        return min(chosen or recipes, key=lambda recipe: rank.get(source(recipe.makes.item), FAR))

    def _next(
        self,
        name: str,
        missing: int,
        goal: Goal,
        scene: Scene,
    ) -> Recipe:
        """Return the next recipe towards ``missing`` items; for planks it uses one wood's logs."""
        recipe = self._skill(name, goal, scene)
        if name == "planks":
            logs = scene.held.get(recipe.parts[0].item, 0)
            if logs:  # without any, the game's answer names the missing items
                missing = min(missing, logs * recipe.makes.amount)
        recipe = scaled(recipe, missing, self._fuel(goal, scene))
        if recipe.verb == "mine":
            # The game mines with the best tool that is held, where the plan names none.
            return recipe._replace(tool=goal.tool)
        return recipe

    def _fuel(self, goal: Goal, scene: Scene) -> str:
        """Return the fuel to burn: the plan's, else one that is held, else planks."""
        for name in reversed(goal.uses):  # fuel comes after the material, which may burn too
            if any(has({name: 1}, fuel) for fuel in FUELS):
                return name
        for fuel in FUELS:
            if has(scene.held, fuel):
                return fuel
        return "planks"


def _complete(goal: Goal) -> Goal:
    """Return a goal in known names, with the needs that the plan does not state."""
    goal = replace(
        goal,
        have=_in_known_names(goal.have),
        uses=_in_known_names(goal.uses),
        tool=_known(goal.tool) or goal.tool,
    )
    if goal.name not in ways() or goal.verb == "equip":
        return goal
    recipe = scaled(ways()[goal.name], goal.have[goal.name])
    unsaid: dict[str, int] = {}
    if recipe.tool and not goal.tool:
        unsaid[recipe.tool] = 1
    if not goal.uses:
        unsaid |= {part.item: part.amount for part in recipe.parts}
    return replace(goal, unsaid=unsaid)


def _in_known_names(counts: Mapping[str, int]) -> dict[str, int]:
    return {_known(name) or name: count for name, count in counts.items()}


def _known(name: str) -> str | None:
    """Return the known item with the most similar name; None if none is similar."""
    return ALIASES.get(name) or nearest(name, ways())
