"""The teacher in ALFWorld for agents that think before each action: what is next, and why.

It knows the usual places of things, and what stands in the prompt; it never looks into a place from
outside.
"""

from __future__ import annotations

import random
import re

from housekeeper import DONE, place_of
from player import Move, Planned, Searched, in_steps, still_open
from teacher import FAILED, a

from textcraft_gym.agents.games.alfworld.household import (
    Household,
    HouseholdTask,
    Next,
    kind,
    likely,
)

MISTAKES = ("closed", "beyond", "early")
"""Taking from a closed place, going where no place is, using a place before being there."""
LINES = (
    "Look for the thing in one place after the other, the likeliest first.",
    "What is closed must be opened first.",
    "Take the thing.",
    "To clean it takes a sinkbasin, to heat it a microwave, to cool it a fridge: go there with it.",
    "Go with it to the place of the task, and put it there; "
    "of two things, bring one after the other.",
    "To look at it under a lamp, go with it to the lamp and use the lamp.",
)
"""A plan for every task."""

_TURN = re.compile(r"^(?:> |Action: |Action \d+: )(.+)\n(?:Observation \d+: )?(.+)$", re.MULTILINE)
LOOKS = ("inventory", "look")
_CHANGED = re.compile("You (?:pick up|move|clean|heat|cool|turn on) the ")
_NOTHING = "Nothing happens."


