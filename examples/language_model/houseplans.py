"""Training examples of the planners of goals in ALFWorld: DEPS, baselines and controller.

A planner guesses where a thing is by the usual places of things and by what was seen since; it
never looks into a place from outside. The households are generated ones of the split ``train``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import recorded
from dialogue import Branch, Example
from households import draw_task
from recorded import Said

from textcraft_gym.agents.contract.agent import Request
from textcraft_gym.agents.games.alfworld.game_profile import PROFILE
from textcraft_gym.agents.games.alfworld.household import (
    APPLIANCES,
    Household,
    HouseholdTask,
    kind,
    likely,
    read_task,
)
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.envs.alfworld.env import ALFWorldEnv
from textcraft_gym.episodes.episode import Episode

ROLES = ("planner", "explainer", "controller")
AGENTS = {"dep": ({}, 3.0), "zero_shot": ({"rounds": 12}, 1.5), "inner_monologue": ({}, 2.0)}
"""The agents that play, their arguments, and how often."""
MOST = {"planner": 4, "explainer": 2, "controller": 3}
"""Maximum number of dialogues of each role of one episode."""

_PICK = re.compile(r"pick an? (\w+) at (\w+ \d+)")
_DO = re.compile(r"(clean|heat|cool|put) the (\w+) (?:with|in) (\w+ \d+)")
_LIGHT = re.compile(r"look at the (\w+) under the (\w+) at (\w+ \d+)")
_SEEN = re.compile(r"(?:On the|The) (\w+ \d+)(?:| is open\. In it), you see ")
_FAILED = re.compile(r'I failed on step \d+ "(.+?)": ')


class Planner:
    """Knows the usual places of things, and what it was told.

    Attributes:
        household: The household as the controller has seen it.
        task: What is to be done.
        seen: What is in the places of which the prompt tells it.
    """

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.household = Household("")
        self.task = HouseholdTask("")
        self.seen: dict[str, list[str]] = {}
        self.read = 0

    def watch(self, request: Request, episode: Episode) -> None:
        """Read what was played since."""
        for action, answer in episode.transcript[self.read :]:
            self.household.read(action or "", answer)
        self.read = len(episode.transcript)

    def answer(self, role: str, prompt: str, sample: int) -> Said:
        """Return a plan, the next step, why one failed, or the number of a command."""
        if role == "controller":
            return Said(f" {choice(prompt)}")
        if not self.household.places:
            situation, _, rest = prompt.partition("\nYour task is to: ")
            self.household = Household(situation)
            self.task = read_task(rest.partition("\n")[0]) or self.task
        self.seen = {}
        places = _SEEN.findall(prompt)
        for place, things in self.household.contents.items():
            if place in places:
                self.seen[place] = things
        if role == "explainer":
            return Said(f"\n{self.why(_FAILED.findall(prompt)[-1])}")
        steps = [f"#{number} {step}" for number, step in enumerate(self.steps(), 1)]
        if self.agent == "inner_monologue":
            steps = steps[:1]
        return Said("\n" + "\n".join(steps))

    def steps(self) -> list[str]:
        """Return the steps that are left to do."""
        task, thing, home = self.task, self.task.thing, self.household
        in_hand = kind(home.held) == thing
        target = self.target()
        steps: list[str] = []
        searched: list[str] = []
        count = task.amount - len(home.brought) if task.target else 1
        for _ in range(count):
            if not in_hand:
                searched.append(self.place(thing, [target, *searched]))
                steps.append(f"pick a {thing} at {searched[-1]}")
            if task.treatment and not (in_hand and home.treated.get(home.held) == task.treatment):
                steps.append(f"{task.treatment} the {thing} with {self.appliance()}")
            if task.target:
                steps.append(f"put the {thing} in {target}")
            in_hand = False
        if task.lamp:
            place = self.place(task.lamp, [])
            steps.append(f"look at the {thing} under the {task.lamp} at {place}")
        return steps

    def target(self) -> str:
        """Return the first place that the task may mean; the task's own word if there is none."""
        for place in self.household.places:
            if self.task.target in (place, kind(place)):
                return place
        return self.task.target

    def appliance(self) -> str:
        """Return the place that treats the thing."""
        kinds = APPLIANCES[self.task.treatment]
        return next(place for place in self.household.places if kind(place) in kinds)

    def place(self, thing: str, but: list[str]) -> str:
        """Return where a thing was seen, else the likeliest place that was not looked into."""
        places = likely(thing, self.household.places)
        candidates = [place for place, things in self.seen.items() if thing in map(kind, things)]
        candidates += [place for place in places if place not in self.seen]
        for place in candidates:
            if place not in but:
                return place
        return (candidates or places)[0]

    def why(self, step: str) -> str:
        """Return why a step failed, where it did not find a thing, and what is next."""
        match = _PICK.fullmatch(step) or _LIGHT.fullmatch(step)
        if not match:
            return "It took too long."
        *_, thing, place = match.groups()
        empty = [other for other, things in self.seen.items() if thing not in map(kind, things)]
        following = self.place(thing, [place])
        hint = "It is at" if following in self.seen else "Next:"
        return f"No {thing} at {', '.join(empty or [place])}. {hint} {following}."


