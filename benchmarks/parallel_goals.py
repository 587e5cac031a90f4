"""Comparison of DEPS's selectors on the tech tree, with several goals at once and several time limits."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple, SupportsFloat

import gymnasium as gym
from best_order import CONTROLLER, fewest_ticks
from figure import Panel, Point, figure

import textcraft_gym
from textcraft_gym.agents.contract.model import Completion, Prompt
from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.deps.selector import SELECTORS
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.evaluation.episode import run_episode
from textcraft_gym.evaluation.report import markdown_table
from textcraft_gym.evaluation.success import wilson_interval
from textcraft_gym.registration import make

ENV, SPLIT = "MineTechTree-v0", "core71"
APART = {
    "oak trees": ("oak_boat", "oak_door", "oak_fence", "oak_sign"),
    "sheep": ("white_bed", "white_carpet", "painting"),
    "cows": ("item_frame", "leather_boots", "leather_helmet"),
    "pigs": ("cooked_porkchop",),
    "stone": ("furnace", "stone_pickaxe", "cobblestone_wall", "lever"),
    "coal ore": ("coal", "torch"),
    "iron ore": ("bucket", "shears"),
}
"""Tasks by the resource that only they need, each at a separate place."""

DRAWS = ("apart", "any")
GOALS = (2, 3, 4)
LIMITS = (1000, 1500, 2000, 2500, 3000, 3500)
MAX_TICKS = 12_000
EPISODES = 200
SPAN = 99
"""Enough for complete plans, so that the selectors differ only in the order of goals."""

SIGHTS = ("exact", "rough", "names")
BOUND = "bound"
ROWS = (*((around, name) for around in SIGHTS for name in SELECTORS), ("exact", BOUND))
"""How distances are told, and the selector."""

TEXT = """# MineTechTree-v0: DEPS's selectors, with the plans of a simulated model

Results with plans of the **simulated model**, not of a language model: see [simulated.md](simulated.md).

Two, three or four tasks of `core71` at once, {episodes} draws each, under several tick limits. In *apart* the tasks
need resources at different places (listed in `parallel_goals.py`); in *any* they are drawn from all tasks. All
selectors of a draw are given the same complete plan (span {span}), so that they differ only in the order of its goals
and in the wood where any will do. No action misses, and there is no second plan.

Among the goals whose preconditions are met, *fixed* picks the first of the plan, *random* a random one, *nearest* the
one whose source is nearest by the printed distances, and *learned* the one with the shortest expected time, fitted on
other seeds ([learn_horizons.py](../../examples/learn_horizons.py)) to what the text says. Distances are printed in
steps (*exact*), as about 10, 20, 40, 80 or 160 steps (*rough*), or not at all (*names*), where *nearest* can only
guess. All selectors are greedy: none plans a round trip. *bound* is the best possible order by the true costs, walks
included: an exact search over all orders ([best_order.py](../best_order.py)). [selectors.csv](selectors.csv) has all
numbers.

![Success over time](selectors.svg)

## Tasks won (%), *apart*, by tick limit

{apart}
## Tasks won (%), *any*, by tick limit

{any}
## Mean ticks until all goals are obtained

The last two columns are the mean ticks above the bound, and above *nearest* with the same distances, with a 95%
interval over the paired draws.

{ticks}"""


class Case(NamedTuple):
    """A task of several goals, its seed, and the plan that all selectors are given."""

    task: str
    seed: int
    plan: str


class Outcome(NamedTuple):
    """Results of a selector: the ticks of each episode without a tight limit, None for one that is lost."""

    draw: str
    goals: int
    around: str
    selector: str
    ticks: Sequence[int | None]

    @property
    def won(self) -> list[int]:
        """The ticks of each win."""
        return [ticks for ticks in self.ticks if ticks is not None]

    def point(self, limit: int) -> Point:
        """Return the success rate within a tick limit."""
        won = sum(ticks <= limit for ticks in self.won)
        return Point(won / len(self.ticks), *wilson_interval(won, len(self.ticks)))


class Clock(gym.Wrapper[str, str, str, str]):
    """Remembers the ticks of the last step."""

    ticks = 0

    def step(self, action: str) -> tuple[str, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one action and note the ticks."""
        step = self.env.step(action)
        self.ticks = step[4]["ticks"]
        return step


class Recital:
    """A model that has one plan, whatever it is asked."""

    def __init__(self, plan: str) -> None:
        self.plan = plan

    def complete(
        self, prompt: Prompt, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int
    ) -> Completion:
        """Return the plan."""
        return Completion(self.plan, {"prompt_tokens": 0, "completion_tokens": 0})


@cache
def cases(draw: str, goals: int, episodes: int = EPISODES) -> tuple[Case, ...]:
    """Return tasks of ``goals`` goals each, with a seed and the simulated model's plan for each."""
    ids = [task.id for task in textcraft_gym.tasks(ENV, split=SPLIT)]
    drawn = []
    for seed in range(episodes):
        rng = random.Random(f"{goals}/{seed}")
        apart = [rng.choice(APART[source]) for source in rng.sample(list(APART), goals)]
        task = "+".join(apart if draw == "apart" else rng.sample(ids, goals))
        drawn.append(Case(task, seed, plan(task, seed)))
    return tuple(drawn)