class Tenant(Planned, Searched):
    """Plays one episode.

    Args:
        situation: The first observation without the task.
        task: The task.
        rng: Draws the mistakes, and what else may be done.
        mistakes: The kinds of mistakes to make, each at the first occasion, and as often in a row
            as it stands there.
    """

    lines = LINES

    def __init__(
        self,
        situation: str,
        task: HouseholdTask,
        rng: random.Random,
        *,
        mistakes: tuple[str, ...] = (),
    ) -> None:
        self.situation, self.task, self.rng = situation, task, rng
        self.mistakes = list(mistakes)
        self.places = Household(situation).places

    def read(self, prompt: str) -> tuple[Household, list[tuple[str, str]]]:
        """Return the belief after an attempt in a prompt, and its actions with their answers."""
        household = Household(self.situation)
        household.inventory_known = True  # nothing is held at first: it need not look
        _, mark, turns = prompt.rpartition("\nThought 1:")
        played = _TURN.findall(f"{mark}{turns}")
        for action, answer in played:
            household.read(action, answer)
        return household, played

    def move(self, prompt: str, *, errs: bool = False) -> Move:
        """Return the next turn."""
        household, played = self.read(prompt)
        step = household.next(self.task, self.order)
        if step is None:
            return Move("I see no way on.", FAILED)
        thought = self.thought(household, step, played)
        if played and played[-1][1].startswith(_NOTHING):
            thought = f"That did nothing. {thought}"
        wrong = self.mistake(household, step) if errs else ""
        return Move(thought, wrong or step.command, learnt=not wrong)

    def order(self, thing: str) -> list[str]:
        """Return the places to search, the likeliest first."""
        return likely(thing, self.places)

    def thought(self, household: Household, step: Next, played: list[tuple[str, str]]) -> str:
        """Return the thought before a step."""
        verb, place, held = step.command.split()[0], place_of(step.command), household.held
        if verb == "open":
            return f"{place} is closed, so I open it."
        if step.sought:
            thought = f"I look for {a(step.sought)} at {place}."
            if played and " you see " in played[-1][1]:
                return f"No {step.sought} here. {thought}"
            return thought
        if verb == "take":
            return f"There is {step.command.removeprefix('take ').partition(' from ')[0]}."
        if not held:
            return f"I saw {self.seen(household, self.task.thing, place)} at {place}."
        if verb == "go":
            return self.way(household, place)
        return f"I am there. Now I {'turn it on' if verb == 'use' else f'{verb} it'}."

    def way(self, household: Household, place: str) -> str:
        """Return the thought before going to a place with a thing."""
        held, treatment = household.held, self.task.treatment
        if treatment and household.treated.get(held) != treatment:
            return f"I hold {held}. I {treatment} it with {place}."
        if not self.task.target:
            lamp = self.seen(household, self.task.lamp, place)
            return f"I hold {held}. I saw {lamp} at {place}."
        if treatment:
            return f"{held} is {DONE[treatment]}. It goes to {place}."
        return f"I hold {held}. It goes to {place}."

    def seen(self, household: Household, noun: str, place: str) -> str:
        """Return the first thing of a kind that was seen in a place."""
        for thing in household.contents.get(place, ()):
            if kind(thing) == noun:
                return thing
        return noun

    def mistake(self, household: Household, step: Next) -> str:
        """Return a mistaken command in place of a step; empty for none."""
        for wrong in self.mistakes:
            command = self.mistaken(wrong, household, step)
            if command:
                self.mistakes.remove(wrong)
                return command
        return ""

    def mistaken(self, wrong: str, household: Household, step: Next) -> str:
        """Return the mistaken command of a kind in place of a step; empty where there is none."""
        verb, place, held = step.command.split()[0], place_of(step.command), household.held
        kind_and_verb = (wrong, verb)
        if not step.sought:
            if kind_and_verb == ("early", "go") and held and self.task.treatment:
                treat = f"{self.task.treatment} {held} with {place} again"
                return self.rng.choice((treat, f"use {place}"))
        elif kind_and_verb == ("closed", "open"):
            return f"take {step.sought} 9 from {place}"
        elif kind_and_verb == ("beyond", "go"):
            return f"go to {kind(place)} {self.rng.randrange(31, 40)}"
        return ""

    def others(self, prompt: str) -> list[Move]:
        """Return searches of other places, and commands that do nothing."""
        household, _ = self.read(prompt)
        left = [place for place in household.places if place not in household.contents]
        if household.at in left:
            left.remove(household.at)
        places = self.rng.sample(left, min(2, len(left)))
        moves = [Move(f"I look at {place}.", f"go to {place}") for place in places]
        return [*moves, Move("I look around.", LOOKS[1]), Move("What do I hold?", LOOKS[0])]

    def line(self, prompt: str, action: str) -> str:
        """Return the line of a plan that says an action."""
        household, _ = self.read(prompt)
        verb = action.split()[0]
        if verb == "open":
            return LINES[1]
        if verb == "take":
            return LINES[2]
        if not household.held:
            return LINES[0]
        if self.task.treatment and household.treated.get(household.held) != self.task.treatment:
            return LINES[3]
        return LINES[4] if self.task.target else LINES[5]

    def judgement(self, prompt: str) -> tuple[str, float]:
        """Return what is to say of an attempt, and the share of the task that is done."""
        household, played = self.read(prompt)
        task, held = self.task, household.held
        if household.done(task):
            return "The task is done.", 1.0
        if FAILED in prompt.rpartition("\nAction ")[2]:
            return "It was given up.", 0.0
        has = kind(held) == task.thing
        treated = bool(task.treatment) and household.treated.get(held) == task.treatment
        sentences = [f"{thing} is brought." for thing in self.brought(household)]
        if has:
            state = f" and {DONE[task.treatment]}" if treated else ""
            sentences.append(f"{held} is held{state}.")
        if not sentences:
            seen = len(household.contents)
            sentences.append(f"No {task.thing} is held, and {seen} places were seen.")
        share = self.share(household, has=has, treated=treated)
        if played and _is_vain(*played[-1]):
            sentences.append("The last action brought nothing.")
            share -= 1 / 5
        return " ".join(sentences), still_open(share)

    def brought(self, household: Household) -> list[str]:
        """Return the things of the task that were brought to their place."""
        return [thing for thing in household.brought if kind(thing) == self.task.thing]

    def share(self, household: Household, *, has: bool, treated: bool) -> float:
        """Return the share of the task that is done, by whether the thing is held and treated."""
        task = self.task
        # A thing passes through stages: it is taken, treated and brought.
        stages = 1 + bool(task.treatment) + bool(task.target or task.lamp)
        brought = len(self.brought(household))
        done = brought * stages / task.amount + (has + treated) / task.amount
        searched = len(household.contents) / max(1, len(household.places))
        return 0.2 + 0.8 * (done + (not has) * searched / 2) / (stages + 0.5)

    def reflection(self, prompt: str) -> str:
        """Return why an attempt failed, and a plan that starts at the places not yet seen."""
        household, _ = self.read(prompt)
        task = self.task
        unseen = [place for place in self.order(task.thing) if place not in household.contents]
        places = (unseen or self.places)[:6]
        steps = [f"find and take {a(task.thing)} from {', '.join(places)}"]
        if task.treatment:
            steps.append(f"{task.treatment} the {task.thing}")
        if task.target:
            steps.append(f"put the {task.thing} in {task.target}")
        if task.lamp:
            steps.append(f"look at the {task.thing} under the {task.lamp}")
        return f"{self.flaw(prompt)} New plan:\n{in_steps(steps)}"

    def done(self, prompt: str) -> list[str]:
        """Return what was done, in order."""
        changes = [answer for _, answer in self.read(prompt)[1] if _CHANGED.match(answer)]
        return changes or ["I looked at places and took nothing."]

    def flaw(self, prompt: str) -> str:
        """Return why an attempt came to no end."""
        household, _ = self.read(prompt)
        task, held = self.task, household.held
        seen = ", ".join(household.contents) or "no place"
        places = []
        for place, things in household.contents.items():
            if task.thing in map(kind, things):
                places.append(place)
        if places and kind(held) != task.thing and not household.brought:
            return f"The turns ended when I had found {a(task.thing)} at {places[0]}."
        if kind(held) != task.thing:
            return f"The turns ended while I looked for {a(task.thing)}. I had looked at {seen}."
        return f"The turns ended while I held {held}. I had looked at {seen}."


def _is_vain(action: str, answer: str) -> bool:
    return answer.startswith(_NOTHING) or action in LOOKS
