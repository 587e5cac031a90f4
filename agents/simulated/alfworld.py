"""The simulated model in ALFWorld; all its knowledge of the household comes from the prompt.

It searches for an object in one kind of place after another. Until it has the object, it must keep in mind the things
that the task names and each kind of place that it has searched.
"""

from __future__ import annotations

import random
import re

from textcraft_gym.agents.adapt.react import THOUGHT
from textcraft_gym.agents.adapt.step_plan import write_plan
from textcraft_gym.agents.games.alfworld.household import (
    APPLIANCES,
    PUT_COMMANDS,
    Household,
    HouseholdTask,
    Next,
    kind,
    likely,
    read_task,
)
from textcraft_gym.agents.simulated import programs
from textcraft_gym.agents.simulated.cues import Cue
from textcraft_gym.agents.simulated.faults import Draws
from textcraft_gym.agents.simulated.judging import judgement
from textcraft_gym.agents.simulated.programs import Stage
from textcraft_gym.agents.simulated.reading import Reading
from textcraft_gym.agents.simulated.span import in_mind, too_much

MARK = "You are in the middle of a room."
PROGRESS = re.compile("You (?:pick|move|put|clean|heat|cool|turn) ")
"""Matches an observation after an action that changed something."""
MISSING, WRONG = "What I looked for was not there.", "It is there, and I did not look well."
"""The explanation of a failed goal, and a wrong one, after which it looks for the thing in the same place again."""
PLACES_A_STEP = 8
"""Maximum number of places named in one step of a plan: the number that one attempt has turns to search."""

_TASK = "\n\nYour task is to: "
_DEMONSTRATED = re.compile(r"^Your task is to: (.+)\n>", re.MULTILINE)
"""A task that is shown from its beginning: nothing is known of what was done before."""
_LAST = re.compile(r"^The last action was: (.+)\n(.+)$", re.MULTILINE)
_SOUGHT = re.compile(rf"^(?:{THOUGHT} )?an? (\w+) may be in the (\w+), [0-9]+ in mind$")
_STARTED = (f"{THOUGHT} to", "to ")
_PLANNED = re.compile(r"^#(\d+) (.+)$")
_SUCCEEDED = re.compile(r"I succeeded on step ([0-9, ]+)\.")
_NOT_THERE = re.compile(r'I failed on step \d+ "(?:pick a (\w+)|look at the \w+ under the (\w+)) at (\w+ \d+)"')
_NUMBERED = re.compile(r"[a-z]+ \d+")
_ANSWERED = re.compile(r"^#1 (.+)\n+Success: (\w+)", re.MULTILINE)
_LISTED = re.compile(r"^    if start_from <= (\d+):\n.*\n        places = (\[.*\])$", re.MULTILINE)
_MISSED = re.compile(r"^Error in \[Step (\d+)\]: no \w+ in (\[.*?\])\.", re.MULTILINE)
_QUOTED = re.compile(r"'([^']+)'")
_SOUGHT_AT = re.compile(r"(?:pick a (\w+)|look at the \w+ under the (\w+)) at (\w+ \d+)")
_INVENTORY = re.compile(r"^You are (?:not carrying anything|carrying: a (\w+) \d+)\.", re.MULTILINE)
_PICK = re.compile(r"pick an? (\w+) at (\w+ \d+)")
_DO = re.compile(r"(clean|heat|cool|put) the (\w+) (with|in) (\w+ \d+)")
_LIGHT = re.compile(r"look at the \w+ under the (\w+) at (\w+ \d+)")
_IN_VAIN = re.compile(r"I looked for the (\w+) in ([\w, ]+) and saw none\.")
_FOUND = re.compile(r"I found the (\w+) in (\w+ \d+)\.")


