"""The teacher in ALFWorld: it knows where things usually are, and says its goal and next move.

It plays by the rules of the environment itself, and by what it has seen; it never looks into a
place from outside. Its thoughts can be copied from the text: the places to search next, which the
situation lists; where a thing was seen; what is held and what is done with it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from teacher import COMPLETED, FAILED, Teacher, a

from textcraft_gym.agents.games.alfworld.game_profile import PROFILE
from textcraft_gym.agents.games.alfworld.household import (
    Household,
    HouseholdTask,
    Next,
    kind,
    likely,
)
from textcraft_gym.envs.alfworld import rules
from textcraft_gym.envs.alfworld.game import Game, State
from textcraft_gym.envs.alfworld.text import NOTHING_HAPPENS

PLACES_A_SEARCH = 6
"""Maximum number of places in a thought or a step of a plan: an attempt can search them all."""
LONGEST_THOUGHT = 205
"""Maximum number of characters of a thought: agents cut off a turn at 100 tokens."""
SLIP_CHANCE = 0.3
"""Chance of a mistake at an action, while the dialogue has mistakes left to make."""
DONE = {"clean": "clean", "heat": "hot", "cool": "cool"}
"""States of a thing after a treatment."""


class Slip(NamedTuple):
    """A mistake, which changes nothing, and the thought with which the player goes on."""

    command: str
    insight: str


class Housekeeper(Teacher):
    """One dialogue of the teacher.

    Args:
        game: The household.
        state: Its state at the beginning.
        situation: The first observation without the task.
        prompt: The prompt from the end of the situation on.
        last: The last action and its answer, if the prompt tells them.
        first: Places to search first.
        slips: The number of mistakes to make.
        rng: Chooses the mistakes.
    """

    profile, apply = PROFILE, staticmethod(rules.apply)
    game: Game
    state: State

    def __init__(
        self,
        game: Game,
        state: State,
        situation: str,
        prompt: str,
        *,
        last: tuple[str, str] | None = None,
        first: Sequence[str] = (),
        slips: int = 0,
        rng: random.Random,
    ) -> None:
        super().__init__(game, state, prompt, rng=rng)
        self.household = Household(situation)
        self.household.inventory_known = True  # nothing is held at first: it need not look
        if last:
            self.household.read(*last)
        self.last, self.first = last, first
        self.slips = slips
        self.listed: list[str] = []
        self.seeking = ""
        self.said: set[str] = set()

    # -- What is said and done

    @property
    def won(self) -> bool:
        """Whether the environment has ended the episode, so that nothing more can be said."""
        return self.state.won

    def turn(self, line: str, answer: str | None, *, learnt: bool = True) -> None:
        """Write a line and its answer; a line that did nothing is not learnt."""
        super().turn(line, answer, learnt=learnt and answer != NOTHING_HAPPENS)

    def play(self, action: str, *, learnt: bool = True) -> str:
        """Play a command and return its answer; a no-op spoils it, unless it goes nowhere."""
        answer = super().play(action, learnt=learnt)
        self.last = action, answer
        self.failed = self.failed or (answer == NOTHING_HAPPENS and not action.startswith("go to "))
        self.household.read(action, answer)
        return answer

    def think(self, thought: str, *, learnt: bool = True) -> None:
        """Write a thought, once; one that is too long for a turn spoils the dialogue."""
        self.failed = self.failed or len(thought) > LONGEST_THOUGHT
        if thought and thought not in self.said:
            self.said.add(thought)
            super().think(thought, learnt=learnt)

    # -- Tasks

    def sub_task(self, task: HouseholdTask) -> bool:
        """Do a step of a plan and say how it ends; return whether it is done."""
        if not self.last:  # an attempt that failed before may have left something in the hand
            self.play("inventory")
        self.free_hand(task)
        if self.work(task):
            self.end(f"think: {self.outcome(task)} {COMPLETED}")
            return True
        where = "there" if task.places else "anywhere"
        self.end(f"think: I saw no {self.sought(task)} {where}. {FAILED}")
        return False

    def work(self, task: HouseholdTask) -> bool:
        """Do a task; return whether it is done."""
        while not self.won and not self.household.done(task):
            step = self.household.next(task, self.order)
            if step is None or self.failed:
                return False
            self.think(self.thought(task, step))
            self.slip(task, step)
            self.play(step.command)
        return True

    def free_hand(self, task: HouseholdTask) -> None:
        """Put down what the task does not need, where it fits and nothing must be opened."""
        held = self.household.held
        if not held or kind(held) == task.thing:
            return
        game = self.game
        otype = game.object_type[game.objects.index(held)]
        index = {name: at for at, name in enumerate(game.receptacles)}
        places = [self.household.at] * bool(self.household.at) + self.order(task.thing)
        free = []
        for place in places:
            receptacle = index[place]
            fits = (game.receptacle_type[receptacle], otype) in game.fits
            if fits and receptacle not in game.openable:
                free.append(place)
        if not free:
            self.failed = True
            return
        self.think(f"I hold {held}, not {a(task.thing)}. I put it down on {free[0]}.")
        if self.household.at != free[0]:
            self.play(f"go to {free[0]}")
        self.play(self.put(held, free[0]))

    def put(self, thing: str, place: str) -> str:
        """Return the command that puts a thing down."""
        return self.game.wording.put.format(o=thing, r=place)

    def order(self, thing: str) -> list[str]:
        """Return the places to search for a thing, the likeliest first."""
        places = likely(thing, self.household.places)
        return sorted(places, key=lambda place: place not in self.first)

    # -- Thoughts

    def thought(self, task: HouseholdTask, step: Next) -> str:
        """Return the thought before a step."""
        held = self.household.held
        place = place_of(step.command)
        if step.command.startswith("examine"):
            return f"I am at {place} already."
        if step.sought:
            if place in self.listed and step.sought == self.seeking:
                return ""
            return self.search(task, step.sought)
        self.seeking = ""
        if held:
            return self.use(task, held, step.command)
        if not step.command.startswith("go to"):
            return ""
        return f"{self.delivered(task)}I saw {self.seen(task.thing, place)} at {place}."

    def use(self, task: HouseholdTask, held: str, command: str) -> str:
        """Return the thought before something is done with a thing."""
        place = place_of(command)
        if task.treatment and self.household.treated.get(held) != task.treatment:
            return f"I hold {held}. I {task.treatment} it with {place}."
        if task.target:
            state = f"{held} is {DONE[task.treatment]}" if task.treatment else f"I hold {held}"
            return f"{state}. I put it in {place}."
        if command.startswith("use"):
            return ""
        return f"I hold {held}. I saw {self.seen(task.lamp, place)} at {place}."

    def seen(self, noun: str, place: str) -> str:
        """Return the first thing of a kind that was seen in a place."""
        for thing in self.household.contents.get(place, ()):
            if kind(thing) == noun:
                return thing
        return noun

    def search(self, task: HouseholdTask, sought: str) -> str:
        """Return the thought that lists the next places to search."""
        held, again = self.household.held, sought == self.seeking
        left = []
        for place in self.order(sought):
            allowed = not task.places or place in task.places or kind(place) in task.places
            if allowed and place not in self.household.contents:
                left.append(place)
        self.listed, self.seeking = left[:PLACES_A_SEARCH], sought
        listed, looked = ", ".join(self.listed), f"Looked: {by_kind(self.household.contents)}. "
        if again:
            return f"No {sought} yet. {looked}Next: {listed}."
        delivered = self.delivered(task)
        if delivered:
            return f"{delivered}{looked}I look for another {sought}: {listed}."
        before = f"I hold {held}. " if held else ""
        return f"{before}I look for {a(sought)}: {listed}."

    def delivered(self, task: HouseholdTask) -> str:
        """Return the sentence that counts delivered things of two; empty before the first."""
        if task.amount == 1 or not self.household.brought:
            return ""
        return f"1 of {task.amount} {task.thing} in {next(iter(self.household.brought.values()))}. "

    def sought(self, task: HouseholdTask) -> str:
        """Return the kind of thing that a task could not find."""
        return task.lamp if task.lamp and self.household.held else task.thing

    def outcome(self, task: HouseholdTask) -> str:
        """Return the sentence that says what was done."""
        held = self.household.held
        if task.target:
            thing, place = next(reversed(self.household.brought.items()), ("", ""))
            self.failed = self.failed or not thing  # another one was there already
            return f"{thing} is in {place}."
        if task.lamp:
            return f"I see {held} under the {task.lamp}."
        return f"{held} is {DONE[task.treatment]}." if task.treatment else f"I hold {held}."

    # -- Mistakes

    def slip(self, task: HouseholdTask, step: Next) -> None:
        """Make a mistake before a step, once or twice, and understand it."""
        if not self.slips or self.rng.random() >= SLIP_CHANCE:
            return
        slip = self.mistake(task, step)
        if slip is None:
            return
        after, answer, _, _ = self.apply(self.game, self.state, slip.command)
        if answer == NOTHING_HAPPENS and after == self.state:
            self.slips -= 1
            for _ in range(self.rng.choice((1, 1, 2))):
                self.turn(slip.command, answer)
            super().think(slip.insight)

    def mistake(self, task: HouseholdTask, step: Next) -> Slip | None:
        """Return a mistake that players make in place of a step."""
        held, command = self.household.held, step.command
        place = place_of(command)
        verb = command.split()[0]
        if verb == "open":
            return self.closed(task, step, place)
        if verb == "go":
            return self.beyond(task, step, place)
        if verb == "take":
            thing = command.removeprefix("take ").partition(" from ")[0]
            other = f"{kind(thing)} {self.rng.randrange(4, 9)}"
            return Slip(command.replace(thing, other), f"It is {thing}, not {other}.")
        if verb == "move":
            return Slip(f"put {held} in/on {place}", f"The command is {command}.")
        if verb in DONE:
            return Slip(f"{command} again", f"The command is {command}.")
        return None

    def closed(self, task: HouseholdTask, step: Next, place: str) -> Slip:
        """Return a mistake before a closed place: to go there, or to use it."""
        held = self.household.held
        if self.rng.random() < 0.3:
            return Slip(f"go to {place}", f"I am at {place} already.")
        early = f"take {step.sought or task.thing} 1 from {place}"
        if held and task.target:
            early = self.put(held, place)
        return Slip(early, f"{place} is closed, so I open it.")

    def beyond(self, task: HouseholdTask, step: Next, place: str) -> Slip:
        """Return a mistake on the way: to use a place from afar, or to go where none is."""
        held = self.household.held
        if held and not step.sought:
            if task.target:
                return Slip(self.put(held, place), f"I am not at {place} yet.")
            if task.treatment:
                return Slip(f"{task.treatment} {held} with {place}", f"I am not at {place} yet.")
        beyond = f"{kind(place)} {self.rng.randrange(31, 40)}"
        return Slip(f"go to {beyond}", f"There is no {beyond}.")


def place_of(command: str) -> str:
    """Return the place that a command names last."""
    return " ".join(command.split()[-2:])


def by_kind(places: Iterable[str]) -> str:
    """Return places as a short list, such as ``cabinet 6 5 4, shelf 2``."""
    numbers: dict[str, list[str]] = {}
    for place in places:
        name, _, number = place.partition(" ")
        numbers.setdefault(name, []).append(number)
    return ", ".join(f"{name} {' '.join(members)}" for name, members in numbers.items())


def groups(thing: str, places: Sequence[str], size: int = PLACES_A_SEARCH) -> list[str]:
    """Return the places to search for a thing, likeliest first, in groups as steps name them.

    A kind of place stands for all of its places; one that has too many of them is divided.
    """
    kinds: dict[str, list[str]] = {}
    for place in likely(thing, places):
        kinds.setdefault(kind(place), []).append(place)
    made: list[list[str]] = []
    filled = size
    for name, members in kinds.items():
        if len(members) > size:
            made += [members[at : at + size] for at in range(0, len(members), size)]
            filled = len(made[-1])
        elif filled + len(members) > size:
            made.append([name])
            filled = len(members)
        else:
            made[-1].append(name)
            filled += len(members)
    return [", ".join(group) for group in made]
