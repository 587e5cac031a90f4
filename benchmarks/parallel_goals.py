"""Comparison of DEPS's selectors on the tech tree, with several goals at once and several time limits."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, SupportsFloat

import gymnasium as gym
from figure import Panel, Point, figure

import textcraft_gym
from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.deps.selector import SELECTORS
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.evaluation.metrics import wilson_interval
from textcraft_gym.evaluation.report import markdown_table
from textcraft_gym.evaluation.schedule import run_episodes
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

TEXT = """# MineTechTree-v0: DEPS's selectors, with the plans of a simulated model

Results with plans of the **simulated model**, not of a language model: see [README.md](README.md).

Two, three or four tasks of `core71` at once, {episodes} draws each, under several tick limits. In *apart* the tasks
need resources at different places (listed in `parallel_goals.py`); in *any* they are drawn from all tasks. Plans are
complete (span {span}), and the controller goes to the nearest trees where any wood will do, so that the selectors
differ only in the order of goals. Among the goals whose preconditions are met, *fixed* picks the first of the plan,
*random* a random one, *learned* the one with the shortest expected time, fitted on other seeds
([learn_horizons.py](../../examples/learn_horizons.py)), and *oracle* the one with the shortest true time, given by
the environment. All selectors are greedy, the oracle too: none plans a round trip. [selectors.csv](selectors.csv) has
all numbers.

Notes: the order matters where goals are far apart, and more so with more goals. Arbitrary tasks mostly share one path
with a forced order, from wood through stone to iron, which leaves the selectors little to gain.

![Success over time](selectors.svg)

## Tasks won (%), *apart*, by tick limit

{apart}
## Tasks won (%), *any*, by tick limit

{any}
## Mean ticks of a win

{ticks}"""


class Outcome(NamedTuple):
    """Results of a selector: the ticks of each win, without a tight limit."""

    draw: str
    goals: int
    selector: str
    episodes: int
    ticks: Sequence[int]

    def point(self, limit: int) -> Point:
        """Return the success rate within a tick limit."""
        won = sum(ticks <= limit for ticks in self.ticks)
        return Point(won / self.episodes, *wilson_interval(won, self.episodes))


class Clock(gym.Wrapper[str, str, str, str]):
    """Remembers the ticks of the last step."""

    ticks = 0

    def step(self, action: str) -> tuple[str, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one action and note the ticks."""
        step = self.env.step(action)
        self.ticks = step[4]["ticks"]
        return step


def jobs(draw: str, goals: int, episodes: int = EPISODES) -> list[tuple[str, int]]:
    """Return tasks of ``goals`` goals each, and a seed for each."""
    ids = [task.id for task in textcraft_gym.tasks(ENV, split=SPLIT)]
    drawn = []
    for seed in range(episodes):
        rng = random.Random(f"{goals}/{seed}")
        apart = [rng.choice(APART[source]) for source in rng.sample(list(APART), goals)]
        drawn.append(("+".join(apart if draw == "apart" else rng.sample(ids, goals)), seed))
    return drawn


def play(draw: str, goals: int, selector: str, limit: int = MAX_TICKS, episodes: int = EPISODES) -> Outcome:
    """Play episodes with a selector.

    Neither plans nor selectors depend on the time left, so the wins within a lower limit are those by that tick.
    """
    agent = DEPSAgent(MINETECHTREE, selector=selector)
    env = Clock(make(ENV, ticks=limit, **agent.env_args))
    episodes_played = run_episodes([env], agent, jobs(draw, goals, episodes), model=SimulatedModel(SPAN))
    return Outcome(draw, goals, selector, episodes, [env.ticks for episode in episodes_played if episode.won])


def write_selectors(results: Path) -> None:
    """Play, and write the page, its CSV file and its figure."""
    outcomes = [play(draw, goals, name) for draw in DRAWS for goals in GOALS for name in SELECTORS]
    with (results / "selectors.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["draw", "goals", "selector", "ticks", "episodes", *Point._fields])
        writer.writerows(
            [outcome.draw, outcome.goals, outcome.selector, limit, outcome.episodes]
            + [f"{value:.6g}" for value in outcome.point(limit)]
            for outcome in outcomes
            for limit in LIMITS
        )
    heading = "Simulated plans: tasks that lie apart won (%) over the ticks that there are, with 95% Wilson intervals"
    svg = figure(heading, [panel(goals, outcomes) for goals in GOALS])
    (results / "selectors.svg").write_text(svg, encoding="utf-8", newline="\n")
    (results / "selectors.md").write_text(page(outcomes), encoding="utf-8", newline="\n")


def panel(goals: int, outcomes: Iterable[Outcome]) -> Panel:
    """Return the plot of the goals that are far apart, for one number of goals."""
    chosen = [outcome for outcome in outcomes if (outcome.draw, outcome.goals) == ("apart", goals)]
    lines = {outcome.selector: [outcome.point(limit) for limit in LIMITS] for outcome in chosen}
    return Panel(f"{goals} goals at once", "ticks", [str(limit) for limit in LIMITS], lines)


def page(outcomes: Sequence[Outcome]) -> str:
    """Return the tables as Markdown."""

    def won(draw: str) -> str:
        rows = [
            (str(outcome.goals), outcome.selector, *(f"{100 * outcome.point(limit).rate:.1f}" for limit in LIMITS))
            for outcome in outcomes
            if outcome.draw == draw
        ]
        return markdown_table(("goals", "selector", *map(str, LIMITS)), rows)

    means = {(outcome.draw, outcome.goals, outcome.selector): f"{fmean(outcome.ticks):.0f}" for outcome in outcomes}
    ticks = [(draw, str(goals), *(means[draw, goals, name] for name in SELECTORS)) for draw in DRAWS for goals in GOALS]
    table = markdown_table(("tasks", "goals", *SELECTORS), ticks)
    return TEXT.format(episodes=EPISODES, span=SPAN, apart=won("apart"), any=won("any"), ticks=table)
