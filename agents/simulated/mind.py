"""The simulated model in crafting games: planning and acting on recipes; each game adds its recipes and wording."""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, NamedTuple

from textcraft_gym.agents.adapt.react import THOUGHT
from textcraft_gym.agents.adapt.step_plan import write_plan
from textcraft_gym.agents.contract.goals import parse_goals
from textcraft_gym.agents.games.crafting import Recipe, Want, listed, read_parts, read_recipe
from textcraft_gym.agents.simulated import programs
from textcraft_gym.agents.simulated.cues import Cue
from textcraft_gym.agents.simulated.judging import judgement
from textcraft_gym.agents.simulated.manual import LINE_FORMS
from textcraft_gym.agents.simulated.reading import Reading
from textcraft_gym.agents.simulated.span import in_mind, too_much

_OPENED = re.compile(rf"^(?:{THOUGHT} )?for ([0-9]{{1,9}}) .+ I (.+), [0-9]+ times, [0-9]+ in mind$")
_STEP = re.compile(r"^Step ([0-9]{1,4}): (.+)$", re.MULTILINE)
_FAILED = re.compile(r"^.*I failed on step [0-9]+ \"(.+?)\"(?:: |\.$)", re.MULTILINE)
_LACKED = re.compile(r"^I did not have (.+)\.$", re.MULTILINE)


class Line(NamedTuple):
    """An open line of the model: an amount to make by a recipe."""

    amount: int
    recipe: Recipe


class Step(NamedTuple):
    """A step of a plan: an item with the amount to add, and the recipe if the step names one."""

    want: Want
    recipe: Recipe | None = None

    @property
    def things(self) -> list[str]:
        """Items that the step names."""
        return self.recipe.things if self.recipe else [self.want.item]


