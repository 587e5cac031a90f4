"""Training examples of ALFWorld, in the short prompts that the agents send.

The tasks are generated ones of the split ``train``: the splits for tests have other rooms, or other
goals in the same rooms. Half of the households are smaller than usual, with fewer things, so that
their dialogues are short; and half of the situations are the longest of three, whose things are far
from where one would look first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import dialogue
from dialogue import Branch, Example, remembered
from housekeeper import PLACES_A_SEARCH, Housekeeper, groups
from teacher import COMPLETED, FAILED, a

from textcraft_gym.agents.adapt.step_plan import write_plan
from textcraft_gym.agents.defaults import settings_for
from textcraft_gym.agents.games.alfworld.game_profile import PROFILE
from textcraft_gym.agents.games.alfworld.household import (
    APPLIANCES,
    USUAL_PLACES,
    Household,
    HouseholdTask,
    kind,
    likely,
    read_task,
)
from textcraft_gym.envs.alfworld.game import State
from textcraft_gym.envs.alfworld.rules import apply, opening
from textcraft_gym.envs.alfworld.splits import split_ids
from textcraft_gym.envs.alfworld.task_id import Difficulty, parse_id
from textcraft_gym.envs.alfworld.tasks import Task

LONGEST = 5000
"""Maximum number of characters of a dialogue with its situation."""
LONGEST_PLAN = 1100
"""Maximum number of characters of a plan: the planner is cut off at 400 tokens."""
SHORTEST = 250
"""The number of characters that a dialogue needs at least."""
SMALL_ROOM = 14
"""The most places of a room that is searched in vain."""


class Reflection(NamedTuple):
    """A failed trial, and what was learnt from it.

    Attributes:
        transcript: The trial.
        text: The lesson and the new plan.
        first: The places to search first in the next trial.
        empty: The places that were searched in vain.
    """

    transcript: str
    text: str
    first: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()


class Lesson(NamedTuple):
    """The lesson of a failed trial.

    Attributes:
        text: Why it failed; empty if it did not.
        first: The places to search first in the next trial.
        empty: The places that were searched in vain.
    """

    text: str
    first: Sequence[str] = ()
    empty: Sequence[str] = ()


NO_LESSON = Lesson("")


def draw_task(rng: random.Random) -> str:
    """Return the id of a task for training."""
    spec = parse_id(rng.choice(split_ids("train")))
    if rng.random() < 0.5:
        easier = Difficulty(rng.randrange(8, 17), rng.randrange(21), rng.choice((20, 40, 60, 80)))
        spec = spec._replace(difficulty=easier)
    return spec.id


class Situation(dialogue.Situation):
    """A household and its task.

    Args:
        task_id: The id of the task.
    """

    profile = PROFILE

    def __init__(self, task_id: str) -> None:
        self.game = Task(task_id, parse_id(task_id).goal.task_type).game("0.4")
        super().__init__(opening(self.game))
        task = read_task(self.sentence)
        assert task, self.sentence  # noqa: S101
        self.task: HouseholdTask = task
        self.places: list[str] = Household(self.text).places

    @classmethod
    def drawn(cls, rng: random.Random) -> Iterator[Situation]:
        """Yield households and their tasks without end; each other one is the longest of three."""
        while True:
            yield max((cls(draw_task(rng)) for _ in range(rng.choice((1, 3)))), key=cls.turns)

    def turns(self) -> int:
        """Return the number of turns that the whole task takes."""
        keeper = self.keeper(self.sentence, self.game.first, random.Random(0), slips=0)
        self.whole(keeper, "goal")
        return len(keeper.spans) // 2

    def example(self, rng: random.Random) -> Example:
        """Return dialogues about the situation."""
        kinds = {
            self.goal: 10,
            self.some_steps: 3,
            self.plans: 3,
            self.full_plan: 0.8,
            self.searches: 1.5,
            self.in_vain: 1.2,
            self.interrupted: 1.5,
            self.another_trial: 1.5,
        }
        return self.filled(kinds, rng, shortest=SHORTEST, longest=LONGEST)

    # -- The executor

    def goal(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield an episode, which ends when the task is done."""
        yield self.whole(self.keeper(self.sentence, self.game.first, rng), "goal", "react")

    def whole(
        self, keeper: Housekeeper, branch_kind: str, agent: str = "reflexion"
    ) -> Branch | None:
        """Have the whole task done."""
        keeper.think(f"To do: {', '.join(self.stages())}.")
        keeper.work(self.task)
        if not keeper.won:
            return None
        return keeper.branch(branch_kind, agent)

    def some_steps(self, rng: random.Random) -> list[Branch]:
        """Return one or two attempts at steps of a plan."""
        steps = self.steps(self.game.first, rng)
        return rng.sample(steps, min(len(steps), rng.choice((1, 2))))

    def steps(self, state: State, rng: random.Random) -> list[Branch]:
        """Return the attempts at the steps of a plan, each from where the one before ended."""
        made: list[Branch] = []
        last: tuple[str, str] | None = None
        for step in self.stages():
            keeper = self.keeper(step, state, rng, last=last)
            done = keeper.sub_task(_task(step))
            branch = keeper.branch("sub-task")
            if not branch:
                break
            made.append(branch)
            if not done or keeper.won:
                break
            state, last = keeper.state, keeper.last
        return made

    def searches(self, rng: random.Random) -> list[Branch | None]:
        """Return one or two attempts to find the thing in some places."""
        made = self.all_searches(rng)
        return rng.sample(made, min(len(made), 2))

    def all_searches(self, rng: random.Random) -> list[Branch | None]:
        """Return attempts to find the thing in one group of places after another, until found."""
        made = []
        state = self.game.first
        for step in self.alternatives(self.stages()[0]):
            keeper = self.keeper(step, state, rng)
            done = keeper.sub_task(_task(step))
            made.append(keeper.branch("search"))
            state = keeper.state
            if done:
                break
        return made

    def in_vain(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield an attempt to find what is not there."""
        seen = {kind(thing) for thing in self.game.objects}
        absent = rng.choice([thing for thing in USUAL_PLACES if thing not in seen])
        step = f"find and take {a(absent)}"
        if len(self.places) > SMALL_ROOM or rng.random() < 0.7:
            step = rng.choice([f"{step} from {group}" for group in groups(absent, self.places)])
        keeper = self.keeper(step, self.game.first, rng)
        keeper.sub_task(_task(step))
        yield keeper.branch("in vain")

    def interrupted(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield an attempt at a step after a broken-off one at the whole task, not shown."""
        state = self.burdened(rng) if rng.random() < 0.25 else None
        if state is None:
            state = self.broken_off(rng).state
        if state.won:
            return
        if rng.random() < 0.7:
            steps = self.steps(state, rng)
        else:
            step_text = rng.choice(self.stages())
            keeper = self.keeper(step_text, state, rng)
            keeper.sub_task(_task(step_text))
            steps = [*filter(None, [keeper.branch("interrupted")])]
        if steps:
            yield rng.choice(steps)._replace(kind="interrupted")

    def broken_off(self, rng: random.Random) -> Housekeeper:
        """Return the teacher after a few actions towards the whole task."""
        keeper = self.keeper(self.sentence, self.game.first, rng, slips=0)
        for _ in range(rng.randrange(1, 8)):
            step = keeper.household.next(self.task, keeper.order)
            if step and not keeper.won:
                keeper.play(step.command)
        return keeper

    def burdened(self, rng: random.Random) -> State | None:
        """Return a state in which the player holds something that the task does not need."""
        state = self.game.first
        place = rng.choice(self.places)
        for command in (f"go to {place}", f"open {place}"):
            state, answer, _, _ = apply(self.game, state, command)
        things = [thing for thing in self.game.objects if kind(thing) != self.task.thing]
        for thing in things:
            after, answer, _, _ = apply(self.game, state, f"take {thing} from {place}")
            if answer.startswith("You pick up"):
                return after
        return None

    # -- The planners

    def stages(self) -> list[str]:
        """Return the steps of the task, one level down."""
        task, thing = self.task, self.task.thing
        steps: list[str] = []
        for noun in [a(thing), f"another {thing}"][: task.amount]:
            steps.append(f"find and take {noun}")
            if task.treatment:
                steps.append(f"{task.treatment} the {thing} with {self.appliance()}")
            if task.target:
                steps.append(f"put the {thing} in {self.target()}")
        if task.lamp:
            steps.append(f"look at the {thing} under the {task.lamp}")
        return steps

    def appliance(self) -> str:
        """Return the place that treats the thing."""
        kinds = APPLIANCES[self.task.treatment]
        return next(place for place in self.places if kind(place) in kinds)

    def target(self) -> str:
        """Return the first place that the task may mean."""
        return next(place for place in self.places if kind(place) == self.task.target)

    def alternatives(self, step: str) -> list[str]:
        """Return a step once for each group of places to search; alone if there is none."""
        task = _task(step)
        if task.target or task.treatment:
            return [step]
        sought, preposition = (task.lamp, "at") if task.lamp else (task.thing, "from")
        places = groups(sought, self.places)
        if len(places) == 1:
            places = groups(sought, self.places, size=3)
        return [f"{step} {preposition} {group}" for group in places]

    def plan(self, sentence: str) -> Branch:
        """Return a plan of the task or of one of its steps, one level down."""
        if sentence == self.sentence:
            comment, steps = self.comment(), [[step] for step in self.stages()]
        elif len(alternatives := self.alternatives(sentence)) > 1:
            task = _task(sentence)
            comment, steps = (
                f"# Where is the {task.lamp or task.thing}? The likeliest places first.",
                [alternatives],
            )
        else:  # it failed, perhaps because the thing was not held
            comment = f"# The {self.task.thing} may not be held."
            steps = [[f"find and take {a(self.task.thing)}"], [sentence]]
        return self.completion("plan", sentence, f"{comment}\n{_plan(steps)}")

    def plans(self, rng: random.Random) -> list[Branch]:
        """Return plans of the task and of one of its steps, one level down."""
        plans = [self.plan(self.sentence), self.plan(rng.choice(self.stages()))]
        return rng.sample(plans, rng.choice((1, 2)))

    def full_plan(self, rng: random.Random) -> Iterator[Branch]:
        """Yield a plan in full."""
        text = f"{self.comment()}\n{_plan([self.alternatives(step) for step in self.stages()])}"
        if len(text) <= LONGEST_PLAN:
            yield self.completion("full plan", self.sentence, text)

    def comment(self) -> str:
        """Return the thought before a plan: the places that the task needs."""
        task = self.task
        needs = f"# {task.amount} {task.thing}."
        if task.treatment:
            needs += f" To {task.treatment}: {self.appliance()}."
        if task.target:
            needs += f" A {task.target}: {self.target()}."
        if task.lamp:
            needs += f" To look: the {task.lamp}."
        return needs

    # -- Several trials

    def another_trial(self, rng: random.Random) -> Iterator[Branch | None]:
        """Yield the lesson of a failed trial, and the trial after it; one may have come before."""
        before = self.reflection(rng) if rng.random() < 0.6 else None
        earlier: list[str] = []
        # Only after a search in vain may the next trial fail, too: after another one it goes on.
        if before and before.empty:
            earlier.append(before.text)
        else:
            before = None
        reflection = self.reflection(rng, before)
        if reflection is None:
            return
        learnt = self.reflection_of(reflection.transcript, reflection.text, earlier)
        keeper = self.keeper(
            self.sentence,
            self.game.first,
            rng,
            information=remembered([*earlier, reflection.text]),
            first=reflection.first,
        )
        trial = self.whole(keeper, "next trial")
        yield from rng.sample((learnt, trial), 2)  # rarely is there room for both

    def reflection(self, rng: random.Random, before: Reflection | None = None) -> Reflection | None:
        """Return a failed trial and its lesson; None if the drawn kind of failure is impossible."""
        information = ""
        places = self.places
        if before:
            information = remembered([before.text])
            places = [place for place in self.places if place not in before.empty]
        keeper = self.keeper(self.sentence, self.game.first, rng, information=information, slips=0)
        way = rng.choice(self.failures())
        lesson, first, seen = way(keeper, rng, places)
        too_long = len(keeper.spans) // 2 > settings_for("reflexion", PROFILE.name).turns
        if not lesson or not first or too_long:
            return None
        stages = self.stages()
        stages[0] += f" from {', '.join(first)}"
        plan = _plan([[stage] for stage in stages])
        return Reflection(
            keeper.transcript, f"{lesson} New plan:\n{plan}", tuple(first), tuple(seen)
        )

    def failures(self) -> Sequence[Callable[[Housekeeper, random.Random, Sequence[str]], Lesson]]:
        """Return the ways to fail; a part can be left out only of a task that has several."""
        ways = [self.searched, self.searched, self.left_closed]
        if self.task.treatment or self.task.lamp or self.task.amount > 1:
            ways.append(self.left_out)
        return ways

    def left_out(self, keeper: Housekeeper, rng: random.Random, places: Sequence[str]) -> Lesson:
        """Claim to be done where a part is left; the thing is where it was."""
        task, stages = self.task, self.stages()
        keeper.think(f"To do: {stages[0]}, {stages[-1]}.")
        keeper.work(task._replace(amount=1, treatment="", lamp=""))
        takes = [span.text for span in keeper.spans if span.text.startswith(" take ")]
        if keeper.won or not takes:
            return NO_LESSON
        keeper.end(COMPLETED)
        if task.amount > 1:
            lesson = f"I put only one {task.thing}, and not two."
        elif task.treatment:
            lesson = f"I did not {task.treatment} it."
        else:
            lesson = f"I did not look at it under the {task.lamp}."
        return Lesson(lesson, [takes[0].strip().rpartition(" from ")[2]])

    def left_closed(self, keeper: Housekeeper, rng: random.Random, places: Sequence[str]) -> Lesson:
        """Try to take something out of a closed place; next time this one comes first."""
        place = rng.choice(places)
        if " is closed" not in keeper.play(f"go to {place}"):
            return NO_LESSON
        for _ in range(settings_for("reflexion", PROFILE.name).patience):
            keeper.play(f"take {self.task.thing} 1 from {place}")
        others = [other for other in likely(self.task.thing, places) if other != place]
        first = [place, *others][:PLACES_A_SEARCH]
        return Lesson(f"{place} was closed, and I did not open it.", first)

    def searched(self, keeper: Housekeeper, rng: random.Random, places: Sequence[str]) -> Lesson:
        """Search a few places in vain; next time the likeliest of the others come first."""
        thing = self.task.thing
        for place in rng.sample(places, max(0, min(rng.randrange(2, 6), len(places) - 2))):
            if " is closed" in keeper.play(f"go to {place}"):
                keeper.play(f"open {place}")
        # A place beside another one cannot be gone to from there.
        seen = [place for place in places if place in keeper.household.contents]
        if not seen:
            return NO_LESSON
        for place in seen:
            if thing in map(kind, keeper.household.contents[place]):
                return NO_LESSON
        keeper.end(FAILED)
        others = [place for place in likely(thing, places) if place not in seen]
        lesson = f"I looked at {', '.join(seen)} and saw no {thing}."
        return Lesson(lesson, others[:PLACES_A_SEARCH], seen)

    def keeper(
        self,
        task: str,
        state: State,
        rng: random.Random,
        *,
        last: tuple[str, str] | None = None,
        information: str = "",
        first: Sequence[str] = (),
        slips: int | None = None,
    ) -> Housekeeper:
        """Return the teacher at the start of a task; in three tenths of dialogues it errs."""
        if last:
            information = f"The last action was: {last[0]}\n{last[1]}"
        if slips is None:
            errs = rng.random() < 0.3
            slips = rng.choice((1, 1, 2)) if errs else 0
        prompt = self.prompt(task, information)
        return Housekeeper(
            self.game, state, self.text, prompt, last=last, first=first, slips=slips, rng=rng
        )


def _task(step: str) -> HouseholdTask:
    task = read_task(step)
    assert task, step  # noqa: S101
    return task


def _plan(steps: Sequence[Sequence[str]]) -> str:
    """Return a plan as text, with its order only where it is not one step after another."""
    plan = write_plan(steps)
    if any(len(alternatives) > 1 for alternatives in steps):
        return plan
    return plan.rpartition("\n")[0]


examples = Situation.examples
