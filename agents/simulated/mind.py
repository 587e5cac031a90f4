"""What the simulated model does in games where things are made of things; each game says how, and in which words."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, NamedTuple

from textcraft_gym.agents.adapt.step_plan import write_plan
from textcraft_gym.agents.contract.goals import parse_goals
from textcraft_gym.agents.games.crafting import Recipe, Want, listed, read_parts, read_recipe
from textcraft_gym.agents.simulated.span import in_mind, too_much

_OPENED = re.compile(r"^think: for ([0-9]{1,9}) .+ I (.+), [0-9]+ times, [0-9]+ in mind$")
_STEP = re.compile(r"^Step ([0-9]{1,4}): (.+)$", re.MULTILINE)
_FAILED = re.compile(r"^.*I failed on step [0-9]+ \"(.+?)\": ", re.MULTILINE)


class Line(NamedTuple):
    """A line of its own that is open: so many are to be made by this recipe."""

    amount: int
    recipe: Recipe


class Step(NamedTuple):
    """A step of a plan: what to have more of, and where it says so, by which recipe."""

    want: Want
    recipe: Recipe | None = None

    @property
    def things(self) -> list[str]:
        """What the step names."""
        return self.recipe.things if self.recipe else [self.want.item]


class Mind(ABC):
    """One look at a prompt: what is held, which lines are open, and what to write next.

    Args:
        wants: The goal: all that there should be.
        held: What is held, as far as that is told.
        told: The steps of the last plan that is told.
        failed: The goal of a plan that failed last; None if none did.
        span: How many things can be kept in mind.
    """

    missed: ClassVar[tuple[str, ...]]
    """What an answer begins with after which a look at the inventory is worth while."""
    refused: ClassVar[tuple[str, ...]] = ("Could not", "Wrong")

    def __init__(
        self, wants: Sequence[Want], held: dict[str, int], told: Sequence[Want], failed: Want | None, span: int
    ) -> None:
        self.wants = list(wants)
        self.told = list(told)
        self.failed = failed
        self.span = span
        self.held = dict(held)
        self.had: dict[str, int] = {}
        self.open: list[Line] = []
        self.last = ("", "")
        self.looked = False

    @abstractmethod
    def recipe(self, want: Want, above: Iterable[str] = ()) -> Recipe | None:
        """Return how so many of an item are made, not of what stands ``above`` it; None if it is had by one action."""

    @abstractmethod
    def verb(self, item: str) -> str:
        """Return what is done to have an item."""

    @abstractmethod
    def read(self, action: str, said: str) -> None:
        """Read an action of the game and its answer."""

    def count(self, item: str) -> int:
        """Return how many of an item are held."""
        return self.held.get(item, 0)

    def action(self, recipe: Recipe) -> str:
        """Return the action that applies a recipe."""
        return str(recipe)

    def applied(self, recipe: Recipe, count: int) -> Recipe:
        """Return a recipe with the parts that it takes for so many."""
        return recipe.repeated(recipe.times(count))

    def look_back(self, turns: Iterable[str]) -> None:
        """Read the transcript: what was got and made, and which lines are still open."""
        for turn in turns:
            action, _, said = turn.partition("\n")
            said = said.partition("\n")[0]
            if opened := _OPENED.match(action):
                if recipe := read_recipe(opened[2]):
                    self.open.append(Line(int(opened[1]), recipe))
            else:
                self.read(action, said)
            self.looked = self.last[0] == "inventory"
            self.last = action, said

    def turn(self) -> str:
        """Return the next line."""
        action, said = self.last
        if said.startswith(self.missed) and not self.looked:
            return "inventory"
        if said.startswith(self.refused):
            return f"task failed! I see no other way than {action}"
        if not self.open:
            want = self._next()
            return self._have(want) if want else "Task completed!"
        line = self.open[-1]
        for need in _needs(line.recipe.repeated(line.recipe.times(line.amount))):
            missing = need.amount - self.count(need.item)
            if missing > 0:
                return self._have(Want(need.item, missing))
        return self.action(line.recipe)

    def plan(self, *, in_full: bool) -> str:
        """Return a plan one level down, or one as full as can be kept in mind."""
        steps = self._whole(self.wants) if in_full else self._one_level_down()
        return steps if isinstance(steps, str) else write_plan([self._told(step)] for step in steps)

    def goals(self) -> str:
        """Return a whole plan as goals, as full as can be kept in mind; after a failure, for what failed first."""
        first = [self.failed] if self.failed else self.wants
        steps = self._whole(first)
        if isinstance(steps, str):
            return steps
        steps += [Step(want) for want in self.wants if want not in first]
        return "\n".join(f"{self.call(step)} # step {number}" for number, step in enumerate(steps, 1))

    def next_goal(self) -> str:
        """Return the first goal of a plan that is not reached; ``done`` where all are."""
        if all(self.count(want.item) >= want.amount for want in self.wants):
            return "done"
        steps = self._whole(self.wants)
        return steps if isinstance(steps, str) else self.call(steps[0])

    def program(self, *, checked: bool) -> str:
        """Return a plan as a program, with a check before each step if it is asked for."""
        steps = self._whole(self.wants)
        if isinstance(steps, str):
            return steps
        if checked:
            return "\n    ".join(["def plan():", *(self.statement(step.want, checked=True) for step in steps)])
        return "\n".join(self.statement(step.want) for step in steps)

    def statement(self, want: Want, *, checked: bool = False) -> str:
        """Return a step as a line of a program; what is counted is what is then held."""
        item, count = want.item, want.amount + self.count(want.item)
        call = f"{self.verb(item)}({item!r}, {count})"
        return f"assert count({item!r}) >= {count} else {call}" if checked else call

    def call(self, step: Step) -> str:
        """Return a step as a goal; what is counted is what is then held."""
        item, missing = step.want
        recipe = step.recipe or Recipe(step.want)
        parts = ", ".join(f"'{part.item}': {part.amount}" for part in recipe.parts)
        uses = f"{{{parts}}}" if parts else "null"
        tool = f"'{recipe.tool}'" if recipe.tool else "null"
        return f"{self.verb(item)}({{'{item}': {missing + self.count(item)}}}, {uses}, {tool});"

    def explain(self) -> str:
        """Return why a goal failed."""
        missing = self._divide(self.failed)[:-1] if self.failed else []
        return f"I did not have {listed(step.want for step in missing) or 'what it takes'}."

    def reflect(self) -> str:
        """Return what went wrong, and a plan with the step that failed divided."""
        failed = self._next() or self.wants[-1]
        steps: list[Step] = []
        for want in self._agenda():
            steps += self._divide(want) if want.item == failed.item else [Step(want)]
        said = f"I did not get to {failed.amount} {failed.item}."
        if complaint := too_much((step.things for step in steps), self.span):
            return f"{said} {complaint}"
        return f"{said} New plan:\n{self._numbered(steps)}"

    def receive(self, item: str, count: int) -> None:
        """Have so many more, and close the line that was open for them."""
        self.held[item] = self.held.get(item, 0) + count
        self.had[item] = self.had.get(item, 0) + count
        if self.open and self.open[-1].recipe.makes.item == item:
            line = self.open.pop()
            if line.amount > count:
                self.open.append(line._replace(amount=line.amount - count))

    def spend(self, action: str) -> None:
        """Have what an action used up no more."""
        for item, count in read_parts(action.partition(" using ")[2]):
            self.held[item] = self.held.get(item, 0) - count

    def _agenda(self) -> list[Want]:
        """Return the steps of the plan that is told, which end with the goal."""
        return [*self.told, *(want for want in self.wants if want not in self.told)]

    def _next(self) -> Want | None:
        """Return the first step that is not done, and how much of it is missing."""
        needed: dict[str, int] = {}
        for item, count in self._agenda():
            needed[item] = needed.get(item, 0) + count
            missing = needed[item] - self.had.get(item, 0)
            if missing > 0:
                return Want(item, missing)
        return None

    def _have(self, want: Want) -> str:
        """Return the line that gets an item, or opens the making of it if that can be kept in mind."""
        recipe = self.recipe(want, {line.recipe.makes.item for line in self.open})
        if recipe is None:
            return f"{self.verb(want.item)} {want.amount} {want.item}"
        lines = [*(line.recipe.things for line in self.open), recipe.things]
        if complaint := too_much(lines, self.span):
            return complaint
        times = recipe.times(want.amount)
        return f"think: for {want.amount} {want.item} I {recipe}, {times} times, {len(in_mind(lines))} in mind"

    def _one_level_down(self) -> list[Step] | str:
        """Return the parts of the goal, and what each of them takes where the goal has but one."""
        steps = self._divide(self.wants[0]) if len(self.wants) == 1 else [Step(want) for want in self.wants]
        return too_much((step.things for step in steps), self.span) or steps

    def _divide(self, want: Want) -> list[Step]:
        """Return the steps that an item takes, one level down."""
        recipe = self.recipe(want)
        if recipe is None:
            return [Step(want)]
        recipe = self.applied(recipe, want.amount)
        missing = [Want(item, amount - self.count(item)) for item, amount in _needs(recipe)]
        return [*(Step(part) for part in missing if part.amount > 0), Step(want, recipe)]

    def _whole(self, wants: Sequence[Want]) -> list[Step] | str:
        """Return the steps to all that is wanted, divided as far as can be kept in mind, or why not even one can be."""
        divided: dict[str, Recipe] = {}
        steps = self._bill(wants, divided)
        complaint = too_much((step.things for step in steps), self.span)
        while fuller := self._divided_further(wants, steps, divided):
            if isinstance(fuller, str):
                complaint = complaint or fuller
                break
            steps = fuller
        return complaint if complaint and not divided else steps

    def _divided_further(
        self, wants: Sequence[Want], steps: Sequence[Step], divided: dict[str, Recipe]
    ) -> list[Step] | str | None:
        """Divide one more step; return what is too much if each that can be divided is, None if none can be."""
        complaint = None
        for step in steps:
            if step.recipe is None and (recipe := self.recipe(step.want, _above(step.want.item, divided))):
                fuller = self._bill(wants, {**divided, step.want.item: recipe})
                too_many = too_much((one.things for one in fuller), self.span)
                if not too_many:
                    divided[step.want.item] = recipe
                    return fuller
                complaint = complaint or too_many
        return complaint

    def _bill(self, wants: Iterable[Want], divided: dict[str, Recipe]) -> list[Step]:
        """Return a step for each thing that is missing, with all that is needed of it, parts before what takes them."""
        needed = dict.fromkeys(_parts_first([want.item for want in wants], divided), 0)
        for item, amount in wants:
            needed[item] = max(needed[item], amount)
        steps = []
        for item in reversed(needed):
            missing = needed[item] - self.count(item)
            if missing <= 0:
                continue
            recipe = self.applied(divided[item], missing) if item in divided else None
            if recipe:
                for part in recipe.parts:
                    needed[part.item] += part.amount
                if recipe.tool:
                    needed[recipe.tool] = max(1, needed[recipe.tool])
            steps.append(Step(Want(item, missing), recipe))
        return steps[::-1]

    def _numbered(self, steps: Iterable[Step]) -> str:
        return "\n".join(f"Step {number}: {self._told(step)}" for number, step in enumerate(steps, 1))

    def _told(self, step: Step) -> str:
        item, count = step.want
        recipe = step.recipe or Recipe(step.want)
        return self.action(recipe._replace(makes=Want(item, count), verb=self.verb(item)))


def go_on(mind: Mind, prompt: str, turns: Sequence[str]) -> str:
    """Go on from a prompt: with a turn, a plan or a reflection, whichever its last line asks for."""
    asked = prompt.rstrip().rpartition("\n")[2]
    if asked == ">":
        mind.look_back(turns)
        return mind.turn()
    if asked.startswith("Why did it fail"):
        return mind.explain()
    if asked.startswith(("Plan as goals", "Thoughts and plan", "Mend this")):
        return mind.goals()
    if asked.startswith("Next goal"):
        return mind.next_goal()
    if asked.startswith("Program"):
        return mind.program(checked="checks" in asked)
    if asked.startswith("Reflection"):
        mind.look_back(turns)
        return mind.reflect()
    return mind.plan(in_full="in full" in asked)


def read_failed(text: str) -> Want | None:
    """Return the goal that failed last, of those that a text tells of; None if it tells of none."""
    told = _FAILED.findall(text)
    goals = parse_goals(told[-1]) if told else []
    return Want(*next(iter(goals[0].have.items()))) if goals else None


def read_steps(text: str, want: Callable[[str], Want | None]) -> list[Want]:
    """Return the steps of the last plan that a text tells; ``want`` reads one."""
    steps: list[Want] = []
    for number, step in _STEP.findall(text):
        steps = [*([] if number == "1" else steps), *filter(None, [want(step)])]
    return steps


def _needs(recipe: Recipe) -> list[Want]:
    """Return all that must be held for a recipe, the tool first."""
    return [*([Want(recipe.tool, 1)] if recipe.tool else []), *recipe.parts]


def _above(item: str, divided: dict[str, Recipe]) -> set[str]:
    """Return all that takes an item, and what takes that."""
    above = {item}
    while more := {maker for maker, recipe in divided.items() if above.intersection(recipe.things)} - above:
        above |= more
    return above - {item}


def _parts_first(items: Iterable[str], divided: dict[str, Recipe]) -> list[str]:
    """Return items and all that they take, each after what it takes; of recipes that go round, in some order."""
    ordered: dict[str, None] = {}
    entered: set[str] = set()

    def visit(item: str) -> None:
        if item not in entered:
            entered.add(item)
            if item in divided:
                for part in divided[item].things:
                    visit(part)
            ordered[item] = None

    for item in items:
        visit(item)
    return list(ordered)
