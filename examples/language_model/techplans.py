"""Training examples of the planners of goals in the tech tree: DEPS and its baselines.

The worlds are drawn for training alone. A third of the goals that nothing else is made from is held
out, as in ``minetechtree``: they are in plans of their last step, or last two, by a player who
holds all that these take.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import recorded
from bill import Line, Link, applied, bill, explained, goals, imported, links, looped, why, wood_of
from dialogue import Branch, Example
from minetechtree import held_out
from recorded import Said

from textcraft_gym.agents.games.crafting import Want
from textcraft_gym.agents.games.minetechtree.game_profile import PROFILE
from textcraft_gym.agents.games.minetechtree.knowledge import WOODS, members, ways
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.envs.minetechtree.env import MineTechTreeEnv
from textcraft_gym.envs.minetechtree.generator import generate
from textcraft_gym.envs.minetechtree.state import Aim
from textcraft_gym.envs.minetechtree.tasks import (
    JOIN,
    SEVERAL,
    Task,
    all_tasks,
    find_task,
    split_tasks,
)
from textcraft_gym.goals import parse_goals

ROLES = ("planner", "explainer")
AGENTS = {
    "deps": 5.0,
    "zero_shot": 1.0,
    "chain_of_thought": 1.0,
    "inner_monologue": 1.0,
    "progprompt": 1.0,
    "code_as_policies": 1.0,
}
"""The agents that play, and how often."""
WORN = 0.2
"""Share of the single goals that are of what is to be worn, with which a plan has one step more."""
PLAYED = 3
"""The number of episodes that are played of one situation."""
PART_MISSING = 0.5
"""Share of the last steps before which a part is to be made. Were none ever missing, the player
would learn that such a goal takes one step, whatever is held."""
ERRORS, MISSES = 0.6, 0.2
"""Shares of DEPS's episodes in which the first plans have errors, and in which actions can miss. A
step misses again and again. Were most of what fails twice missed, the player would learn to say so
of whatever fails twice."""
MOST = 4
"""Maximum number of dialogues of one episode: where each goal is asked for, they are much alike."""

_FAILED = re.compile(r'^.*I failed on step \d+ "(.+?)"\.$', re.MULTILINE)


class Planner:
    """Knows the recipes and what is held.

    Args:
        env: The world that is played.
        agent: The agent that asks.
        rng: Draws what the first plan forgets; None for plans that forget nothing.
        errors: Number of plans with an error. The first forgets a part. The next ones take it for
            held, so that an explanation is not learnt to follow the plan that it explains.
    """

    def __init__(
        self,
        env: MineTechTreeEnv,
        agent: str,
        rng: random.Random | None = None,
        errors: int = 1,
    ) -> None:
        self.env, self.agent, self.rng, self.errors = env, agent, rng, errors
        self.forgotten: Link | None = None

    def answer(self, role: str, prompt: str, sample: int) -> Said:
        """Return a plan, the next goal or why one failed."""
        wants, worn, held = self.wanted(), self.worn(), self.held()
        wood = wood_of(want.item for want in wants)
        if role == "explainer":
            (failed,) = parse_goals(_FAILED.findall(prompt)[-1])
            return Said(f"\n{why(failed.name, failed.have[failed.name], held, wood)}")
        lines = bill(wants, held, wood)
        wrong = self.mistaken(lines, held, wood)
        lines = wrong or lines
        match self.agent:
            case "zero_shot":
                text = "\n".join(goals(lines, worn))
            case "inner_monologue":
                text = goals(lines, worn)[0]
            case "progprompt":
                text = imported(lines, worn, self.env.task.id.replace(JOIN, "_and_"))
            case "code_as_policies":
                text = looped(lines, worn)
            case _:
                text = explained(lines, worn, "" if self.agent == "chain_of_thought" else "# ")
        return Said(f"\n{text}", learnt=wrong is None)

    def mistaken(
        self, lines: Sequence[Line], held: Mapping[str, int], wood: str
    ) -> list[Line] | None:
        """Return the lines of a plan with an error; None for a plan without."""
        if self.rng is None or not self.errors:
            return None
        self.errors -= 1
        wants = self.wanted()
        for line in lines:
            if self.forgotten and line.item == self.forgotten.part:
                return bill(wants, {**held, line.item: line.needed}, wood)
        candidates = [*links(lines)]
        if not candidates:
            return None
        self.forgotten = self.rng.choice(candidates)
        return bill(wants, held, wood, self.forgotten)

    def wanted(self) -> list[Want]:
        """Return what the goal asks for, but for what was had already."""
        done = self.env._state.obtained
        return [Want(_name(aim.item), 1) for aim in self.env.game.aims if aim.item not in done]

    def worn(self) -> list[str]:
        """Return what is to be worn."""
        return [_name(aim.item) for aim in self.env.game.aims if aim.worn]

    def held(self) -> dict[str, int]:
        """Return the inventory."""
        return {_name(item): count for item, count in self.env._state.inventory.items()}


class Practice(MineTechTreeEnv):
    """A world for training.

    Args:
        task: The goal.
        world: Seed of the world.
        args: Arguments of the environment.
    """

    def __init__(self, task: Task, world: int, **args: Any) -> None:
        super().__init__("all", **args)
        self.chosen, self.world = task, world

    def _find_task(self, name: Any) -> Task:
        return self.chosen

    def _set_up(self, task: Task, draw: int) -> None:
        super()._set_up(task, draw)
        world = generate(f"training/{task.id}", self.world)
        self.game = self.game._replace(world=world, luck=f"training/{task.id}/{self.world}")


class Situation(NamedTuple):
    """A goal, the seed of its world, and what is held at first."""

    task: Task
    world: int
    given: Mapping[str, int]

    @property
    def text(self) -> str:
        """What the player reads, without the goal."""
        return PROFILE.read(self.env().reset(seed=0, options={"task": self.task.id})[0])[0]

    def env(self, reliability: Literal["perfect", "published"] = "perfect") -> Practice:
        """Return the environment."""
        return Practice(self.task, self.world, given=self.given, reliability=reliability)


def examples(seed: int) -> Iterator[Example]:
    """Yield examples without end; the same seed gives the same ones."""
    rng = random.Random(f"minetechtree goals/{seed}")
    while True:
        situation = drawn(rng)
        agents = rng.choices([*AGENTS], [*AGENTS.values()], k=PLAYED)
        branches: list[Branch] = []
        for agent in agents:
            branches += dialogues(situation, agent, rng)
        yield from recorded.packed(situation.text, dict.fromkeys(branches), rng)


def dialogues(situation: Situation, agent: str, rng: random.Random) -> Iterator[Branch]:
    """Yield dialogues of one episode; none of one that was lost.

    Plans for a goal that is held out have no error: they could waste what is held, and so take more
    than the last steps.
    """
    errs = agent == "deps" and rng.random() < ERRORS and situation.task.id not in held_out()
    misses = agent == "deps" and rng.random() < MISSES
    env = situation.env("published" if misses else "perfect")
    player = make_agent(agent, profile=PROFILE, prompts=Prompts("short"))
    planner = Planner(env, agent, rng if errs else None, rng.choice((1, 2, 3, 4)))
    played = recorded.record(env, player, situation.task.id, planner, ROLES)
    for branch in recorded.sampled(situation.text, played, MOST, rng):
        yield branch._replace(kind=f"{agent} {branch.kind}")


def drawn(rng: random.Random) -> Situation:
    """Return one or several goals with some parts held, or an item's last steps."""
    world, chance = rng.randrange(1 << 30), rng.random()
    if chance < 0.3:
        others = {*ways()} - {"log", "planks"}
        names = sorted(held_out() if chance < 0.1 else others)
        return last_steps(rng.choice(names).replace("_", " "), world, rng)
    if chance < 0.45:
        task = several(rng)
    else:
        task = rng.choice(worn() if rng.random() < WORN else known())
    held = some_parts(task, rng) if rng.random() < 0.35 else {}
    return Situation(task, world, held)


