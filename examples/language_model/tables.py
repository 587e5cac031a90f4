"""Training examples of the tabletop: of the planners of goals, and of players who act turn by turn.

The tables are those that come after the ones of all splits. A teacher sees the table; its first
plans may be wrong ones, which are not learnt, so that there is something to explain and to mend.
Before the plan of a kit it notes the holes of each shape, and before one of bowls whether each
block has a bowl: a small model sees what belongs together only once it stands side by side.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any

import recorded
from dialogue import Branch, Example, numbered
from recorded import Said
from teacher import COMPLETED, FAILED

from textcraft_gym.agents.games.tabletop.game_profile import PROFILE
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.envs.tabletop.env import TabletopEnv
from textcraft_gym.envs.tabletop.expert import plan
from textcraft_gym.envs.tabletop.generator import generate
from textcraft_gym.envs.tabletop.rules import apply, holes_of
from textcraft_gym.envs.tabletop.state import (
    BOWLS,
    HANOI,
    KITS,
    LOCATIONS,
    PACKING,
    PYRAMID,
    TABLE,
    State,
    World,
)
from textcraft_gym.envs.tabletop.tasks import NUMBERS, Task
from textcraft_gym.envs.tabletop.text import INSTRUCTIONS

ROLES = ("planner", "explainer")
AGENTS = {
    "deps": 4.0,
    "zero_shot": 1.0,
    "inner_monologue": 1.0,
    "react": 2.0,
    "plan_and_execute": 1.0,
    "adapt": 1.0,
}
"""The agents that play, and how often."""
SHARES = {KITS: 3.0, HANOI: 1.0, BOWLS: 2.0, PACKING: 1.0, PYRAMID: 1.0}
"""The kinds of tables, and how often: what belongs together in kits and bowls is hardest to see."""
PLAYED = 3
"""The number of episodes that are played of one table."""
MOST = 3
"""Maximum number of dialogues of one episode: where each goal is asked for, they are much alike."""
TABLES, STANDS = 4000, 500
"""The number of tables of each kind, and of those of rings: there are only 720."""

_HOLE = re.compile(rf"in the (?:({'|'.join(LOCATIONS)}) )?(.+) hole")
_FAILED = re.compile(r'I failed on step \d+ "(.+?)"\.')


@cache
def tables(kind: str) -> tuple[Task, ...]:
    """Return the tables for training of a kind, which come after those of all splits."""
    first = sum(map(len, NUMBERS.values()))
    worlds = islice(generate(kind), first, first + (STANDS if kind == HANOI else TABLES))
    return tuple(
        Task(f"{kind}/{number}", kind, world) for number, world in enumerate(worlds, first)
    )


class Practice(TabletopEnv):
    """A table for training.

    Args:
        task: The table.
        args: Arguments of the environment.
    """

    def __init__(self, task: Task, **args: Any) -> None:
        super().__init__("all", **args)
        self.chosen = task

    def _find_task(self, name: Any) -> Task:
        return self.chosen


class Planner:
    """Sees the table.

    Args:
        env: The table.
        agent: The agent that asks.
        rng: Spoils plans; None for ones that are right.
        spoils: Number of plans to spoil.
    """

    def __init__(
        self, env: TabletopEnv, agent: str, rng: random.Random | None = None, spoils: int = 1
    ) -> None:
        self.env, self.agent, self.rng = env, agent, rng
        self.spoils = spoils

    def answer(self, role: str, prompt: str, sample: int) -> Said:
        """Return a plan, the next goal or turn, or why a goal failed."""
        world, state = self.env.game.world, self.env._state
        goals = plan(world, state)
        if role == "explainer":
            _, answer, *_ = apply(self.env.game, state, _FAILED.findall(prompt)[-1])
            return Said(f"\n{answer}")
        if prompt.endswith("\n>"):
            return self.turn(prompt, goals)
        if not goals and self.agent == "inner_monologue":
            return Said("\ndone")
        if not goals:
            return Said("\nNothing can be done.")
        if self.agent == "inner_monologue":
            return Said(f"\n1. {goals[0]}")
        note = f"\n{NOTES[world.kind](world, state)}" if world.kind in NOTES else ""
        if self.agent in ("plan_and_execute", "adapt"):
            return Said(f"{note}\n{numbered(goals)}")
        if self.rng and self.spoils:
            self.spoils -= 1
            if self.rng.random() < 0.5:  # with the right note, too, a plan may go wrong
                note = ""
            return Said(note + listed(spoilt(world, goals, self.rng)), learnt=False)
        return Said(note + listed(goals))

    def turn(self, prompt: str, goals: list[str]) -> Said:
        """Return a player's next turn: of the whole task, or of one goal, which may be missed."""
        _, _, attempt = prompt.rpartition("\nYour task is to: ")
        task = attempt.partition("\n")[0].removesuffix(".")
        if self.agent == "react":
            return Said(f" {goals[0]}" if goals else f" think: Nothing can be done. {FAILED}")
        if task in INSTRUCTIONS.values():  # ADaPT asks for a plan after the executor has failed
            return Said(f" think: I see no way. {FAILED}", learnt=False)
        if f"> {task}\nDone: " in attempt:
            return Said(f" think: It is done. {COMPLETED}")
        answers = attempt.split("\n> ")[1:]
        if answers and not answers[-1].partition("\n")[2].startswith("Missed: "):
            return Said(f" think: It cannot be done. {FAILED}")
        return Said(f" {task}")