def answer(prompt: str, reading: Reading) -> str:
    """Return the answer to a prompt."""
    question = reading.question
    if question.cue is Cue.CHOICE:
        return choose(prompt, reading.draws)
    before, _, after = prompt.rpartition(_TASK)
    head, *turns = after.split("\n> ")
    sentence, _, information = head.partition("\n")
    task = read_task(sentence)
    if task is None:
        return f"task failed! I do not know how to {sentence}"
    mind = Mind(before.rpartition("\n\n")[2], information, task, reading)
    mind.look_back(turns)
    match question.cue:
        case Cue.TURN:
            return mind.turn(sentence)
        case Cue.REFLECTION:
            return mind.reflect()
        case Cue.JUDGEMENT:
            return mind.judge(turns)
        case Cue.FUNCTION:
            return mind.function(information)
        case Cue.EXPLANATION:
            return WRONG if reading.draws.errs("misjudge", "diagnosis") else MISSING
        case Cue.NUMBERED_STEPS | Cue.MENDED_PLAN:
            return mind.steps(information)
        case Cue.NEXT_GOAL:
            return mind.next_step(information)
        case _:
            return mind.plan(in_full=question.in_full)


def names(prompt: str, answer: str) -> list[list[str]]:
    """Return the places of the household, their kinds, the things seen in it, and the treatments."""
    before, _, after = prompt.rpartition(_TASK)
    places = Household(before).places
    things = [name for name in _NUMBERED.findall(f"{after}\n{answer}") if name not in places]
    return [places, list(map(kind, places)), things, list(map(kind, things)), list(APPLIANCES)]


def choose(prompt: str, draws: Draws) -> str:
    """Return the number of the command that serves a goal, 0 if none does, or ``done``."""
    choice = _choice(prompt)
    if not draws.errs("misjudge", "choice"):
        return choice
    listed: list[str] = re.findall(r"^\d+", prompt.rpartition("\nGoal: ")[2], re.MULTILINE)
    return draws.pick([other for other in [*listed, "done"] if other != choice])


def _choice(prompt: str) -> str:
    about, _, listed = prompt.rpartition("\nGoal: ")[2].partition("\n\n")
    goal, _, done = about.partition("\n")
    last = done.rpartition("What you did for it: ")[2].partition("\n")[0]
    choices = {command: choice for choice, _, command in (line.partition(" ") for line in listed.splitlines())}
    patterns = _commands(goal)
    if patterns and re.fullmatch(patterns[0], last):
        return "done"
    for pattern in patterns:
        for command, choice in choices.items():
            if re.fullmatch(pattern, command):
                return choice
    return "0"


def _commands(goal: str) -> list[str]:
    """Return patterns of the command that reaches a goal and of those that lead there, backwards from the goal."""
    if pick := _PICK.fullmatch(goal):
        return [rf"take {pick[1]} \d+ from {pick[2]}", f"open {pick[2]}", f"go to {pick[2]}"]
    if do := _DO.fullmatch(goal):
        verb, thing, preposition, place = do.groups()
        if verb == "put":
            return [rf"(?:move {thing} \d+ to|put {thing} \d+ in/on) {place}", f"open {place}", f"go to {place}"]
        return [f"{verb} {thing} \\d+ {preposition} {place}", f"go to {place}"]
    if light := _LIGHT.fullmatch(goal):
        return [rf"use {light[1]} \d+", f"go to {light[2]}"]
    return []