def choice(prompt: str) -> str:
    """Return the number of the command that serves a goal, 0 if none does, or ``done``."""
    about, _, listed = prompt.rpartition("\nGoal: ")[2].partition("\n\n")
    goal, _, history = about.partition("\n")
    last = history.rpartition("What you did for it: ")[2].partition("\n")[0]
    numbers: dict[str, str] = {}
    for line in listed.splitlines():
        number, _, command = line.partition(" ")
        numbers[command] = number
    wanted = commands(goal)
    if re.fullmatch(wanted[0], last):
        return "done"
    for pattern in wanted:
        for command, number in numbers.items():
            if re.fullmatch(pattern, command):
                return number
    return "0"


def commands(goal: str) -> list[str]:
    """Return patterns of the commands that lead to a goal, backwards from the goal's own."""
    if match := _PICK.fullmatch(goal):
        thing, place = match.groups()
        reach = rf"take {thing} \d+ from {place}"
    elif match := _LIGHT.fullmatch(goal):
        _, lamp, place = match.groups()
        reach = rf"use {lamp} \d+"
    elif match := _DO.fullmatch(goal):
        verb, thing, place = match.groups()
        reach = rf"{verb} {thing} \d+ with {place}"
        if verb == "put":
            reach = rf"(?:move {thing} \d+ to|put {thing} \d+ in/on) {place}"
    else:
        return ["nothing"]
    return [reach, f"open {place}", f"go to {place}"]


def examples(seed: int) -> Iterator[Example]:
    """Yield examples without end; the same seed gives the same ones."""
    rng = random.Random(f"alfworld goals/{seed}")
    while True:
        (agent,) = rng.choices([*AGENTS], [weight for _, weight in AGENTS.values()])
        for text, branches in dialogues(draw_task(rng), agent, rng).items():
            yield from recorded.packed(text, branches, rng)


def dialogues(task: str, agent: str, rng: random.Random) -> dict[str, list[Branch]]:
    """Return the dialogues of an episode by the text they begin with; none of a lost one."""
    env = ALFWorldEnv("all", admissible=True)
    arguments, _ = AGENTS[agent]
    player = make_agent(agent, profile=PROFILE, prompts=Prompts("short", "0.4"), args=arguments)
    planner = Planner(agent)
    played = recorded.record(env, player, task, planner, ROLES, on_request=planner.watch)
    opening, _ = env.reset(seed=0, options={"task": task})
    branches: dict[str, list[Branch]] = {}
    if not played.episode.won:
        return branches
    for role, most in MOST.items():
        text, kind = PROFILE.read(opening)[0], f"{agent} {role}"
        if role == "controller":  # which reads all of the opening
            text, kind = opening, role
        exchanges = [exchange for exchange in played.exchanges if exchange.role == role]
        made = recorded.dialogues(text, exchanges)
        chosen = rng.sample(made, min(len(made), most))
        branches.setdefault(text, []).extend(branch._replace(kind=kind) for branch in chosen)
    return branches
