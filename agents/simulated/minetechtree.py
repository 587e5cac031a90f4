"""The simulated model in Minecraft's tech tree; it knows the recipes, and reads everything else from the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable

from textcraft_gym.agents.contract.goals import EQUIPPED, has
from textcraft_gym.agents.games.crafting import Recipe, Want, read_parts
from textcraft_gym.agents.games.minetechtree.knowledge import (
    WOODS,
    burnt,
    command,
    is_worn,
    members,
    read_around,
    read_held,
    scaled,
    source,
    ways,
)
from textcraft_gym.agents.simulated.mind import Mind, Step, go_on, read_blamed, read_failed, read_steps
from textcraft_gym.agents.simulated.reading import Reading

MARK = "Ticks left: "
PROGRESS = re.compile("(?:Mined|Hunted|Crafted|Smelted|Equipped) ")
"""Matches an observation after an action that changed something."""

_GOAL = "\n\nGoal: "
_MUST_BE_WORN = "counts once it is equipped."
_WANT = re.compile(r"(?:mine|hunt|craft|smelt|equip|obtain) (?:([0-9]{1,9}) )?(.+?)(?: (?:using|with) .*)?")
_WOOD = re.compile(rf"\b({'|'.join(sorted(WOODS, key=len, reverse=True))}) (?!trees)")
_INVENTORY = re.compile(r"^Inventory: .*$", re.MULTILINE)
_GAINED = re.compile(r"^(?:Mined|Hunted|Crafted|Smelted) (.+)$")
_WORE = re.compile(r"^Equipped (.+)$")


def answer(prompt: str, reading: Reading) -> str:
    """Return the answer to a prompt."""
    before, _, after = prompt.rpartition(_GOAL)
    head, *turns = after.split("\n> ")
    goal, _, rest = head.partition("\n")
    situation = before[before.rfind("\n\n") :]
    player = Player(situation, goal.removesuffix("."), rest, reading)
    if not player.wants:
        return "task failed! I see no goal."
    return go_on(player, turns)


def names(prompt: str, answer: str) -> list[list[str]]:
    """Return the items that the answer names, and those that are named or have a source in the prompt."""
    before, _, after = prompt.rpartition(_GOAL)
    situation = before[before.rfind("\n\n") :]
    text = f"{situation}{after}\n{answer}"
    return [[item for item in ways() if item in text or (source(item) or item) in text]]


class Player(Mind):
    """The model's reading of one prompt; above a temperature of 0 it draws the wood to use if any is possible."""

    check_after = ("Could not",)
    counter = "count"

    def __init__(self, situation: str, goal: str, rest: str, reading: Reading) -> None:
        wants = _wants(goal, _MUST_BE_WORN in situation)
        inventories = _INVENTORY.findall(rest)
        held = read_held(inventories[-1]) if inventories else {}
        super().__init__(wants, held, read_steps(rest, _want), read_failed(rest), read_blamed(rest), reading)
        named = _WOOD.findall(goal)
        self.wood = named[0] if named else ""
        trees = (name.removesuffix(" trees") for name in read_around(situation))
        near = [wood for wood in trees if wood in WOODS] or list(WOODS)
        self.default_wood = reading.rng.choice(near) if reading.rng else near[0]

    def turn(self) -> str:
        """Return the next line, with a wood chosen."""
        self.choose_wood()
        return super().turn()

    def plan(self, *, in_full: bool) -> str:
        """Return a plan, with a wood chosen."""
        self.choose_wood()
        return super().plan(in_full=in_full)

    def function(self) -> str:
        """Return a function, with a wood chosen."""
        self.choose_wood()
        return super().function()

    def methods(self, step: Step) -> list[str]:
        """Return a step as lines of a function."""
        if step.want.item.endswith(EQUIPPED):
            return [f"agent.equip({step.want.item.removesuffix(EQUIPPED)!r})"]
        return super().methods(step)

    def reflect(self) -> str:
        """Return the failure and a plan, with a wood chosen."""
        self.choose_wood()
        return super().reflect()

    def choose_wood(self) -> None:
        """Choose the wood that the goal names, else the one held most, else the nearest or drawn one."""
        most = max(WOODS, key=self._wood_held)
        self.wood = self.wood or (most if self._wood_held(most) else self.default_wood)
        self.wants = [Want(self._named(item), amount) for item, amount in self.wants]
        self.planned = [Want(self._named(item), amount) for item, amount in self.planned]

    def verb(self, item: str) -> str:
        """Return the verb that obtains an item."""
        if item.endswith(EQUIPPED):
            return "equip"
        return ways()[item].verb if item in ways() else "craft"

    def recipe(self, want: Want, above: Iterable[str] = ()) -> Recipe | None:
        """Return the recipe that makes the amount at once, with the chosen wood for kinds of wood."""
        item, count = want
        if item.endswith(EQUIPPED):
            return Recipe(want, (Want(item.removesuffix(EQUIPPED), 1),), "equip")
        known = ways().get(item)
        # An item of a source that is mined or hunted without a tool takes a single action.
        if known is None or (source(members(item)[0]) and not known.tool):
            return None
        return self.applied(known, count)

    def applied(self, recipe: Recipe, count: int) -> Recipe:
        """Return the recipe that makes the amount at once, with its fuel."""
        known = ways().get(recipe.makes.item)
        if known is None:
            return recipe
        applied = scaled(known, count, self._fuel(recipe, known, count))
        return applied._replace(parts=tuple(Want(self._named(part.item), part.amount) for part in applied.parts))

    def count(self, item: str) -> int:
        """Return the amount of an item, or of a kind of wood, that is held."""
        return has(self.held, item)

    def action(self, recipe: Recipe) -> str:
        """Return the action that applies a recipe."""
        if recipe.verb == "equip":
            return f"equip {recipe.makes.item.removesuffix(EQUIPPED)}"
        return command(recipe, self.held) if recipe.parts else str(recipe)

    def call(self, step: Step) -> str:
        """Return a step as a goal; equipping is a separate goal."""
        if not step.want.item.endswith(EQUIPPED):
            return super().call(step)
        item = step.want.item.removesuffix(EQUIPPED)
        return f"equip({{'{item}': 1}}, {{'{item}': 1}}, null);"

    def statement(self, want: Want, *, checked: bool = False) -> str:
        """Return a step as a line of a program; equipping has no check, since only held items can be counted."""
        if want.item.endswith(EQUIPPED):
            return f"equip({want.item.removesuffix(EQUIPPED)!r})"
        return super().statement(want, checked=checked)

    def read(self, action: str, observation: str) -> None:
        """Update the inventory by an action and its observation."""
        if gained := _GAINED.match(observation):
            self.spend(action)
            for item, count in read_parts(gained[1]):
                self.receive(item, count)
        elif wore := _WORE.match(observation):
            self.receive(wore[1] + EQUIPPED, 1)
        elif _INVENTORY.match(observation):
            self.held = read_held(observation)

    def _fuel(self, recipe: Recipe, known: Recipe, count: int) -> str:
        """Return the fuel that the recipe names already, else coal if enough of it is held, else planks."""
        if len(recipe.parts) > len(known.parts):  # fuel is one part more than the known recipe has
            return recipe.parts[-1].item
        return "coal" if self.count("coal") >= burnt("coal", count) else "planks"

    def _named(self, item: str) -> str:
        return f"{self.wood} {item}" if self.wood and len(members(item)) > 1 else item

    def _wood_held(self, wood: str) -> int:
        """Return the held amount of a wood, in planks."""
        return self.held.get(f"{wood} log", 0) * 4 + self.held.get(f"{wood} planks", 0)


def _wants(goal: str, worn: bool) -> list[Want]:
    """Return all items that a goal asks for."""
    if not goal.startswith("obtain "):
        return list(filter(None, [_want(goal)]))
    wants = read_parts(goal.removeprefix("obtain "))
    return [want._replace(item=want.item + EQUIPPED) if worn and is_worn(want.item) else want for want in wants]


def _want(text: str) -> Want | None:
    found = _WANT.fullmatch(text.strip())
    if not found:
        return None
    worn = EQUIPPED if text.strip().startswith("equip ") else ""
    return Want(found[2] + worn, int(found[1] or 1))
