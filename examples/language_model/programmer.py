"""The teacher of AdaPlanner in ALFWorld: writes a task as a function, and repairs its assertions.

A function asks where a thing may be, and which number it has in a text. Where a search was in vain,
the next function names the places that are left; other mistakes are made on purpose, and mended.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from recorded import Said

from textcraft_gym.agents.adaplanner.adaplanner import CHECK, FIRST_CHANGE
from textcraft_gym.agents.adaplanner.solution import HEAD
from textcraft_gym.agents.games.alfworld.household import (
    APPLIANCES,
    USUAL_PLACES,
    HouseholdTask,
    kind,
    likely,
)

MISTAKES = ("syntax", "closed", "appliance", "end")
"""A colon missing; a search that opens nothing; a wrong appliance; the last step left out."""
MOST_ASKED = 10
"""The most places that are named to a function which asks."""

_PLACES = re.compile(r"Places that may have an? (\w+), the likeliest first: (\[.*\])")
_NUMBER = re.compile(r"The number of the (\w+): (.*)", re.DOTALL)
_MISSED = re.compile(r"^Error in \[Step (\d+)\]: no (\w+) in (\[.*?\])\.", re.MULTILINE)
_STEP = re.compile(r"^    if start_from <= (\d+):\n((?:        .*\n?)*)", re.MULTILINE)


class Stage(NamedTuple):
    """A step of a function.

    Attributes:
        title: What it does.
        lines: Its lines before the assertion.
        holds: The condition that it asserts.
        complaint: What is wrong if that does not hold, as the text of an f-string.
    """

    title: str
    lines: tuple[str, ...]
    holds: str
    complaint: str


class Programmer:
    """Answers as the model of AdaPlanner in one household.

    Args:
        task: The task.
        places: The places of the household, in the order of the first observation.
        rng: Draws the mistake.
        mistake: The kind of mistake in the first function; empty for none.

    Attributes:
        left: The places to search, by the step that searches them; a step without them asks.
        kept: The steps before this one are left as they were, since they were right.
    """

    def __init__(
        self, task: HouseholdTask, places: Sequence[str], rng: random.Random, *, mistake: str = ""
    ) -> None:
        self.task, self.places, self.rng = task, list(places), rng
        self.mistake = mistake if mistake != "appliance" or task.treatment else ""
        self.left: dict[int, list[str]] = {}
        self.kept = 0

    def answer(self, role: str, prompt: str, sample: int) -> Said:
        """Return the answer to a request."""
        if role == "ask":
            return Said(f" {self.said(prompt.removesuffix(chr(10) + 'Answer:'))}")
        if role == "checker":
            return Said(self.checked(prompt.removesuffix(f"\n\n{CHECK}")))
        if role == "planner":
            function = body(self.stages(), syntax=self.mistake != "syntax")
            return Said(f"\n{function}", learnt=not self.mistake)
        if prompt.endswith(FIRST_CHANGE):
            return Said(f" {first_change(prompt)}")
        return self.mend(prompt)

    # -- Functions

    def stages(self) -> list[Stage]:
        """Return the steps of the function, with the mistake as long as it is not mended."""
        task = self.task
        target = self.place_of(task.target) if task.target else ""
        made: list[Stage] = []
        for number in range(task.amount):
            made.append(self.search(task.thing, len(made) + 1, avoid=target if number else ""))
            made.append(taking(task.thing))
            if task.treatment:
                made.append(treating(task.thing, task.treatment, self.appliance()))
            if target:
                made.append(putting(task.thing, target))
        if task.lamp:
            made += [self.search(task.lamp, len(made) + 1), lighting(task.lamp)]
        if self.mistake == "end":
            made.pop()
        return made

    def search(self, thing: str, number: int, avoid: str = "") -> Stage:
        """Return the step that searches for a thing; delivered things are not taken away again."""
        question = f"Places that may have a {thing}, the likeliest first: {{agent.receptacles}}"
        places = f"literal_eval(ask(f'{question}'))"
        if number in self.left:
            places = repr(self.left[number])
        looking = ["    seen = agent.goto(place)"]
        if self.mistake != "closed" and number >= self.kept:
            looking += ["    if 'closed' in seen:", "        seen = agent.open_receptacle(place)"]
        looking += [f"    if 'a {thing} ' in seen:", "        break"]
        if avoid:
            looking = [f"    if place != '{avoid}':", *(f"    {line}" for line in looking)]
        lines = (f"places = {places}", "seen = ''", "for place in places:", *looking)
        return Stage(f"find a {thing}", lines, f"'a {thing} ' in seen", f"no {thing} in {{places}}")

    def appliance(self) -> str:
        """Return the place that treats the thing, or by mistake another one."""
        right = APPLIANCES[self.task.treatment]
        if self.mistake == "appliance":
            wrong = [place for place in self.places if kind(place) not in right]
            return wrong[0]
        return next(place for place in self.places if kind(place) in right)

    def place_of(self, name: str) -> str:
        """Return the first place of a kind."""
        return next(place for place in self.places if kind(place) == name)

    # -- Answers

    def said(self, question: str) -> str:
        """Return the answer to a question of a function."""
        match = _PLACES.fullmatch(question)
        if match:
            places = likely(match[1], ast.literal_eval(match[2]))
            kinds = USUAL_PLACES.get(match[1], ())
            usual = [place for place in places if kind(place) in kinds]
            return repr((usual or places)[:MOST_ASKED])
        match = _NUMBER.fullmatch(question)
        numbers = re.findall(rf"\ba {match[1]} (\d+)", match[2]) if match else []
        return numbers[0] if numbers else "none"

    def checked(self, source: str) -> str:
        """Return whether a function has errors of syntax, and if so, the function without them."""
        try:
            ast.parse(source)
        except SyntaxError:
            self.mistake = ""
            return f"\nyes\n{HEAD}\n{body(self.stages())}"
        return "\nno"

    def mend(self, prompt: str) -> Said:
        """Return the repaired function and a comment, learnt if the teacher knows the cause."""
        treatment = self.task.treatment
        comment = {
            "closed": "What is closed must be opened to see what is in it.",
            "appliance": f"To {treatment} it takes a {APPLIANCES.get(treatment, ('',))[0]}.",
            "end": "The last step is missing.",
        }.get(self.mistake, "")
        for step, thing, searched in _MISSED.findall(prompt)[-1:]:
            number, seen = int(step), ast.literal_eval(searched)
            if self.mistake == "closed":
                self.kept, self.left[number] = number, likely(thing, self.places)
            elif not self.mistake:
                # A place at the same spot as another one is seen when it is gone to from elsewhere.
                others = [place for place in likely(thing, self.places) if place not in seen]
                self.left[number] = others or self.places[::-1]
                comment = f"No {thing} there: I search the places that are left."
        self.mistake = ""
        function = f"\n    # {comment or 'Once more.'}\n{body(self.stages())}"
        return Said(function, learnt=bool(comment))


def taking(thing: str) -> Stage:
    """Return the step that takes what was found."""
    lines = (
        f"number = ask(f'The number of the {thing}: {{seen}}')",
        f"thing = f'{thing} {{number}}'",
        "agent.take(thing, place)",
    )
    return Stage(f"take the {thing}", lines, "agent.holding == thing", "I do not hold {thing}")


def treating(thing: str, treatment: str, place: str) -> Stage:
    """Return the step that cleans, heats or cools."""
    lines = (f"agent.goto('{place}')", f"seen = agent.{treatment}(thing, '{place}')")
    return Stage(
        f"{treatment} the {thing}",
        lines,
        f"'You {treatment}' in seen",
        f"I did not {treatment} {{thing}}",
    )


def putting(thing: str, target: str) -> Stage:
    """Return the step that puts the thing down."""
    lines = (
        f"seen = agent.goto('{target}')",
        "if 'closed' in seen:",
        f"    agent.open_receptacle('{target}')",
        f"agent.put(thing, '{target}')",
    )
    return Stage(
        f"put the {thing} in {target}", lines, "agent.holding == ''", "I still hold {agent.holding}"
    )


def lighting(lamp: str) -> Stage:
    """Return the step that turns the lamp on."""
    lines = (
        f"number = ask(f'The number of the {lamp}: {{seen}}')",
        f"seen = agent.turn_on(f'{lamp} {{number}}')",
    )
    return Stage(f"turn on the {lamp}", lines, "'You turn on' in seen", f"the {lamp} is not on")


def body(stages: Sequence[Stage], *, syntax: bool = True) -> str:
    """Return the lines of a function after its head; without ``syntax`` a colon is missing."""
    lines = []
    for number, stage in enumerate(stages, 1):
        label = f"[Step {number}]"
        lines += [f"    if start_from <= {number}:", f"        print('{label} {stage.title}')"]
        lines += [f"        {line}" for line in stage.lines]
        lines.append(
            f"        assert {stage.holds}, "
            f"f'Error in {label}: {stage.complaint}. {{agent.report()}}'"
        )
    text = "\n".join(lines)
    if not syntax:
        text = text.replace("for place in places:", "for place in places", 1)
    return text


def first_change(prompt: str) -> str:
    """Return the number of the first step in which two functions differ."""
    first, _, second = prompt.removesuffix(FIRST_CHANGE).partition("\n\nThe second program:\n")
    before = dict(_STEP.findall(f"{first.rstrip()}\n"))
    for number, step in _STEP.findall(f"{second.rstrip()}\n"):
        if step != before.get(number):
            return number
    return "1"