class Mind(ABC):
    """The model's reading of one prompt: the inventory, the open lines and the plan.

    Args:
        wants: The goal: items with the amounts that should be held in the end.
        held: The inventory, as far as the prompt states it.
        planned: Steps of the last plan in the prompt.
        failed: The goal that failed last; None if none did.
        blamed: What the last explanation of a failure says was lacking; None without an explanation.
        reading: The request, the limits and the draws.
    """

    check_after: ClassVar[tuple[str, ...]]
    """Prefixes of observations after which to look at the inventory."""
    give_up_after: ClassVar[tuple[str, ...]] = ("Could not", "Wrong")
    """Prefixes of observations after which to give up, if the inventory was looked at."""
    counter: ClassVar[str]
    """The method by which a function counts what is held."""

    def __init__(
        self,
        wants: Sequence[Want],
        held: dict[str, int],
        planned: Sequence[Want],
        failed: Want | None,
        blamed: Sequence[Want] | None,
        reading: Reading,
    ) -> None:
        self.wants = list(wants)
        self.planned = list(planned)
        self.failed = failed
        self.blamed = blamed
        self.reading = reading
        self.span = reading.span
        self.held = dict(held)
        self.received: dict[str, int] = {}
        self.open_lines: list[Line] = []
        self.last_turn = ("", "")
        self.looked = False

    @abstractmethod
    def recipe(self, want: Want, above: Iterable[str] = ()) -> Recipe | None:
        """Return a recipe for an item that uses none of the items ``above`` it; None if one action obtains it."""

    @abstractmethod
    def verb(self, item: str) -> str:
        """Return the verb that obtains an item."""

    @abstractmethod
    def read(self, action: str, observation: str) -> None:
        """Update the inventory by an action and its observation."""

    def count(self, item: str) -> int:
        """Return the amount of an item that is held."""
        return self.held.get(item, 0)

    def action(self, recipe: Recipe) -> str:
        """Return the action that applies a recipe."""
        return str(recipe)

    def applied(self, recipe: Recipe, count: int) -> Recipe:
        """Return a recipe with the parts that the amount takes."""
        return recipe.repeated(recipe.times(count))

    def look_back(self, turns: Iterable[str]) -> None:
        """Read the transcript: update the inventory and the open lines."""
        for turn in turns:
            action, _, rest = turn.partition("\n")
            observation = rest.partition("\n")[0]
            if opened := _OPENED.match(action):
                observation = ""  # the game may answer a thought that is written like an action
                if recipe := read_recipe(opened[2]):
                    self.open_lines.append(Line(int(opened[1]), recipe))
            else:
                self.read(action, observation)
            self.looked = self.last_turn[0] == "inventory"
            self.last_turn = action, observation

    def turn(self) -> str:
        """Return the next line."""
        action, observation = self.last_turn
        if observation.startswith(self.check_after) and not self.looked:
            return "inventory"
        line = self._next_line()
        # Where it means to write another line now, the refused one was a slip.
        if observation.startswith(self.give_up_after) and line == action:
            return f"task failed! I see no other way than {action}"
        return line

    def _next_line(self) -> str:
        if not self.open_lines:
            want = self._next_want()
            return self._obtain(want) if want else "Task completed!"
        line = self.open_lines[-1]
        for need in _requirements(line.recipe.repeated(line.recipe.times(line.amount))):
            missing = need.amount - self.count(need.item)
            if missing > 0:
                return self._obtain(Want(need.item, missing))
        return self.action(line.recipe)

    def plan(self, *, in_full: bool) -> str:
        """Return a plan one level down, or the fullest that can be kept in mind."""
        steps = self._full_plan(self.wants) if in_full else self._one_level_down()
        return steps if isinstance(steps, str) else write_plan([self._step_text(step)] for step in steps)

    def goals(self) -> str:
        """Return the fullest plan that can be kept in mind, as goals; after a failure the failed goal comes first."""
        # The failed goal is planned alone, so that the whole span is available for its parts.
        first = self._blamed() or self.wants
        steps = self._full_plan(first)
        if isinstance(steps, str):
            return steps
        steps += [Step(want) for want in self.wants if want not in first]
        return "\n".join(f"{self.call(step)} # step {step_number}" for step_number, step in enumerate(steps, 1))

    def next_goal(self) -> str:
        """Return the next goal of the plan; ``done`` if none is left."""
        if all(self.count(want.item) >= want.amount for want in self.wants):
            return "done"
        if self.reading.exempt_plan:
            steps = self._full_plan(self.wants)
            return steps if isinstance(steps, str) else self.call(steps[0])
        divided: dict[str, Recipe] = {}
        first, *later = self._divided(self.wants, divided, sys.maxsize)[0]
        above = _ancestors(first.want.item, divided)
        lines = [first, *(step for step in later if step.want.item in above)]
        return self._too_much(lines, self.span) or self.call(first)

    def program(self, *, checked: bool) -> str:
        """Return the plan as a program in the form that the demonstrations show; with assertions if ``checked``."""
        steps = self._full_plan(self.wants)
        if isinstance(steps, str):
            return steps
        calls = [self.statement(step.want, checked=checked) for step in steps]
        if checked:
            return "\n    ".join(["def plan():", *calls])
        if self.reading.manual.shows("from actions import"):
            verbs = ", ".join(dict.fromkeys(call.partition("(")[0] for call in calls))
            return "\n    ".join([f"from actions import {verbs}\n\ndef plan():", *calls])
        if self.reading.manual.shows(r"while not inventory\.has"):
            calls = list(map(_repeated, calls))
        return "\n".join(calls)

    def statement(self, want: Want, *, checked: bool = False) -> str:
        """Return a step as a line of a program; counts are totals held afterwards."""
        item, count = want.item, want.amount + self.count(want.item)
        call = f"{self.verb(item)}({item!r}, {count})"
        return f"assert count({item!r}) >= {count} else {call}" if checked else call

    def function(self) -> str:
        """Return the plan as a function in steps, from what is held according to the last report."""
        steps = self._full_plan(self.wants)
        return steps if isinstance(steps, str) else programs.write(map(self._stage, steps))

    def _stage(self, step: Step) -> programs.Stage:
        item, count = step.want.item, step.want.amount + self.count(step.want.item)
        holds = f"agent.{self.counter}({item!r}) >= {count}"
        return programs.Stage(f"have {count} {item}", self.methods(step), holds, f"I do not have {count} {item}")

    def methods(self, step: Step) -> list[str]:
        """Return a step as lines of a function that call methods."""
        recipe = (step.recipe or Recipe(step.want))._replace(verb=self.verb(step.want.item))
        read = read_recipe(self.action(recipe)) or recipe  # with members in the place of kinds
        parts = f", {listed(read.parts)!r}" if read.parts else ""
        return [f"agent.{read.verb}({read.makes.item!r}, {read.makes.amount}{parts})"]

    def call(self, step: Step) -> str:
        """Return a step as a goal; counts are totals held afterwards."""
        item, missing = step.want
        recipe = step.recipe or Recipe(step.want)
        parts = ", ".join(f"'{part.item}': {part.amount}" for part in recipe.parts)
        uses = f"{{{parts}}}" if parts else "null"
        tool = f"'{recipe.tool}'" if recipe.tool else "null"
        return f"{self.verb(item)}({{'{item}': {missing + self.count(item)}}}, {uses}, {tool});"

    def explain(self) -> str:
        """Return why a goal failed."""
        suspect = self._suspect()
        missing = self._lacked(suspect) if suspect == self.failed else list(filter(None, [suspect]))
        return f"I did not have {listed(missing) or 'what it takes'}."

    def reflect(self) -> str:
        """Return the failure, and a plan with the step that failed divided."""
        failed = self._next_want() or self.wants[-1]
        others = [want for want in self._agenda() if want.item != failed.item]
        if others and self.reading.draws.errs("misjudge", "reflection"):
            failed = self.reading.draws.pick(others)
        steps: list[Step] = []
        for want in self._agenda():
            steps += self._divide(want) if want.item == failed.item else [Step(want)]
        summary = f"I did not get to {failed.amount} {failed.item}."
        if complaint := self._too_much(steps, self.span):
            return f"{summary} {complaint}"
        return f"{summary} New plan:\n{self._numbered(steps)}"

    def judge(self) -> str:
        """Return the judgement of an attempt: how many of the steps are done, as far as the span divides the goal."""
        action, observation = self.last_turn
        left = len(self._divided(self.wants, {}, self.span)[0])
        self.held = {}
        share = 1 - left / max(1, len(self._divided(self.wants, {}, self.span)[0]))
        refused = observation.startswith(self.give_up_after)
        return judgement(share, action, refused=refused, draws=self.reading.draws)

    def receive(self, item: str, count: int) -> None:
        """Add an amount to the inventory, and close the line that was open for it."""
        self.held[item] = self.held.get(item, 0) + count
        self.received[item] = self.received.get(item, 0) + count
        if self.open_lines and self.open_lines[-1].recipe.makes.item == item:
            line = self.open_lines.pop()
            if line.amount > count:
                self.open_lines.append(line._replace(amount=line.amount - count))

    def spend(self, action: str) -> None:
        """Subtract the items that an action used up from the inventory."""
        for item, count in read_parts(action.partition(" using ")[2]):
            self.held[item] = self.held.get(item, 0) - count

    def _blamed(self) -> list[Want]:
        """Return what to plan first after a failure: the failed goal, or what is blamed wrongly; empty for none."""
        wrongly = self.blamed and list(self.blamed) != self._lacked(self.failed)
        if self.blamed and wrongly:
            return list(self.blamed)
        suspect = self._suspect() if self.blamed is None else self.failed
        if suspect == self.failed and not self._lacked(suspect):  # it was missed: the plan goes on
            return []
        return [suspect] if suspect else []

    def _suspect(self) -> Want | None:
        """Return the goal that failed, or by a misjudgement another thing that the task takes."""
        if self.failed is None or not self.reading.draws.errs("misjudge", "diagnosis"):
            return self.failed
        others = [step.want for want in self.wants for step in self._divide(want) if step.want.item != self.failed.item]
        return self.reading.draws.pick(others) if others else self.failed

    def _lacked(self, goal: Want | None) -> list[Want]:
        """Return the parts that a goal lacks."""
        return [step.want for step in self._divide(goal)[:-1]] if goal else []

    def _agenda(self) -> list[Want]:
        """Return the steps of the plan in the prompt, followed by the goal."""
        return [*self.planned, *(want for want in self.wants if want not in self.planned)]

    def _next_want(self) -> Want | None:
        """Return the first step that is not done, and the amount that it lacks."""
        needed: dict[str, int] = {}
        for item, count in self._agenda():
            needed[item] = needed.get(item, 0) + count
            missing = needed[item] - self.received.get(item, 0)
            if missing > 0:
                return Want(item, missing)
        return None

    def _obtain(self, want: Want) -> str:
        """Return the action that obtains an item, or the line that opens its recipe if that fits into the span."""
        recipe = self.recipe(want, {line.recipe.makes.item for line in self.open_lines})
        verb = recipe.verb if recipe else self.verb(want.item)
        unseen = self.reading.manual.unseen([*(line.recipe.verb for line in self.open_lines), verb])
        lines = [*(line.recipe.things for line in self.open_lines), recipe.things if recipe else [], unseen]
        if complaint := too_much(lines, self.span):
            return complaint
        if recipe is None:
            return f"{verb} {want.amount} {want.item}"
        times = recipe.times(want.amount)
        return f"{THOUGHT} for {want.amount} {want.item} I {recipe}, {times} times, {len(in_mind(lines))} in mind"

    def _too_much(self, steps: Iterable[Step], span: int) -> str | None:
        """Return the complaint if the lines of a plan are too much; a form that was never shown is a thing, too."""
        form = LINE_FORMS.get(self.reading.question.cue, "")
        unseen = [] if self.reading.manual.shows(form) else ["the form of a line"]
        return too_much([*(step.things for step in steps), unseen], span)

    def _one_level_down(self) -> list[Step] | str:
        """Return the parts of the goal; of a goal with one part, the steps that this part takes."""
        steps = self._divide(self.wants[0]) if len(self.wants) == 1 else [Step(want) for want in self.wants]
        return self._too_much(steps, self.span) or steps

    def _divide(self, want: Want) -> list[Step]:
        """Return the steps that make an item, one level down."""
        recipe = self.recipe(want)
        if recipe is None:
            return [Step(want)]
        recipe = self.applied(recipe, want.amount)
        missing = [Want(item, amount - self.count(item)) for item, amount in _requirements(recipe)]
        return [*(Step(part) for part in missing if part.amount > 0), Step(want, recipe)]

    def _full_plan(self, wants: Sequence[Want]) -> list[Step] | str:
        """Return the steps to all wants, or the complaint if they are too much to keep in mind.

        A plan that is exempt is divided only as far as can be kept in mind; it is too much if nothing can be divided.
        """
        divided: dict[str, Recipe] = {}
        steps, complaint = self._divided(wants, divided, self.span)
        return complaint if complaint and not (divided and self.reading.exempt_plan) else steps

    def _divided(self, wants: Sequence[Want], divided: dict[str, Recipe], span: int) -> tuple[list[Step], str | None]:
        """Divide the steps to all wants as far as a span allows, and return the complaint if it does not allow all."""
        # Greedy: one more item is replaced by its recipe as long as the plan's things fit into the span.
        steps = self._bill_of_materials(wants, divided)
        complaint = self._too_much(steps, span)
        while fuller := self._divided_further(wants, steps, divided, span):
            if isinstance(fuller, str):
                return steps, complaint or fuller
            steps = fuller
        return steps, complaint

    def _divided_further(
        self, wants: Sequence[Want], steps: Sequence[Step], divided: dict[str, Recipe], span: int
    ) -> list[Step] | str | None:
        """Divide one more step; return the complaint if every division is too much, None if no step can be divided."""
        complaint = None
        for step in steps:
            if step.recipe is None and (recipe := self.recipe(step.want, _ancestors(step.want.item, divided))):
                fuller = self._bill_of_materials(wants, {**divided, step.want.item: recipe})
                too_many = self._too_much(fuller, span)
                if not too_many:
                    divided[step.want.item] = recipe
                    return fuller
                complaint = complaint or too_many
        return complaint

    def _bill_of_materials(self, wants: Iterable[Want], divided: dict[str, Recipe]) -> list[Step]:
        """Return a step for each missing item, with its total amount, parts before the items that use them."""
        needed = dict.fromkeys(_parts_first([want.item for want in wants], divided), 0)
        for item, amount in wants:
            needed[item] = max(needed[item], amount)
        steps = []
        # Users before their parts, so that all needs of a part are known when its turn comes.
        for item in reversed(needed):
            missing = needed[item] - self.count(item)
            if missing <= 0:
                continue
            recipe = self.applied(divided[item], missing) if item in divided else None
            if recipe:
                for part in recipe.parts:
                    needed[part.item] += part.amount
                if recipe.tool:  # one serves all recipes
                    needed[recipe.tool] = max(1, needed[recipe.tool])
            steps.append(Step(Want(item, missing), recipe))
        return steps[::-1]

    def _numbered(self, steps: Iterable[Step]) -> str:
        return "\n".join(f"Step {step_number}: {self._step_text(step)}" for step_number, step in enumerate(steps, 1))

    def _step_text(self, step: Step) -> str:
        item, count = step.want
        recipe = step.recipe or Recipe(step.want)
        return self.action(recipe._replace(makes=Want(item, count), verb=self.verb(item)))


