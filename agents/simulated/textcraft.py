"""How the simulated model plays TextCraft: all it knows of the state of things it reads in the prompt."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from textcraft_gym.agents.games.crafting import MARK, Crafts, Recipe, Want, read_crafts, read_held
from textcraft_gym.agents.simulated.mind import Mind, go_on, read_failed, read_steps

_WANT = re.compile(r"(?:craft|get) (?:([0-9]{1,9}) )?(.+?)(?: using .*)?")
_GOAL = re.compile(r"^Goal: (.+)\.$", re.MULTILINE)
_INVENTORY = re.compile(r"^Inventory: (.*)$", re.MULTILINE)
_GOT = re.compile(r"^Got ([0-9]{1,9}) (.+)$")
_CRAFTED = re.compile(r"^Crafted ([0-9]{1,9}) (?:[^:]+:)?(.+)$")


@dataclass(frozen=True)
class Page:
    """What stands above the transcript.

    Attributes:
        crafts: Commands and kinds.
        goal: What to reach; None if it cannot be read.
        held: What is held, as far as that is told.
        failed: The goal of a plan that failed last; None if none did.
        steps: The steps of the last plan that is told.
    """

    crafts: Crafts
    goal: Want | None
    held: dict[str, int]
    failed: Want | None
    steps: list[Want]


def answer(prompt: str, span: int, chance: random.Random | None) -> str:
    """Go on from a prompt: with a turn, a plan or a reflection, whichever its last line asks for."""
    head, *turns = prompt[prompt.rindex(MARK) :].split("\n> ")
    page = read_page(head)
    if page.goal is None:
        return "task failed! I see no goal."
    return go_on(Player(page, page.goal, span, chance.random() if chance else None), prompt, turns)


@lru_cache(maxsize=256)
def read_page(head: str) -> Page:
    """Read commands, kinds, goal, inventory and steps."""
    rest = head.removeprefix(MARK).partition("\n\n")[2]
    goals, told = _GOAL.findall(rest), _INVENTORY.findall(rest)
    return Page(
        crafts=read_crafts(head),
        goal=_want(goals[-1]) if goals else None,
        held=read_held(told[-1]) if told else {},
        failed=read_failed(rest),
        steps=read_steps(rest, _want),
    )


class Player(Mind):
    """One look at a prompt of TextCraft; above a temperature of 0 with the number that chance has drawn."""

    missed = ("Could not find enough",)

    def __init__(self, page: Page, goal: Want, span: int, chance: float | None) -> None:
        super().__init__([goal], page.held, page.steps, page.failed, span)
        self.crafts = page.crafts
        self.chance = chance

    def verb(self, item: str) -> str:
        """Craft what a command makes, get what none makes."""
        return "craft" if item in self.crafts.recipes else "get"

    def read(self, action: str, said: str) -> None:
        """Read an action of the game and its answer."""
        if got := _GOT.match(said):
            self.receive(got[2], int(got[1]))
        elif crafted := _CRAFTED.match(said):
            self.spend(action)
            self.receive(crafted[2].replace("_", " "), int(crafted[1]))
        elif told := _INVENTORY.match(said):
            self.held = read_held(told[1])

    def recipe(self, want: Want, above: Iterable[str] = ()) -> Recipe | None:
        """Return a recipe for an item, each kind in it replaced by a member; None if no command makes it.

        The simplest is that which takes the least that must be made first; chance takes any.
        """
        forbidden = {*above, want.item}
        named = (self._with_members(recipe) for recipe in self.crafts.recipes.get(want.item, ()))
        choices = [recipe for recipe in named if forbidden.isdisjoint(part.item for part in recipe.parts)]
        if not choices:
            return None
        if self.chance is not None:
            return random.Random(f"{self.chance}/{want.item}").choice(choices)
        return min(choices, key=lambda recipe: len(list(self._to_make(recipe, want.amount))))

    def _to_make(self, recipe: Recipe, count: int) -> Iterator[str]:
        for part in recipe.parts:
            if part.item in self.crafts.recipes and self.held.get(part.item, 0) < recipe.times(count) * part.amount:
                yield part.item

    def _with_members(self, recipe: Recipe) -> Recipe:
        return Recipe(recipe.makes, tuple(Want(self._member(part), part.amount) for part in recipe.parts))

    def _member(self, part: Want) -> str:
        """Return which item to take where a kind is named: one that is held, or the simplest to have."""
        recipes, name = self.crafts.recipes, part.item
        members = self.crafts.members(name)
        if not members:
            return name
        enough = [item for item in members if self.held.get(item, 0) >= part.amount]
        made = [item for item in members if any(self._apart(recipe, members) for recipe in recipes.get(item, ()))]
        got = [item for item in members if item not in recipes]
        choices = enough or made or got or members
        if self.chance is not None and not enough:
            return random.Random(f"{self.chance}/{name}").choice(choices)
        return choices[0]

    def _apart(self, recipe: Recipe, members: list[str]) -> bool:
        return set(members).isdisjoint(part.item for part in recipe.parts)


def _want(text: str) -> Want | None:
    found = _WANT.fullmatch(text.strip())
    return Want(found[2], int(found[1] or 1)) if found else None
