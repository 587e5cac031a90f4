"""How the simulated model plays Minecraft's tech tree: it knows the recipes, and all else it reads in the prompt."""

from __future__ import annotations

import random
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
from textcraft_gym.agents.simulated.mind import Mind, Step, go_on, read_failed, read_steps

MARK = "Ticks left: "

_GOAL = "\n\nGoal: "
_MUST_BE_WORN = "counts once it is equipped."
_WANT = re.compile(r"(?:mine|hunt|craft|smelt|equip|obtain) (?:([0-9]{1,9}) )?(.+?)(?: (?:using|with) .*)?")
_WOOD = re.compile(rf"\b({'|'.join(sorted(WOODS, key=len, reverse=True))}) (?!trees)")
_INVENTORY = re.compile(r"^Inventory: .*$", re.MULTILINE)
_GAINED = re.compile(r"^(?:Mined|Hunted|Crafted|Smelted) (.+)$")
_WORE = re.compile(r"^Equipped (.+)$")


def answer(prompt: str, span: int, chance: random.Random | None) -> str:
    """Go on from a prompt: with a turn, a plan or a reflection, whichever its last line asks for."""
    before, _, after = prompt.rpartition(_GOAL)
    head, *turns = after.split("\n> ")
    goal, _, rest = head.partition("\n")
    situation = before[before.rfind("\n\n") :]
    player = Player(situation, goal.removesuffix("."), rest, span, chance)
    if not player.wants:
        return "task failed! I see no goal."
    return go_on(player, prompt, turns)


class Player(Mind):
    """One look at a prompt; above a temperature of 0, chance says which wood it takes where any will do."""

    missed = ("Could not",)

    def __init__(self, situation: str, goal: str, rest: str, span: int, chance: random.Random | None) -> None:
        wants = _wants(goal, _MUST_BE_WORN in situation)
        told = _INVENTORY.findall(rest)
        held = read_held(told[-1]) if told else {}
        super().__init__(wants, held, read_steps(rest, _want), read_failed(rest), span)
        named = _WOOD.findall(goal)
        self.wood = named[0] if named else ""
        trees = (name.removesuffix(" trees") for name in read_around(situation))
        near = [wood for wood in trees if wood in WOODS] or list(WOODS)
        self.lucky = chance.choice(near) if chance else near[0]

    def turn(self) -> str:
        """Return the next line, in which a wood is named."""
        self.take_a_wood()
        return super().turn()

    def plan(self, *, in_full: bool) -> str:
        """Return a plan, in which a wood is named."""
        self.take_a_wood()
        return super().plan(in_full=in_full)

    def reflect(self) -> str:
        """Return what went wrong and a plan, in which a wood is named."""
        self.take_a_wood()
        return super().reflect()

    def take_a_wood(self) -> None:
        """Take the wood that the goal asks for, else that of which most is held, else the nearest."""
        most = max(WOODS, key=self._wood_held)
        self.wood = self.wood or (most if self._wood_held(most) else self.lucky)
        self.wants, self.told = ([Want(self._named(item), n) for item, n in some] for some in (self.wants, self.told))

    def verb(self, item: str) -> str:
        """Return what is done to have an item."""
        if item.endswith(EQUIPPED):
            return "equip"
        return ways()[item].verb if item in ways() else "craft"

    def recipe(self, want: Want, above: Iterable[str] = ()) -> Recipe | None:
        """Return how so many are made at once, kinds of wood replaced by the one that is taken."""
        item, count = want
        if item.endswith(EQUIPPED):
            return Recipe(want, (Want(item.removesuffix(EQUIPPED), 1),), "equip")
        way = ways().get(item)
        if way is None or (source(members(item)[0]) and not way.tool):
            return None
        return self.applied(way, count)

    def applied(self, recipe: Recipe, count: int) -> Recipe:
        """Return what makes so many at once, with what burns."""
        way = ways().get(recipe.makes.item)
        if way is None:
            return recipe
        whole = scaled(way, count, self._fuel(recipe, way, count))
        return whole._replace(parts=tuple(Want(self._named(part.item), part.amount) for part in whole.parts))

    def count(self, item: str) -> int:
        """Return how many of an item, or of a kind of wood, are held."""
        return has(self.held, item)

    def action(self, recipe: Recipe) -> str:
        """Return the action that applies a recipe."""
        if recipe.verb == "equip":
            return f"equip {recipe.makes.item.removesuffix(EQUIPPED)}"
        return command(recipe, self.held) if recipe.parts else str(recipe)

    def call(self, step: Step) -> str:
        """Return a step as a goal; to equip is a goal of its own."""
        if not step.want.item.endswith(EQUIPPED):
            return super().call(step)
        item = step.want.item.removesuffix(EQUIPPED)
        return f"equip({{'{item}': 1}}, {{'{item}': 1}}, null);"

    def statement(self, want: Want, *, checked: bool = False) -> str:
        """Return a step as a line of a program; that a thing is held does not say that it is worn."""
        if want.item.endswith(EQUIPPED):
            return f"equip({want.item.removesuffix(EQUIPPED)!r})"
        return super().statement(want, checked=checked)

    def read(self, action: str, said: str) -> None:
        """Read an action of the game and its answer."""
        if gained := _GAINED.match(said):
            self.spend(action)
            for item, count in read_parts(gained[1]):
                self.receive(item, count)
        elif wore := _WORE.match(said):
            self.receive(wore[1] + EQUIPPED, 1)
        elif _INVENTORY.match(said):
            self.held = read_held(said)

    def _fuel(self, recipe: Recipe, way: Recipe, count: int) -> str:
        """Return what a recipe burns already, else coal where there is enough of it, else planks."""
        if len(recipe.parts) > len(way.parts):
            return recipe.parts[-1].item
        return "coal" if self.count("coal") >= burnt("coal", count) else "planks"

    def _named(self, item: str) -> str:
        return f"{self.wood} {item}" if self.wood and len(members(item)) > 1 else item

    def _wood_held(self, wood: str) -> int:
        return self.held.get(f"{wood} log", 0) * 4 + self.held.get(f"{wood} planks", 0)


def _wants(goal: str, worn: bool) -> list[Want]:
    """Return all that a goal asks for."""
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