def go_on(mind: Mind, turns: Sequence[str]) -> str:
    """Return the answer of the kind that is asked for."""
    question = mind.reading.question
    if question.cue in (Cue.TURN, Cue.REFLECTION, Cue.JUDGEMENT):
        mind.look_back(turns)
    match question.cue:
        case Cue.TURN:
            return mind.turn()
        case Cue.EXPLANATION:
            return mind.explain()
        case Cue.GOALS | Cue.MENDED_PLAN:
            return mind.goals()
        case Cue.NEXT_GOAL:
            return mind.next_goal()
        case Cue.PROGRAM:
            return mind.program(checked=question.checked)
        case Cue.FUNCTION:
            return mind.function()
        case Cue.REFLECTION:
            return mind.reflect()
        case Cue.JUDGEMENT:
            return mind.judge()
        case _:
            return mind.plan(in_full=question.in_full)


def read_failed(text: str) -> Want | None:
    """Return the goal that failed last, according to a text; None if it reports no failure."""
    reports = _FAILED.findall(text)
    goals = parse_goals(reports[-1]) if reports else []
    return Want(*next(iter(goals[0].have.items()))) if goals else None


def read_blamed(text: str) -> tuple[Want, ...] | None:
    """Return what the explanation after the last failure says was lacking; None if it is not explained."""
    explained = _LACKED.findall(text[max((report.end() for report in _FAILED.finditer(text)), default=len(text)) :])
    return read_parts(explained[-1]) if explained else None


