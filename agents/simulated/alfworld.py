"""How the simulated model plays ALFWorld: all it knows of the household it reads in the prompt.

It looks for a thing in one kind of place after the other, and must keep in mind what the errand is about and every kind
of place that it has looked in for the thing it seeks, until it has it.
"""

from __future__ import annotations

import random
import re

from textcraft_gym.agents.adapt.step_plan import write_plan
from textcraft_gym.agents.games.alfworld.household import (
    APPLIANCES,
    Household,
    HouseholdTask,
    Next,
    kind,
    likely,
    read_task,
)
from textcraft_gym.agents.simulated.span import in_mind, too_much

MARK = "You are in the middle of a room."
PLACES_A_STEP = 8
"""A plan names at most so many places in one step, which is as many as a part of it has turns to look into."""

_TASK = "\n\nYour task is to: "
_LAST = re.compile(r"^The last action was: (.+)\n(.+)$", re.MULTILINE)
_SOUGHT = re.compile(r"^think: an? (\w+) may be in the (\w+), [0-9]+ in mind$")
_BEGUN = "think: to"
_PLANNED = re.compile(r"^#(\d+) (.+)$")
_SUCCEEDED = re.compile(r"I succeeded on step ([0-9, ]+)\.")
_NOT_THERE = re.compile(r'I failed on step \d+ "(?:pick a (\w+)|look at the \w+ under the (\w+)) at (\w+ \d+)"')
_PICK = re.compile(r"pick an? (\w+) at (\w+ \d+)")
_DO = re.compile(r"(clean|heat|cool|put) the (\w+) (with|in) (\w+ \d+)")
_LIGHT = re.compile(r"look at the \w+ under the (\w+) at (\w+ \d+)")
_IN_VAIN = re.compile(r"I looked for the (\w+) in ([\w, ]+) and saw none\.")
_FOUND = re.compile(r"I found the (\w+) in (\w+ \d+)\.")


def answer(prompt: str, span: int, chance: random.Random | None) -> str:
    """Go on from a prompt: with a turn, a plan, a choice or a reflection, whichever its last line asks for."""
    if prompt.rstrip().endswith("Your answer:"):
        return choose(prompt)
    before, _, after = prompt.rpartition(_TASK)
    head, *turns = after.split("\n> ")
    task, _, information = head.partition("\n")
    errand = read_task(task)
    if errand is None:
        return f"task failed! I do not know how to {task}"
    mind = Mind(before.rpartition("\n\n")[2], information, errand, span, chance.random() if chance else None)
    mind.look_back(turns)
    asked = prompt.rstrip().rpartition("\n")[2]
    if asked == ">":
        return mind.turn(task)
    if asked.startswith("Reflection"):
        return mind.reflect()
    if asked.startswith("Why did it fail"):
        return "What I looked for was not there."
    if asked.startswith(("Plan as numbered", "Mend this")):
        return mind.steps(information)
    return mind.plan(in_full="in full" in asked)


def choose(prompt: str) -> str:
    """Return the number of the command that serves a goal, 0 if none does, or ``done``."""
    told, _, listed = prompt.rpartition("\nGoal: ")[2].partition("\n\n")
    goal, _, did = told.partition("\n")
    last = did.rpartition("What you did for it: ")[2].partition("\n")[0]
    numbers = {command: number for number, _, command in (line.partition(" ") for line in listed.splitlines())}
    wanted = _commands(goal)
    if wanted and re.fullmatch(wanted[0], last):
        return "done"
    return next((number for want in wanted for command, number in numbers.items() if re.fullmatch(want, command)), "0")


def _commands(goal: str) -> list[str]:
    """Return what reaches a goal, and what leads there, as patterns, the nearest to the goal first."""
    if pick := _PICK.fullmatch(goal):
        return [rf"take {pick[1]} \d+ from {pick[2]}", f"open {pick[2]}", f"go to {pick[2]}"]
    if do := _DO.fullmatch(goal):
        verb, thing, word, place = do.groups()
        said = f"move {thing} \\d+ to {place}" if verb == "put" else f"{verb} {thing} \\d+ {word} {place}"
        return [said, *([f"open {place}"] if verb == "put" else []), f"go to {place}"]
    if light := _LIGHT.fullmatch(goal):
        return [rf"use {light[1]} \d+", f"go to {light[2]}"]
    return []