def several(rng: random.Random) -> Task:
    """Return two to four goals at once that no split has."""
    measured: set[frozenset[str]] = set()
    for split in SEVERAL:
        measured.update(frozenset(task.id.split(JOIN)) for task in split_tasks(split, "vanilla"))
    rare = rng.random() < 0.3  # of iron, with larger amounts
    groups = ("MT4", "MT6", "MT7") if rare else ("MT1", "MT2", "MT3", "MT4", "MT6")
    names = [task.id for task in known() if task.group in groups]
    while True:
        count = 2 if rare else rng.choice((2, 2, 3, 4))
        chosen = rng.sample(names, count)
        if frozenset(chosen) not in measured:
            return find_task(chosen, "vanilla")


@cache
def known() -> tuple[Task, ...]:
    """Return the goals that are not held out."""
    return tuple(task for task in all_tasks("vanilla").values() if task.id not in held_out())


@cache
def worn() -> tuple[Task, ...]:
    """Return those of them that count once they are equipped."""
    return tuple(task for task in known() if any(aim.worn for aim in task.aims))


def last_steps(item: str, world: int, rng: random.Random) -> Situation:
    """Return a thing and what its last step takes, or its last two; and some other things."""
    id = item.replace(" ", "_")
    task = all_tasks("vanilla").get(id)
    if task is None:
        task = Task(id, "MT1", 1, 3000, (Aim(f"minecraft:{id}", worn=False),))
    wood = wood_of([item])
    parts = _taken(Want(item, 1), wood)
    if parts and rng.random() < PART_MISSING:
        missing = parts.pop(rng.randrange(len(parts)))
        parts += _taken(missing, wood)
    given: dict[str, int] = {}
    for name, amount in _of_wood(parts, rng).items():
        given[name] = amount + rng.choice((0, 0, 0, 1, 3))
    for other in rng.sample(sorted({*ways()} - {item, "log", "planks"}), rng.choice((0, 0, 1, 2))):
        given.setdefault(other, 1)
    return Situation(task, world, given)


def _taken(want: Want, wood: str) -> list[Want]:
    """Return what a step takes, its tool among it, of one wood or of any."""
    recipe = applied(want.item, want.amount, wood=wood)
    return [*recipe.parts, *([Want(recipe.tool, 1)] if recipe.tool else [])]


def some_parts(task: Task, rng: random.Random) -> dict[str, int]:
    """Return some of the things that a goal takes, as if a part of a plan had been done."""
    wants = [Want(_name(aim.item), 1) for aim in task.aims]
    items = {want.item for want in wants}
    lines = bill(wants, {}, wood_of(want.item for want in wants))
    parts = [line for line in lines if line.item not in items]
    if not parts:
        return _of_wood([], rng)
    held = rng.sample(parts, rng.randrange(1, len(parts) + 1))
    return _of_wood([Want(line.item, line.needed) for line in held], rng)


def _of_wood(parts: list[Want], rng: random.Random) -> dict[str, int]:
    """Return amounts by item, with a wood in place of any."""
    wood = rng.choice(WOODS)
    given: dict[str, int] = {}
    for item, amount in parts:
        name = f"{wood} {item}" if len(members(item)) > 1 else item
        given[name] = given.get(name, 0) + amount
    return given


def _name(item: str) -> str:
    return item.removeprefix("minecraft:").replace("_", " ")