class Mind:
    """The model's reading of one prompt: its knowledge of the household, and the open lines."""

    def __init__(self, situation: str, information: str, task: HouseholdTask, reading: Reading) -> None:
        self.household = Household(situation)
        self.task = task
        self.span = reading.span
        self.exempt_plan = reading.exempt_plan
        self.draw = reading.rng.random() if reading.rng else None
        self.draws = reading.draws
        self.manual = reading.manual
        self.acts = reading.question.cue is Cue.TURN
        tasks = map(read_task, _DEMONSTRATED.findall(reading.manual.demonstrations))
        self.shown = {_stages(demonstrated) for demonstrated in tasks if demonstrated}
        told = tuple(form for verb, form in PUT_COMMANDS.items() if self.manual.tells(rf"\b{verb}\b"))
        self.household.put_commands = told or self.household.put_commands
        self.started = False
        self.searched: dict[str, list[str]] = {}
        self.searched_in_vain = {thing: kinds.split(", ") for thing, kinds in _IN_VAIN.findall(information)}
        self.found: dict[str, str] = dict(_FOUND.findall(information))
        for command, observation in _LAST.findall(information):
            self.household.read(command, observation)

    def look_back(self, turns: list[str]) -> None:
        """Read the transcript: the observations and actions, and the kinds of places searched for an object."""
        for turn in turns:
            action, _, observation = turn.partition("\n")
            self.started = self.started or action.startswith(_STARTED)
            if sought := _SOUGHT.match(action):
                self.searched.setdefault(sought[1], []).append(sought[2])
            self.household.read(action, observation.partition("\n")[0])
            if taken := re.match(r"You pick up the (\w+) \d+ from the (.+)\.", observation):
                self.searched.pop(taken[1], None)
                self.found[taken[1]] = taken[2]

    def turn(self, sentence: str) -> str:
        """Return the next line; a thought repeats the sentence of the task."""
        if self.household.done(self.task):
            return "Task completed!"
        step = self.household.next(self.task, self.order)
        if step is None:
            return "task failed! I see no way that I have not tried."
        about = self.about()
        if not self.started and len(about) > 1:
            things = ", ".join(about)
            return (
                too_much([about], self.span) or f"{THOUGHT} to {sentence} I keep {things} in mind, {len(about)} of them"
            )
        return self._search(step) or step.command

    def order(self, thing: str) -> list[str]:
        """Return the places in the order in which to search them for an object; a draw shuffles their kinds."""
        # Alphabetical order is that of a player who was not told to begin with the likeliest places.
        places = likely(thing, self.household.places) if self.manual.tells("likel") else sorted(self.household.places)
        # Sorted by kind, so that all places of a kind are searched before the next kind is opened.
        if self.draw is not None:
            rank = {name: random.Random(f"{self.draw}/{thing}/{name}").random() for name in map(kind, places)}
            places.sort(key=lambda place: rank[kind(place)])
        in_vain = self.searched_in_vain.get(thing, ())
        return sorted(places, key=lambda place: (place != self.found.get(thing), kind(place) in in_vain))

    def about(self) -> list[str]:
        """Return the distinct things that the task names, the appliance that it requires, and what was never shown.

        Where a demonstration shows a whole task of the kind, the appliance and the lamp are read off there.
        """
        task = self.task
        tools = [*map(kind, self._appliances()), task.lamp]
        if self.acts and _stages(task) in self.shown:
            tools = []
        return in_mind([list(filter(None, [task.thing, *tools, kind(task.target)])), self._unseen()])

    def _unseen(self) -> list[str]:
        """Return the commands that the task takes and no demonstration shows; only who acts needs them."""
        if not self.acts:
            return []
        task = self.task
        put = self.household.put_commands[0].partition(" ")[0] if task.target else ""
        needed = ["go", "take", task.treatment, put, "use" if task.lamp else ""]
        # Who has seen only tasks that go on after a search must think of ending there.
        ends = ["the end"] if self.shown and not any(_stages(task)) and _stages(task) not in self.shown else []
        return [*self.manual.unseen(list(filter(None, needed))), *ends]

    def plan(self, *, in_full: bool) -> str:
        """Return a plan one level down, or the fullest that can be kept in mind."""
        steps = self._stages()
        complaint = too_much([self.about()], self.span)
        if in_full or len(steps) == 1:
            fuller = [self._alternatives(stage) for step in steps for stage in step]
            things = self.about()
            if any(len(alternatives) > 1 for alternatives in fuller):  # the place being searched counts as one thing
                things.append("a place")
            if not (too_many := too_much([things], self.span)):
                steps = fuller
            elif in_full and not self.exempt_plan:
                complaint = too_many
        return complaint or write_plan(steps)

    def function(self, information: str) -> str:
        """Return the task as a function; where a search was in vain, it goes on in the other places."""
        left = {int(step): _QUOTED.findall(places) for step, places in _LISTED.findall(information)}
        if failed := _MISSED.search(information):
            step, searched = int(failed[1]) - 1, _QUOTED.findall(failed[2])
            # A list that it wrote itself had all the places that were left.
            left[step] = [] if step in left else [name for name in self.household.places if name not in searched]
        elif information.count("\n"):
            return "task failed! I see no other way to do it."
        if not all(left.values()):
            return "task failed! I have searched all places."
        return too_much([self.about()], self.span) or programs.write(self._solution(left))

    def _solution(self, left: dict[int, list[str]]) -> list[Stage]:
        """Return the steps of a function; ``left`` has the places to search, by the step that lists them."""
        task, target = self.task, self._target()
        stages: list[Stage] = []
        for index in range(task.amount):
            stages += _search(task.thing, left.get(len(stages) + 1), avoid=target if index else "")
            stages.append(_taking(task.thing))
            stages += [_treating(task.thing, task.treatment, place) for place in self._appliances()]
            stages += [_putting(task.thing, target)] if target else []
        if task.lamp:
            stages += [*_search(task.lamp, left.get(len(stages) + 1)), _lighting(task.lamp)]
        return stages

    def steps(self, dialogue: str) -> str:
        """Return a plan in numbered steps: without those done, with other places where an object was not found."""
        if complaint := too_much([self.about()], self.span):
            return complaint
        planned: dict[str, str] = {}
        done: list[str] = []
        tried: set[tuple[str, str]] = set()
        failed: set[tuple[str, str]] = set()
        explained = True
        for line in dialogue.splitlines():
            if step := _PLANNED.match(line):
                planned[step[1]] = step[2]
            if succeeded := _SUCCEEDED.search(line):
                done += [planned.get(step_number, "") for step_number in succeeded[1].split(", ")]
            if missed := {(thing or lamp, place) for thing, lamp, place in _NOT_THERE.findall(line)}:
                tried |= failed
                failed, explained = missed, False
            if line in (MISSING, WRONG):
                failed, explained = failed if line == MISSING else set(), True
        if explained or not self.draws.errs("misjudge", "diagnosis"):
            tried |= failed
        steps = self._left(done, tried, _holds(dialogue, self.task.thing))
        return "\n".join(f"#{step_number} {step}" for step_number, step in enumerate(steps, 1))

    def next_step(self, dialogue: str) -> str:
        """Return the first step that is left to do; ``done`` if none is."""
        if complaint := too_much([self.about()], self.span):
            return complaint
        done: list[str] = []
        tried: set[tuple[str, str]] = set()
        answered = _ANSWERED.findall(dialogue)
        if answered and answered[-1][1] != "yes" and self.draws.errs("misjudge", "diagnosis"):
            answered.pop()  # so that it tries the same again
        for step, success in answered:
            if success == "yes":
                done.append(step)
            elif sought := _SOUGHT_AT.match(step):
                tried.add((sought[1] or sought[2], sought[3]))
        steps = self._left(done, tried, _holds(dialogue, self.task.thing))
        return f"#1 {steps[0]}" if steps else "done"

    def _left(self, done: list[str], tried: set[tuple[str, str]], held: bool) -> list[str]:
        """Return the steps that are left to do."""
        task, thing, steps = self.task, self.task.thing, []
        put = sum(step.startswith("put") for step in done)
        treated = held and any(step.startswith(task.treatment) for step in done) if task.treatment else True
        target = self._target()
        for index in range(put, task.amount):
            in_hand = index == put and held
            if not in_hand:
                steps.append(f"pick a {thing} at {self._untried(thing, tried, target)}")
            if task.treatment and not (index == put and treated):
                steps += [f"{task.treatment} the {thing} with {place}" for place in self._appliances()]
            if task.target:
                steps.append(f"put the {thing} in {target or task.target}")
        if task.lamp:
            steps.append(f"look at the {thing} under the {task.lamp} at {self._untried(task.lamp, tried, '')}")
        return steps

    def _untried(self, thing: str, tried: set[tuple[str, str]], target: str) -> str:
        places = [place for place in self.order(thing) if place != target]
        return next((place for place in places if (thing, place) not in tried), places[0] if places else "nowhere 1")

    def reflect(self) -> str:
        """Return the objects found, the searches in vain, and the plan for the next trial."""
        found = dict(self.found)
        searched = {thing: list(filter(self._is_searched, kinds)) for thing, kinds in self.searched.items()}
        places, contents = self.household.places, self.household.contents
        if places and self.draws.errs("misjudge", "reflection"):  # another place, if possible one that it did not see
            place = self.draws.pick([place for place in places if place not in contents] or places)
            found, searched = dict.fromkeys(found, place), {thing: [kind(place)] for thing in searched}
        sentences = [f"I found the {thing} in {place}." for thing, place in found.items()]
        for thing, searched_now in searched.items():
            in_vain = [*self.searched_in_vain.get(thing, ()), *searched_now]
            if in_vain:
                sentences.append(f"I looked for the {thing} in {', '.join(dict.fromkeys(in_vain))} and saw none.")
        return f"{' '.join(sentences)} New plan:\n{write_plan(self._stages())}"

    def judge(self, turns: list[str]) -> str:
        """Return the judgement of an attempt: which of the steps are done, and how much of the search."""
        action, _, observation = turns[-1].partition("\n") if turns else ("", "", "")
        stages, searched = len(self._stages()), len(self.household.contents) / max(1, len(self.household.places))
        brought = sum(kind(thing) == self.task.thing for thing in self.household.brought)
        treated = self.household.treated.get(self.household.held) == self.task.treatment != ""
        is_held = kind(self.household.held) == self.task.thing
        # A thing that is held is one step, its treatment another, and bringing it to its place the last.
        done = brought * stages / self.task.amount + is_held + (is_held and treated)
        share = 1.0 if self.household.done(self.task) else (min(done, stages) + searched / 2) / (stages + 1)
        return judgement(share, action, refused=observation.startswith("Nothing happens"), draws=self.draws)

    def _search(self, step: Next) -> str | None:
        """Return the line that opens another kind of place to search, or the complaint; None if none is needed."""
        if not step.sought or step.where in self.searched.get(step.sought, ()):
            return None
        lines = [self.about(), *([thing, *kinds] for thing, kinds in self.searched.items()), [step.sought, step.where]]
        thought = f"{THOUGHT} a {step.sought} may be in the {step.where}, {len(in_mind(lines))} in mind"
        return too_much(lines, self.span) or thought

    def _is_searched(self, name: str) -> bool:
        return all(place in self.household.contents for place in self.household.places if kind(place) == name)

    def _appliances(self) -> list[str]:
        wanted = APPLIANCES.get(self.task.treatment, ())
        return [place for place in self.household.places if kind(place) in wanted][:1]

    def _target(self) -> str:
        """Return the first place that the task's target may be; empty for none."""
        wanted = self.task.target
        return next((place for place in self.household.places if wanted in (place, kind(place))), "")

    def _stages(self) -> list[list[str]]:
        """Return the steps of the task one level down, each as its alternatives."""
        task, thing = self.task, self.task.thing
        target = self._target()
        stages: list[str] = []
        for article in ["a", "another"][: task.amount]:
            if article == "another" or kind(self.household.held) != thing:
                stages.append(f"find and take {article} {thing}{'' if task.lamp else _among(task)}")
            stages += [f"{task.treatment} the {thing} with {place}" for place in self._appliances()]
            if task.target:
                stages.append(f"put the {thing} in {target or task.target}")
        if task.lamp:
            stages.append(f"look at the {thing} under the {task.lamp}{_among(task)}")
        return [[stage] for stage in stages]

    def _alternatives(self, stage: str) -> list[str]:
        """Return the alternatives of a step: of a search, one for each place, the likeliest first."""
        task = read_task(stage)
        if task is None or task.treatment or task.target:
            return [stage]
        groups: dict[str, list[str]] = {}
        for place in self.order(task.lamp or task.thing):
            if not task.places or place in task.places or kind(place) in task.places:
                groups.setdefault(kind(place), []).append(place)
        plain = stage.removesuffix(_among(task))
        named = [place for name, group in groups.items() for place in _chunks(name, group, apart=len(groups) == 1)]
        return [f"{plain}{_among(task._replace(places=(place,)))}" for place in named] or [stage]