def listed(goals: list[str]) -> str:
    """Return a plan as numbered goals."""
    return "".join(f"\n{number}. {goal}" for number, goal in enumerate(goals, 1))


def holes(world: World, state: State) -> str:
    """Return a note of the holes of each shape that is still on the table."""
    notes: dict[str, str] = {}
    for thing, at in zip(world.things, state.at, strict=True):
        if at == TABLE:
            places = [
                f"{hole} (taken)" if hole in state.at else hole
                for hole in holes_of(world, thing.shape)
            ]
            notes[thing.shape] = f"{thing.shape}: {' and '.join(places)}"
    return f"# {'; '.join(notes.values())}."


def bowls(world: World, state: State) -> str:
    """Return a note of the blocks that are still on the table, and whether each has a bowl."""
    notes = [
        f"{thing.colour}: {'bowl' if thing.colour in world.places else 'none'}"
        for thing, at in zip(world.things, state.at, strict=True)
        if at == TABLE
    ]
    return f"# {'; '.join(notes)}."


NOTES: Mapping[str, Callable[[World, State], str]] = {KITS: holes, BOWLS: bowls}
"""What is noted before a plan, by kind of table."""


def spoilt(world: World, goals: list[str], rng: random.Random) -> list[str]:
    """Return a plan with a wrong hole, without a goal, or with two in each other's place."""
    first = rng.randrange(len(goals))
    if world.kind == KITS:
        changed = [*goals]
        changed[first] = misplaced(world, goals[first], rng)
        return changed
    if len(goals) == 1 or rng.random() < 0.5:
        return [*goals[:first], *goals[first + 1 :]] or goals
    second = rng.randrange(len(goals))
    changed = [*goals]
    changed[first], changed[second] = goals[second], goals[first]
    return changed


def misplaced(world: World, goal: str, rng: random.Random) -> str:
    """Return a goal of a kit with another hole: of no location, of a wrong one, or of a shape."""
    location, shape = _HOLE.findall(goal)[0]
    if location and rng.random() < 0.6:
        hole = shape
    elif rng.random() < 0.6:
        right = location or holes_of(world, shape)[0]
        hole = f"{rng.choice([other for other in LOCATIONS if other != right])} {shape}"
    else:
        hole = rng.choice([other for other in world.places if other != shape])
    return _HOLE.sub(f"in the {hole} hole", goal)


def examples(seed: int) -> Iterator[Example]:
    """Yield examples without end; the same seed gives the same ones."""
    rng = random.Random(f"tabletop/{seed}")
    while True:
        (kind,) = rng.choices([*SHARES], [*SHARES.values()])
        task = rng.choice(tables(kind))
        text, _ = PROFILE.read(task.content)
        agents = rng.choices([*AGENTS], [*AGENTS.values()], k=PLAYED)
        branches: list[Branch] = []
        for agent in agents:
            branches += dialogues(task, text, agent, rng)
        yield from recorded.packed(text, dict.fromkeys(branches), rng)


def dialogues(task: Task, text: str, agent: str, rng: random.Random) -> Iterator[Branch]:
    """Yield dialogues of one episode, which begin with a text; none of one that was lost."""
    errs = agent == "deps" and rng.random() < 0.7
    misses = agent != "zero_shot" and rng.random() < 0.5
    env = Practice(task, reliability="cliport" if misses else "oracle")
    player = make_agent(agent, profile=PROFILE, prompts=Prompts("short"))
    planner = Planner(env, agent, rng if errs else None, rng.choice((1, 1, 2)))
    played = recorded.record(env, player, task.id, planner, ROLES)
    for branch in recorded.sampled(text, played, MOST, rng):
        yield branch._replace(kind=f"{agent} {branch.kind}")