def read_steps(text: str, want: Callable[[str], Want | None]) -> list[Want]:
    """Return the steps of the last plan in a text; ``want`` parses one."""
    steps: list[Want] = []
    for step_number, step_text in _STEP.findall(text):
        if step_number == "1":  # another plan begins
            steps = []
        if step := want(step_text):
            steps.append(step)
    return steps


def _repeated(call: str) -> str:
    """Return a call in a loop until it is reached; equipping has none, since only held items can be counted."""
    verb, _, arguments = call.partition("(")
    return call if verb == "equip" else f"while not inventory.has({arguments}:\n    {call}"


def _requirements(recipe: Recipe) -> list[Want]:
    """Return all that must be held for a recipe, the tool first."""
    return [*([Want(recipe.tool, 1)] if recipe.tool else []), *recipe.parts]


def _ancestors(item: str, divided: dict[str, Recipe]) -> set[str]:
    """Return the items whose recipes use an item, directly or through others."""
    ancestors = {item}
    while more := {user for user, recipe in divided.items() if ancestors.intersection(recipe.things)} - ancestors:
        ancestors |= more
    return ancestors - {item}


def _parts_first(items: Iterable[str], divided: dict[str, Recipe]) -> list[str]:
    """Return items and all their parts, parts before the items that use them; in a cycle the order is arbitrary."""
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