def _search(thing: str, places: list[str] | None, avoid: str = "") -> list[Stage]:
    """Return the steps that list the places where a thing may be, and search them."""
    asking = [f"answer = ask(f'{programs.PLACES.format(thing=thing)}')", "places = literal_eval(answer)"]
    looking = [
        "observation = agent.goto(place)",
        "if 'closed' in observation:",
        "    observation = agent.open_receptacle(place)",
        f"if 'a {thing} ' in observation:",
        "    break",
    ]
    if avoid:  # what was put there is not taken away again
        looking = [f"if place != {avoid!r}:", *(f"    {line}" for line in looking)]
    listing = asking if places is None else [f"places = {places!r}"]
    return [
        Stage(f"list where a {thing} may be", listing, "places", "there is no place to search"),
        Stage(
            f"search these places for a {thing}",
            ["observation = ''", "for place in places:", *(f"    {line}" for line in looking)],
            f"'a {thing} ' in observation",
            f"no {thing} in {{places}}",
        ),
    ]


def _taking(thing: str) -> Stage:
    number = f"number = ask(f'{programs.NUMBER.format(thing=thing)}')"
    lines = [number, f"thing = f'{thing} {{number}}'", "agent.take(thing, place)"]
    return Stage(f"take the {thing}", lines, "agent.holding == thing", "I do not hold {thing}")


