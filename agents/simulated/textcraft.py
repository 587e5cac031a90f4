"""The simulated model in TextCraft; all its knowledge of recipes and inventory comes from the prompt."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from textcraft_gym.agents.games.crafting import MARK, Crafts, Recipe, Want, read_crafts, read_held
from textcraft_gym.agents.simulated.mind import Mind, Step, go_on, read_blamed, read_failed, read_steps
from textcraft_gym.agents.simulated.reading import Reading

_WANT = re.compile(r"(?:craft|get) (?:([0-9]{1,9}) )?(.+?)(?: using .*)?")
_GOAL = re.compile(r"^Goal: (.+)\.$", re.MULTILINE)
_INVENTORY = re.compile(r"^Inventory: (.*)$", re.MULTILINE)
_GOT = re.compile(r"^Got ([0-9]{1,9}) (.+)$")
_CRAFTED = re.compile(r"^Crafted ([0-9]{1,9}) (?:[^:]+:)?(.+)$")

PROGRESS = re.compile("Got |Crafted ")
"""Matches an observation after an action that changed something."""


@dataclass(frozen=True)
class Page:
    """The part of a prompt above the transcript.

    Attributes:
        crafts: Commands and kinds of items.
        goal: The goal; None if it cannot be read.
        held: The inventory, as far as the prompt states it.
        failed: The goal that failed last; None if none did.
        blamed: What the last explanation of a failure says was lacking; None without an explanation.
        steps: Steps of the last plan in the prompt.
    """

    crafts: Crafts
    goal: Want | None
    held: dict[str, int]
    failed: Want | None
    blamed: tuple[Want, ...] | None
    steps: list[Want]


def answer(prompt: str, reading: Reading) -> str:
    """Return the answer to a prompt."""
    head, *turns = prompt[prompt.rindex(MARK) :].split("\n> ")
    page = read_page(head)
    if page.goal is None:
        return "task failed! I see no goal."
    return go_on(Player(page, page.goal, reading), turns)


def names(prompt: str, answer: str) -> list[list[str]]:
    """Return the items of the listed commands and their kinds."""
    crafts = read_page(prompt[prompt.rindex(MARK) :].partition("\n> ")[0]).crafts
    used = (thing for ways in crafts.recipes.values() for recipe in ways for thing in recipe.things)
    members = (item for kind in crafts.kinds.values() for item in kind)
    return [list(dict.fromkeys([*used, *members]))]


@lru_cache(maxsize=256)
def read_page(head: str) -> Page:
    """Read commands, kinds, goal, inventory and steps."""
    rest = head.removeprefix(MARK).partition("\n\n")[2]
    goals, inventories = _GOAL.findall(rest), _INVENTORY.findall(rest)
    return Page(
        crafts=read_crafts(head),
        goal=_want(goals[-1]) if goals else None,
        held=read_held(inventories[-1]) if inventories else {},
        failed=read_failed(rest),
        blamed=read_blamed(rest),
        steps=read_steps(rest, _want),
    )


class Player(Mind):
    """The model's reading of one prompt; above a temperature of 0 it draws recipes and members of kinds."""

    check_after = ("Could not find enough",)
    counter = "has"

    def __init__(self, page: Page, goal: Want, reading: Reading) -> None:
        super().__init__([goal], page.held, page.steps, page.failed, page.blamed, reading)
        self.crafts = page.crafts
        self.draw = reading.rng.random() if reading.rng else None

    def verb(self, item: str) -> str:
        """Return ``craft`` for items that a command makes, else ``get``."""
        return "craft" if item in self.crafts.recipes else "get"

    def read(self, action: str, observation: str) -> None:
        """Update the inventory by an action and its observation."""
        if got := _GOT.match(observation):
            self.receive(got[2], int(got[1]))
        elif crafted := _CRAFTED.match(observation):
            self.spend(action)
            self.receive(crafted[2].replace("_", " "), int(crafted[1]))
        elif inventory := _INVENTORY.match(observation):
            self.held = read_held(inventory[1])

    def recipe(self, want: Want, above: Iterable[str] = ()) -> Recipe | None:
        """Return a recipe for an item, each kind in it replaced by a member; None if no command makes it.

        It is the one with the fewest parts that must be made first; with a random draw, any.
        """
        forbidden = {*above, want.item}
        named = (self._with_members(recipe) for recipe in self.crafts.recipes.get(want.item, ()))
        choices = [recipe for recipe in named if forbidden.isdisjoint(part.item for part in recipe.parts)]
        if not choices:
            return None
        if self.draw is not None:
            return random.Random(f"{self.draw}/{want.item}").choice(choices)
        return min(choices, key=lambda recipe: len(list(self._to_make(recipe, want.amount))))

    def methods(self, step: Step) -> list[str]:
        """Return a step as lines of a function: a command that must be repeated is in a loop."""
        if step.recipe is None:
            return super().methods(step)
        made = step.recipe.makes
        once = next(
            (one.makes.amount for one in self.crafts.recipes[made.item] if _repeats(one, step.recipe)), made.amount
        )
        times = made.amount // once
        parts = tuple(part._replace(amount=part.amount // times) for part in step.recipe.parts)
        lines = super().methods(Step(step.want, Recipe(Want(made.item, once), parts)))
        return [f"for _ in range({times}):", *(f"    {line}" for line in lines)] if times > 1 else lines

    def _to_make(self, recipe: Recipe, count: int) -> Iterator[str]:
        for part in recipe.parts:
            if part.item in self.crafts.recipes and self.held.get(part.item, 0) < recipe.times(count) * part.amount:
                yield part.item

    def _with_members(self, recipe: Recipe) -> Recipe:
        return Recipe(recipe.makes, tuple(Want(self._member(part), part.amount) for part in recipe.parts))

    def _member(self, part: Want) -> str:
        """Return the item to use for a kind: one that is held, or the simplest to obtain."""
        # In this order: enough is held; a recipe makes it without another member of the kind; no recipe makes it, so
        # that one action gets it.
        recipes, name = self.crafts.recipes, part.item
        members = self.crafts.members(name)
        if not members:
            return name
        held = [item for item in members if self.held.get(item, 0) >= part.amount]
        made = [item for item in members if any(self._uses_none(recipe, members) for recipe in recipes.get(item, ()))]
        got = [item for item in members if item not in recipes]
        choices = held or made or got or members
        if self.draw is not None and not held:
            return random.Random(f"{self.draw}/{name}").choice(choices)
        return choices[0]

    def _uses_none(self, recipe: Recipe, members: list[str]) -> bool:
        return set(members).isdisjoint(part.item for part in recipe.parts)


def _repeats(once: Recipe, recipe: Recipe) -> bool:
    """Return whether a recipe is a listed one several times; its members of kinds may be named."""
    times = recipe.makes.amount // once.makes.amount
    return [part.amount for part in once.repeated(times).parts] == [part.amount for part in recipe.parts]


def _want(text: str) -> Want | None:
    found = _WANT.fullmatch(text.strip())
    return Want(found[2], int(found[1] or 1)) if found else None