def plan(task: str, seed: int) -> str:
    """Return the plan that the simulated model writes where it is told all distances."""
    agent = DEPSAgent(MINETECHTREE, rounds=0)
    episode = run_episode(make(ENV, **agent.env_args), agent, task=task, seed=seed, model=SimulatedModel(SPAN))
    return str(next(node.parts[0] for node in episode.trace.walk() if node.role == "planner"))


def play(
    draw: str, goals: int, selector: str, around: str = "exact", limit: int = MAX_TICKS, episodes: int = EPISODES
) -> Outcome:
    """Play episodes with a selector, or find the best order of their goals.

    Neither plans nor selectors depend on the time left, so the wins within a lower limit are those by that tick.
    """
    run = best if selector == BOUND else played
    ticks = list(run(cases(draw, goals, episodes), selector, around, limit))
    return Outcome(draw, goals, around, selector, ticks)


def played(chosen: Iterable[Case], selector: str, around: str, limit: int) -> Iterator[int | None]:
    """Yield the ticks of each episode with a selector."""
    agent = DEPSAgent(MINETECHTREE, rounds=0, selector=selector)
    env = Clock(make(ENV, ticks=limit, around=around, **agent.env_args))
    for task, seed, written in chosen:
        episode = run_episode(env, agent, task=task, seed=seed, model=Recital(written))
        yield env.ticks if episode.won else None


def best(chosen: Iterable[Case], _: str, around: str, limit: int) -> Iterator[int | None]:
    """Yield the ticks of the best order of each plan's goals."""
    env = make(ENV, ticks=limit)
    for task, seed, written in chosen:
        env.reset(seed=seed, options={"task": task})
        goals = dict(enumerate(CONTROLLER.goals(written), 1))
        yield fewest_ticks(env.get_wrapper_attr("game"), goals)


def write_selectors(results: Path) -> None:
    """Play, and write the page, its CSV file and its figure."""
    outcomes = [play(draw, goals, name, around) for draw in DRAWS for goals in GOALS for around, name in ROWS]
    with (results / "selectors.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["draw", "goals", "around", "selector", "ticks", "episodes", *Point._fields])
        writer.writerows(
            [outcome.draw, outcome.goals, outcome.around, outcome.selector, limit, len(outcome.ticks)]
            + [f"{value:.6g}" for value in outcome.point(limit)]
            for outcome in outcomes
            for limit in LIMITS
        )
    heading = "Simulated plans: tasks that lie apart won (%) over the ticks that there are, with 95% Wilson intervals"
    svg = figure(heading, [panel(goals, outcomes) for goals in GOALS])
    (results / "selectors.svg").write_text(svg, encoding="utf-8", newline="\n")
    (results / "selectors.md").write_text(page(outcomes), encoding="utf-8", newline="\n")


def panel(goals: int, outcomes: Iterable[Outcome]) -> Panel:
    """Return the plot of the goals that are far apart and exactly told, for one number of goals."""
    chosen = [
        outcome for outcome in outcomes if (outcome.draw, outcome.goals, outcome.around) == ("apart", goals, "exact")
    ]
    lines = {outcome.selector: [outcome.point(limit) for limit in LIMITS] for outcome in chosen}
    return Panel(f"{goals} goals at once", "ticks", [str(limit) for limit in LIMITS], lines)


def page(outcomes: Sequence[Outcome]) -> str:
    """Return the tables as Markdown."""

    def won(draw: str) -> str:
        rows = [
            (
                *(str(outcome.goals), outcome.around, outcome.selector),
                *(f"{100 * outcome.point(limit).rate:.1f}" for limit in LIMITS),
            )
            for outcome in outcomes
            if outcome.draw == draw
        ]
        return markdown_table(("goals", "distances", "selector", *map(str, LIMITS)), rows)

    found = {(outcome.draw, outcome.goals, outcome.around, outcome.selector): outcome for outcome in outcomes}
    rows = []
    for outcome in outcomes:
        draw, goals, around, selector, _ = outcome
        others = found[draw, goals, "exact", BOUND], found[draw, goals, around, "nearest"]
        rows.append((draw, str(goals), around, selector, *compared(outcome, *others)))
    head = ("tasks", "goals", "distances", "selector", "won", "ticks", "above the bound (%)", "above nearest")
    return TEXT.format(
        episodes=EPISODES, span=SPAN, apart=won("apart"), any=won("any"), ticks=markdown_table(head, rows)
    )


def compared(outcome: Outcome, bound: Outcome, nearest: Outcome) -> tuple[str, str, str, str]:
    """Return a selector's number of wins, its mean ticks, and those above the bound and above the nearest selector.

    All means are over the draws that all three win.
    """
    ticks = zip(outcome.ticks, bound.ticks, nearest.ticks, strict=True)
    won = [(own, least, other) for own, least, other in ticks if own and least and other]
    mean, least = (fmean(each[index] for each in won) for index in (0, 1))
    more = [own - other for own, _, other in won]
    margin = 1.96 * stdev(more) / sqrt(len(more)) if len(more) > 1 else 0.0
    return str(len(outcome.won)), f"{mean:.0f}", f"{100 * (mean / least - 1):.1f}", f"{fmean(more):+.0f} ± {margin:.0f}"