def _treating(thing: str, treatment: str, place: str) -> Stage:
    lines = [f"agent.goto({place!r})", f"observation = agent.{treatment}(thing, {place!r})"]
    return Stage(
        f"{treatment} the {thing}", lines, f"'You {treatment}' in observation", f"I did not {treatment} {{thing}}"
    )


def _putting(thing: str, target: str) -> Stage:
    lines = [
        f"observation = agent.goto({target!r})",
        "if 'closed' in observation:",
        f"    agent.open_receptacle({target!r})",
        f"agent.put(thing, {target!r})",
    ]
    return Stage(f"put the {thing} in {target}", lines, "agent.holding == ''", "I still hold {agent.holding}")


def _lighting(lamp: str) -> Stage:
    number = f"number = ask(f'{programs.NUMBER.format(thing=lamp)}')"
    lines = [number, f"observation = agent.turn_on(f'{lamp} {{number}}')"]
    return Stage(f"turn on the {lamp}", lines, "'You turn on' in observation", f"the {lamp} is not on")


def _holds(dialogue: str, thing: str) -> bool:
    """Return whether the last inventory of a dialogue names a thing."""
    return _INVENTORY.findall(dialogue)[-1:] == [thing]


def _stages(task: HouseholdTask) -> tuple[str, bool, bool]:
    """Return the treatment of a task, and whether it puts the thing somewhere or looks at it under a lamp."""
    return task.treatment, bool(task.target), bool(task.lamp)


def _among(task: HouseholdTask) -> str:
    """Return the part of a step's text that says where to search."""
    return f" {'at' if task.lamp else 'from'} {', '.join(task.places)}" if task.places else ""


def _chunks(name: str, group: list[str], *, apart: bool) -> list[str]:
    """Return the places of a kind in groups of one step each: the name of the kind if one step suffices for all."""
    if apart:
        return group
    if len(group) <= PLACES_A_STEP:
        return [name]
    return [", ".join(group[start : start + PLACES_A_STEP]) for start in range(0, len(group), PLACES_A_STEP)]
