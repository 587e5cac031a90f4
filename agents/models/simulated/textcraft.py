"""How the simulated model plays TextCraft: all it knows of the state of things it reads in the prompt."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from textcraft_gym.agents.crafting import (
    MARK,
    Crafts,
    Recipe,
    Want,
    listed,
    read_crafts,
    read_held,
    read_parts,
    read_recipe,
)
from textcraft_gym.agents.models.simulated.span import in_mind, too_much

_WANT = re.compile(r"(?:craft|get) (?:([0-9]{1,9}) )?(.+?)(?: using .*)?")
_GOAL = re.compile(r"^Goal: (.+)\.$", re.MULTILINE)
_FAILED = re.compile(r"I failed on step [0-9]+ \"\w+\(\{'([^']+)': ([0-9]{1,9})\}")
_STEP = re.compile(r"^Step ([0-9]{1,4}): (.+)$", re.MULTILINE)
_INVENTORY = re.compile(r"^Inventory: (.*)$", re.MULTILINE)
_OPENED = re.compile(r"^think: for ([0-9]{1,9}) .+ I (craft [0-9]{1,9} .+? using .+), [0-9]+ times, [0-9]+ in mind$")
_GOT = re.compile(r"^Got ([0-9]{1,9}) (.+)$")
_CRAFTED = re.compile(r"^Crafted ([0-9]{1,9}) (?:[^:]+:)?(.+)$")


class Line(NamedTuple):
    """A line of its own that is open: so many are to be made by this recipe."""

    amount: int
    recipe: Recipe

    @property
    def things(self) -> list[str]:
        """What the line names."""
        return [self.recipe.makes.item, *(part.item for part in self.recipe.parts)]


class Step(NamedTuple):
    """A step of a plan: what to have, and where it says so, of what it is crafted."""

    want: Want
    using: tuple[Want, ...] = ()

    @property
    def things(self) -> list[str]:
        """What the step names."""
        return [self.want.item, *(part.item for part in self.using)]


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
    mind = Mind(page, span, chance.random() if chance else None)
    asked = prompt.rstrip().rpartition("\n")[2]
    if asked == ">":
        mind.look_back(turns)
        return mind.turn(page.goal)
    if asked.startswith("Why did it fail"):
        return mind.explain()
    if asked.startswith(("Plan as goals", "Thoughts and plan", "Mend this")):
        return mind.goals(page.goal)
    if asked.startswith("Next goal"):
        return mind.next_goal(page.goal)
    if asked.startswith("Program"):
        return mind.program(page.goal, checked="checks" in asked)
    if asked.startswith("Reflection"):
        mind.look_back(turns)
        return mind.reflect(page.goal)
    return mind.plan(page.goal, in_full="in full" in asked)


@lru_cache(maxsize=256)
def read_page(head: str) -> Page:
    """Read commands, kinds, goal, inventory and steps."""
    rest = head.removeprefix(MARK).partition("\n\n")[2]
    failed = _FAILED.findall(rest)
    goals, told = _GOAL.findall(rest), _INVENTORY.findall(rest)
    steps: list[Want] = []
    for number, step in _STEP.findall(rest):
        steps = [*([] if number == "1" else steps), *filter(None, [_want(step)])]
    return Page(
        crafts=read_crafts(head),
        goal=_want(goals[-1]) if goals else None,
        held=read_held(told[-1]) if told else {},
        failed=Want(failed[-1][0], int(failed[-1][1])) if failed else None,
        steps=steps,
    )


class Mind:
    """One look at a prompt: what is held, which lines are open, and what to write next."""

    def __init__(self, page: Page, span: int, chance: float | None) -> None:
        self.page = page
        self.crafts = page.crafts
        self.span = span
        self.chance = chance
        self.held = dict(page.held)
        self.had: dict[str, int] = {}
        self.open: list[Line] = []
        self.last = ("", "")
        self.looked = False

    def look_back(self, turns: list[str]) -> None:
        """Read the transcript: what was got and made, and which lines are still open."""
        for turn in turns:
            action, _, said = turn.partition("\n")
            said = said.partition("\n")[0]
            if opened := _OPENED.match(action):
                if recipe := read_recipe(opened[2]):
                    self.open.append(Line(int(opened[1]), recipe))
            elif got := _GOT.match(said):
                self._receive(got[2], int(got[1]))
            elif crafted := _CRAFTED.match(said):
                self._spend(action)
                self._receive(crafted[2].replace("_", " "), int(crafted[1]))
            elif told := _INVENTORY.match(said):
                self.held = read_held(told[1])
            self.looked = self.last[0] == "inventory"
            self.last = action, said

    def turn(self, goal: Want) -> str:
        """Return the next line."""
        action, said = self.last
        if said.startswith("Could not find enough") and not self.looked:
            return "inventory"
        if said.startswith(("Could not", "Wrong")):
            return f"task failed! I see no other way than {action}"
        if not self.open:
            want = self._next(goal)
            if want is None:
                return "Task completed!"
            return self._have(want)
        line = self.open[-1]
        left = line.recipe.times(line.amount)
        for part in line.recipe.parts:
            missing = left * part.amount - self.held.get(part.item, 0)
            if missing > 0:
                return self._have(Want(part.item, missing))
        return str(line.recipe)

    def plan(self, goal: Want, *, in_full: bool) -> str:
        """Return a plan one level down, or one as full as can be kept in mind."""
        steps = self._divide(goal)
        if complaint := too_much((step.things for step in steps), self.span):
            return complaint
        while in_full and (fuller := self._fuller(steps)):
            steps = fuller
        order = " AND ".join(f"Step {number}" for number in range(1, len(steps) + 1))
        return f"{self._numbered(steps)}\nExecution Order: ({order})"

    def goals(self, goal: Want) -> str:
        """Return a whole plan as goals, as full as can be kept in mind; after a failure, for what failed first."""
        wanted = [want for want in (self.page.failed, goal) if want]
        steps = self._whole(wanted[0])
        if isinstance(steps, str):
            return steps
        steps += [Step(want) for want in wanted[1:] if want != wanted[0]]
        return "\n".join(f"{self._call(step)} # step {number}" for number, step in enumerate(steps, 1))

    def next_goal(self, goal: Want) -> str:
        """Return the first goal of a plan that is not reached; ``done`` where all are."""
        if self.held.get(goal.item, 0) >= goal.amount:
            return "done"
        steps = self._whole(goal)
        return steps if isinstance(steps, str) else self._call(steps[0])

    def program(self, goal: Want, *, checked: bool) -> str:
        """Return a plan as a program, with a check before each step if it is asked for."""
        steps = self._whole(goal)
        if isinstance(steps, str):
            return steps
        calls = [(want, f"{self._verb(want)}({want.item!r}, {want.amount})") for want, _ in steps]
        if checked:
            lines = [f"assert count({want.item!r}) >= {want.amount} else {call}" for want, call in calls]
            return "\n    ".join(["def plan():", *lines])
        return "\n".join(call for _, call in calls)

    def _whole(self, goal: Want) -> list[Step] | str:
        """Return the steps of a plan, divided as far as can be kept in mind, or the complaint that none can."""
        steps = self._divide(goal)
        if complaint := too_much((step.things for step in steps), self.span):
            return complaint
        while fuller := self._fuller(steps):
            steps = fuller
        return steps

    def _verb(self, want: Want) -> str:
        return "craft" if want.item in self.crafts.recipes else "get"

    def _call(self, step: Step) -> str:
        parts = ", ".join(f"'{part.item}': {part.amount}" for part in step.using)
        uses = f"{{{parts}}}" if parts else "null"
        return f"{self._verb(step.want)}({{'{step.want.item}': {step.want.amount}}}, {uses}, null);"

    def explain(self) -> str:
        """Return why a goal failed."""
        failed = self.page.failed
        missing = self._divide(failed)[:-1] if failed else []
        return f"I did not have {listed(step.want for step in missing) or 'what it takes'}."

    def reflect(self, goal: Want) -> str:
        """Return what went wrong, and a plan with the step that failed divided."""
        failed = self._next(goal) or goal
        steps: list[Step] = []
        for want in self._agenda(goal):
            steps += self._divide(want) if want.item == failed.item else [Step(want)]
        said = f"I did not get to {failed.amount} {failed.item}."
        if complaint := too_much((step.things for step in steps), self.span):
            return f"{said} {complaint}"
        return f"{said} New plan:\n{self._numbered(steps)}"

    def _agenda(self, goal: Want) -> list[Want]:
        """Return the steps of the plan that is told, which end with the goal."""
        return self.page.steps if goal in self.page.steps else [*self.page.steps, goal]

    def _next(self, goal: Want) -> Want | None:
        """Return the first step that is not done, and how much of it is missing."""
        needed: dict[str, int] = {}
        for item, count in self._agenda(goal):
            needed[item] = needed.get(item, 0) + count
            missing = needed[item] - self.had.get(item, 0)
            if missing > 0:
                return Want(item, missing)
        return None

    def _have(self, want: Want) -> str:
        """Return the line that gets an item, or opens the making of it if that can be kept in mind."""
        recipe = self._choose(want)
        if recipe is None:
            return f"get {want.amount} {want.item}"
        lines = [*(line.things for line in self.open), Line(want.amount, recipe).things]
        if complaint := too_much(lines, self.span):
            return complaint
        times = recipe.times(want.amount)
        return f"think: for {want.amount} {want.item} I {recipe}, {times} times, {len(in_mind(lines))} in mind"

    def _choose(self, want: Want) -> Recipe | None:
        """Return a recipe for an item, each kind in it replaced by a member; None if no command makes it.

        The simplest is that which takes the least that must be made first; chance takes any.
        """
        above = {line.recipe.makes.item for line in self.open} | {want.item}
        named = (self._with_members(recipe) for recipe in self.crafts.recipes.get(want.item, ()))
        choices = [recipe for recipe in named if above.isdisjoint(part.item for part in recipe.parts)]
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

    def _divide(self, want: Want) -> list[Step]:
        """Return the steps that an item takes, one level down."""
        recipe = self._choose(want)
        if recipe is None:
            return [Step(want)]
        times = recipe.times(want.amount)
        needs = [Want(part.item, times * part.amount) for part in recipe.parts]
        missing = [Want(item, count - self.held.get(item, 0)) for item, count in needs]
        return [*(Step(part) for part in missing if part.amount > 0), Step(want, tuple(needs))]

    def _fuller(self, steps: list[Step]) -> list[Step] | None:
        """Return a plan with one more step divided, if there is one that can be, in what can be kept in mind.

        An item is divided once, so that recipes which go round come to an end.
        """
        divided = {step.want.item for step in steps if step.using}
        for place, step in enumerate(steps):
            if step.want.item in self.crafts.recipes and step.want.item not in divided:
                fuller = [*steps[:place], *self._divide(step.want), *steps[place + 1 :]]
                if not too_much((step.things for step in fuller), self.span):
                    return fuller if fuller != steps else None
        return None

    def _numbered(self, steps: list[Step]) -> str:
        lines = []
        for number, (want, using) in enumerate(steps, 1):
            verb = "craft" if want.item in self.crafts.recipes else "get"
            of = f" using {listed(using)}" if using else ""
            lines.append(f"Step {number}: {verb} {want.amount} {want.item}{of}")
        return "\n".join(lines)

    def _receive(self, item: str, count: int) -> None:
        self.held[item] = self.held.get(item, 0) + count
        self.had[item] = self.had.get(item, 0) + count
        if self.open and self.open[-1].recipe.makes.item == item:
            line = self.open.pop()
            if line.amount > count:
                self.open.append(line._replace(amount=line.amount - count))

    def _spend(self, action: str) -> None:
        for item, count in read_parts(action.partition(" using ")[2]):
            self.held[item] = self.held.get(item, 0) - count


def _want(text: str) -> Want | None:
    found = _WANT.fullmatch(text.strip())
    return Want(found[2], int(found[1] or 1)) if found else None
