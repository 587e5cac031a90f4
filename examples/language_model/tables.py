"""Training examples of the tabletop: of the planners of goals, and of players who act turn by turn.

The tables are those that come after the ones of all splits. A teacher sees the table; its first
plan may be a wrong one, which is not learnt, so that there is something to explain and to mend.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
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
from textcraft_gym.envs.tabletop.rules import apply
from textcraft_gym.envs.tabletop.state import HANOI, KINDS
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
PLAYED = 3
"""The number of episodes that are played of one table."""
MOST = 3
"""Maximum number of dialogues of one episode: where each goal is asked for, they are much alike."""
TABLES, STANDS = 4000, 500
"""The number of tables of each kind, and of those of rings: there are only 720."""

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
        rng: Spoils the first plan; None for one that is right.
    """

    def __init__(self, env: TabletopEnv, agent: str, rng: random.Random | None = None) -> None:
        self.env, self.agent, self.rng = env, agent, rng

    def answer(self, role: str, prompt: str, sample: int) -> Said:
        """Return a plan, the next goal or turn, or why a goal failed."""
        goals = plan(self.env.game.world, self.env._state)
        if role == "explainer":
            _, answer, *_ = apply(self.env.game, self.env._state, _FAILED.findall(prompt)[-1])
            return Said(f"\n{answer}")
        if prompt.endswith("\n>"):
            return self.turn(prompt, goals)
        if not goals and self.agent == "inner_monologue":
            return Said("\ndone")
        if not goals:
            return Said("\nNothing can be done.")
        if self.agent in ("plan_and_execute", "adapt"):
            return Said(f"\n{numbered(goals)}")
        rng, self.rng = self.rng, None
        if self.agent == "inner_monologue":
            goals = goals[:1]
        elif rng:
            goals = spoilt(goals, rng)
        lines = [f"{number}. {goal}" for number, goal in enumerate(goals, 1)]
        return Said("\n" + "\n".join(lines), learnt=rng is None)

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


def spoilt(goals: list[str], rng: random.Random) -> list[str]:
    """Return a plan without one of its goals, or with two of them in each other's place."""
    first = rng.randrange(len(goals))
    if len(goals) == 1 or rng.random() < 0.5:
        return [*goals[:first], *goals[first + 1 :]] or goals
    second = rng.randrange(len(goals))
    changed = [*goals]
    changed[first], changed[second] = goals[second], goals[first]
    return changed


def examples(seed: int) -> Iterator[Example]:
    """Yield examples without end; the same seed gives the same ones."""
    rng = random.Random(f"tabletop/{seed}")
    while True:
        task = rng.choice(tables(rng.choice(KINDS)))
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
    planner = Planner(env, agent, rng if errs else None)
    played = recorded.record(env, player, task.id, planner, ROLES)
    for branch in recorded.sampled(text, played, MOST, rng):
        yield branch._replace(kind=f"{agent} {branch.kind}")
