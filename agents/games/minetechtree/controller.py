"""How the goals of a plan are pursued in the Minecraft tech tree."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from textcraft_gym.agents.contract.agent import Play, Request
from textcraft_gym.agents.contract.controller import Errand, Scene, nearest
from textcraft_gym.agents.contract.goals import Goal, has, parse_goals
from textcraft_gym.agents.games.minetechtree.knowledge import (
    ALIASES,
    FUELS,
    command,
    members,
    read_around,
    read_held,
    read_near,
    scaled,
    source,
    ways,
)
from textcraft_gym.agents.games.textcraft.commands import Recipe
from textcraft_gym.agents.prompts import Prompts

DONE = ("Mined", "Hunted", "Crafted", "Smelted", "Equipped")
NAMES = frozenset(ways())
FAR = 10**6
TRIES = 8
"""So many commands one goal may take: planks are crafted from each wood by one."""


class Gathering:
    """Mines, hunts, crafts, smelts and equips: a skill for each thing that a player knows, success by the inventory."""

    env_args: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, prompts: Prompts) -> None:
        """Ask no model."""

    def goals(self, plan: str) -> list[Goal]:
        """Return the goals of a plan, each with what its skill takes where the plan does not say."""
        return [replace(_complete(goal), others=tuple(map(_complete, goal.others))) for goal in parse_goals(plan)]

    def look(self, play: Play) -> Generator[Request, Any, Scene]:
        """Look around and at the inventory; neither takes time."""
        around = (yield from play.act("look")).observation
        inventory = (yield from play.act("inventory")).observation
        held = dict.fromkeys(read_near(around), 1) | read_held(inventory)
        return Scene(held, inventory, around, read_around(around))

    def alternatives(self, goal: Goal, scene: Scene) -> Sequence[Goal]:
        """Return the goals of a line, that of any wood once for each wood in sight, the nearest first."""
        return [one for goal in goal.alternatives for one in self._of_each_wood(goal, scene)]

    def errand(self, goal: Goal, scene: Scene) -> Errand:
        """Return what is to be got or made first."""
        name, count = next(iter(goal.have.items()))
        known = _known(name)
        if known is None or goal.verb == "equip":
            return Errand(goal.verb, name, count)
        recipe = self._skill(known, goal, scene)
        item = recipe.makes.item
        place = source(item)
        missing = max(0, count - has(scene.held, known))
        return Errand(recipe.verb, item, missing, scene.around.get(place, 0), place, goal.tool or recipe.tool)

    def pursue(self, play: Play, goal: Goal, scene: Scene) -> Generator[Request, Any, str | None]:
        """Get, make or equip all that a goal asks for."""
        for place, (wanted, count) in enumerate(goal.have.items()):
            name = _known(wanted)
            if name is None:
                return f"I do not know {wanted}."
            if place:  # what the one before it gave and used up counts
                scene = yield from self.look(play)
            pursuing = self._equip(play, name) if goal.verb == "equip" else self._have(play, name, count, goal, scene)
            if reason := (yield from pursuing):
                return reason
        return None

    def _equip(self, play: Play, name: str) -> Generator[Request, Any, str | None]:
        answer = (yield from play.act(f"equip {name}")).observation
        return None if answer.startswith(DONE) else answer

    def _have(self, play: Play, name: str, count: int, goal: Goal, scene: Scene) -> Generator[Request, Any, str | None]:
        for _ in range(TRIES):
            missing = count - has(scene.held, name)
            if missing <= 0:
                return None
            recipe = self._next(name, missing, goal, scene)
            answer = (yield from play.act(command(recipe, scene.held, goal.uses))).observation
            if not answer.startswith(DONE):
                return answer
            if recipe.makes.amount >= missing:
                return None
            scene = yield from self.look(play)
        return f"It took too long to get {count} {name}."

    def _of_each_wood(self, goal: Goal, scene: Scene) -> list[Goal]:
        if "log" not in goal.have:
            return [goal]
        woods = {source(item): item for item in members("log")}
        return [replace(goal, choice=woods[place]) for place in scene.around if place in woods] or [goal]

    def _skill(self, name: str, goal: Goal, scene: Scene) -> Recipe:
        """Return how a thing is come by; of planks those of which most logs are held, of logs the chosen or nearest."""
        recipes = [ways()[item] for item in members(name)]
        if name == "planks":
            return max(recipes, key=lambda recipe: scene.held.get(recipe.parts[0].item, 0))
        chosen = [recipe for recipe in recipes if recipe.makes.item == goal.choice]
        return min(chosen or recipes, key=lambda recipe: scene.around.get(source(recipe.makes.item), FAR))

    def _next(self, name: str, missing: int, goal: Goal, scene: Scene) -> Recipe:
        """Return what to do for so many more, or as many as one kind of log makes planks."""
        recipe = self._skill(name, goal, scene)
        if name == "planks":
            logs = scene.held.get(recipe.parts[0].item, 0)
            missing = min(missing, logs * recipe.makes.amount) or missing
        recipe = scaled(recipe, missing, self._fuel(goal, scene))
        # What is mined is mined with the best that is held, where the plan does not say.
        return recipe._replace(tool=goal.tool) if recipe.verb == "mine" else recipe

    def _fuel(self, goal: Goal, scene: Scene) -> str:
        """Return what to burn: what the plan says, else what is held of what burns."""
        burning = [name for name in goal.uses for fuel in FUELS if has({name: 1}, fuel)]
        return next(iter(burning[-1:] or [fuel for fuel in FUELS if has(scene.held, fuel)]), "planks")


def _complete(goal: Goal) -> Goal:
    """Return a goal in the names that are known, with what it takes besides what the plan says of it."""
    tool = _known(goal.tool) or goal.tool
    goal = replace(goal, have=_in_known_names(goal.have), uses=_in_known_names(goal.uses), tool=tool)
    if goal.name not in NAMES or goal.verb == "equip":
        return goal
    recipe = scaled(ways()[goal.name], goal.have[goal.name])
    station = {recipe.tool: 1} if recipe.tool and not tool else {}
    parts = {} if goal.uses else {part.item: part.amount for part in recipe.parts}
    return replace(goal, unsaid=station | parts)


def _in_known_names(counts: Mapping[str, int]) -> dict[str, int]:
    return {_known(name) or name: count for name, count in counts.items()}


def _known(name: str) -> str | None:
    """Return the known thing of that name, or the one whose name is most like it."""
    return ALIASES.get(name) or nearest(name, NAMES)