class Mind:
    """One look at a prompt: what is known of the household, and which lines are open."""

    def __init__(
        self, situation: str, information: str, errand: HouseholdTask, span: int, chance: float | None
    ) -> None:
        self.household = Household(situation)
        self.errand = errand
        self.span = span
        self.chance = chance
        self.begun = False
        self.sought: dict[str, list[str]] = {}
        self.looked = {thing: kinds.split(", ") for thing, kinds in _IN_VAIN.findall(information)}
        self.found: dict[str, str] = dict(_FOUND.findall(information))
        for command, said in _LAST.findall(information):
            self.household.read(command, said)

    def look_back(self, turns: list[str]) -> None:
        """Read the transcript: what was seen and done, and where a thing is being looked for."""
        for turn in turns:
            action, _, said = turn.partition("\n")
            self.begun = self.begun or action.startswith(_BEGUN)
            if sought := _SOUGHT.match(action):
                self.sought.setdefault(sought[1], []).append(sought[2])
            self.household.read(action, said.partition("\n")[0])
            if taken := re.match(r"You pick up the (\w+) \d+ from the (.+)\.", said):
                self.sought.pop(taken[1], None)
                self.found[taken[1]] = taken[2]

    def turn(self, task: str) -> str:
        """Return the next line."""
        if self.household.done(self.errand):
            return "Task completed!"
        step = self.household.next(self.errand, self.order)
        if step is None:
            return "task failed! I see no way that I have not tried."
        about = self.about()
        if not self.begun and len(about) > 1:
            things = ", ".join(about)
            return too_much([about], self.span) or f"{_BEGUN} {task} I keep {things} in mind, {len(about)} of them"
        return self._search(step) or step.command

    def order(self, thing: str) -> list[str]:
        """Return places in the order in which to look for a thing: as chance has it, if there is chance."""
        places = likely(thing, self.household.places)
        if self.chance is not None:
            rank = {name: random.Random(f"{self.chance}/{thing}/{name}").random() for name in map(kind, places)}
            places.sort(key=lambda place: rank[kind(place)])
        in_vain = self.looked.get(thing, ())
        return sorted(places, key=lambda place: (place != self.found.get(thing), kind(place) in in_vain))

    def about(self) -> list[str]:
        """Return the distinct things that the errand names, and the appliance that it takes."""
        appliances = [kind(place) for place in self._appliances()]
        return in_mind([[self.errand.thing, *appliances, *filter(None, [kind(self.errand.target), self.errand.lamp])]])

    def plan(self, *, in_full: bool) -> str:
        """Return a plan one level down, or one as full as can be kept in mind."""
        steps = self._stages()
        if in_full or len(steps) == 1:
            fuller = [self._ways(way) for step in steps for way in step]
            mind = [*self.about(), *({"a place"} if max(map(len, fuller)) > 1 else ())]
            steps = steps if too_much([mind], self.span) else fuller
        return too_much([self.about()], self.span) or write_plan(steps)

    def steps(self, dialogue: str) -> str:
        """Return a whole plan in numbered steps: without what is done, elsewhere where something was not there."""
        if complaint := too_much([self.about()], self.span):
            return complaint
        planned: dict[str, str] = {}
        done: list[str] = []
        tried: set[tuple[str, str]] = set()
        for line in dialogue.splitlines():
            if step := _PLANNED.match(line):
                planned[step[1]] = step[2]
            if succeeded := _SUCCEEDED.search(line):
                done += [planned.get(number, "") for number in succeeded[1].split(", ")]
            tried |= {(thing or lamp, place) for thing, lamp, place in _NOT_THERE.findall(line)}
        held = re.findall(r"Inventory: \[(\w+) \d+\]", dialogue)[-1:] == [self.errand.thing]
        steps = self._left(done, tried, held and not dialogue.rstrip().endswith("Inventory: nothing"))
        return "\n".join(f"#{number} {step}" for number, step in enumerate(steps, 1))

    def _left(self, done: list[str], tried: set[tuple[str, str]], held: bool) -> list[str]:
        """Return the steps that are left to do."""
        errand, thing, steps = self.errand, self.errand.thing, []
        put = sum(step.startswith("put") for step in done)
        treated = held and any(step.startswith(errand.treatment) for step in done) if errand.treatment else True
        target = self._target()
        for number in range(put, errand.amount):
            if number > put or not held:
                steps.append(f"pick a {thing} at {self._untried(thing, tried, target)}")
            if errand.treatment and not (number == put and treated):
                steps += [f"{errand.treatment} the {thing} with {place}" for place in self._appliances()]
            if errand.target:
                steps.append(f"put the {thing} in {target or errand.target}")
        if errand.lamp:
            steps.append(f"look at the {thing} under the {errand.lamp} at {self._untried(errand.lamp, tried, '')}")
        return steps

    def _untried(self, thing: str, tried: set[tuple[str, str]], target: str) -> str:
        places = [place for place in self.order(thing) if place != target]
        return next((place for place in places if (thing, place) not in tried), places[0] if places else "nowhere 1")

    def reflect(self) -> str:
        """Return what was found and what was looked for in vain, and the plan for the next trial."""
        told = [f"I found the {thing} in {place}." for thing, place in self.found.items()]
        for thing, kinds in self.sought.items():
            in_vain = [*self.looked.get(thing, ()), *(name for name in kinds if self._looked_through(name))]
            if in_vain:
                told.append(f"I looked for the {thing} in {', '.join(dict.fromkeys(in_vain))} and saw none.")
        return f"{' '.join(told)} New plan:\n{write_plan(self._stages())}"

    def _search(self, step: Next) -> str | None:
        """Return the line that opens another kind of place to look in, if that can be kept in mind."""
        if not step.sought or step.where in self.sought.get(step.sought, ()):
            return None
        lines = [self.about(), *([thing, *kinds] for thing, kinds in self.sought.items()), [step.sought, step.where]]
        said = f"think: a {step.sought} may be in the {step.where}, {len(in_mind(lines))} in mind"
        return too_much(lines, self.span) or said

    def _looked_through(self, name: str) -> bool:
        return all(place in self.household.contents for place in self.household.places if kind(place) == name)

    def _appliances(self) -> list[str]:
        wanted = APPLIANCES.get(self.errand.treatment, ())
        return [place for place in self.household.places if kind(place) in wanted][:1]

    def _target(self) -> str:
        """Return the first place that the errand may mean; empty for none."""
        wanted = self.errand.target
        return next((place for place in self.household.places if wanted in (place, kind(place))), "")

    def _stages(self) -> list[list[str]]:
        """Return the errand's steps one level down, each as the ways to do it."""
        errand, thing = self.errand, self.errand.thing
        target = self._target()
        stages: list[str] = []
        for which in ["a", "another"][: errand.amount]:
            if which == "another" or kind(self.household.held) != thing:
                stages.append(f"find and take {which} {thing}{'' if errand.lamp else _among(errand)}")
            stages += [f"{errand.treatment} the {thing} with {place}" for place in self._appliances()]
            if errand.target:
                stages.append(f"put the {thing} in {target or errand.target}")
        if errand.lamp:
            stages.append(f"look at the {thing} under the {errand.lamp}{_among(errand)}")
        return [[stage] for stage in stages]

    def _ways(self, stage: str) -> list[str]:
        """Return the ways to do a step: where something is looked for, the places to look in, the best first."""
        errand = read_task(stage)
        if errand is None or errand.treatment or errand.target:
            return [stage]
        groups: dict[str, list[str]] = {}
        for place in self.order(errand.lamp or errand.thing):
            if not errand.places or place in errand.places or kind(place) in errand.places:
                groups.setdefault(kind(place), []).append(place)
        plain = stage.removesuffix(_among(errand))
        named = [place for name, group in groups.items() for place in _chunks(name, group, apart=len(groups) == 1)]
        return [f"{plain}{_among(errand._replace(places=(place,)))}" for place in named] or [stage]


def _among(errand: HouseholdTask) -> str:
    """Return how a step says where to look."""
    return f" {'at' if errand.lamp else 'from'} {', '.join(errand.places)}" if errand.places else ""


def _chunks(name: str, group: list[str], *, apart: bool) -> list[str]:
    """Return names for as many places of a kind as a step takes: the kind, if these are few."""
    size = 1 if apart else PLACES_A_STEP
    if len(group) <= size:
        return [name] if not apart else group
    return [", ".join(group[at : at + size]) for at in range(0, len(group), size)]
