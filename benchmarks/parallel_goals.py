"""DEPS's selectors beside each other, with several goals at once and several limits of time, on the tech tree."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from figure import Panel, Point, figure

import textcraft_gym
from textcraft_gym.agents.deps import DEPSAgent
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.agents.models.simulated import SimulatedModel
from textcraft_gym.agents.select import SELECTORS
from textcraft_gym.evaluation.episode import run_episodes
from textcraft_gym.evaluation.metrics import wilson_interval
from textcraft_gym.evaluation.report import markdown_table
from textcraft_gym.registration import make

ENV, SPLIT = "MineTechTree-v0", "core71"
GOALS = (2, 3, 4)
LIMITS = (1000, 1500, 2000, 2500, 3000)
EPISODES = 200
SPAN = 99
"""Enough for whole plans, so that the selectors differ in nothing but the order of goals."""

TEXT = """# MineTechTree-v0: DEPS's selectors, with the plans of a simulated model

Numbers with plans of the **simulated model**, not of a language model: see [README.md](README.md).

Two, three or four of the 71 tasks of `core71` at once, {episodes} draws of each, within so many ticks. The plans are
whole (span {span}); of the goals that can be pursued, and of the woods where any will do, the selector takes one.
*Fixed* takes the first of the plan, *random* any, *learned* what it expects to be reached soonest, from what goals took
on other seeds ([learn_horizons.py](../../examples/learn_horizons.py)), and *oracle* what is reached soonest, which the
environment tells it. No selector looks further ahead than that, the oracle neither: it does not plan a round trip.
[selectors.csv](selectors.csv) has every number.

![Success over time](selectors.svg)

## Tasks won (%), by ticks

{won}"""


class Outcome(NamedTuple):
    """What a selector came to with so many goals in so many ticks."""

    goals: int
    ticks: int
    selector: str
    episodes: int
    won: int

    @property
    def point(self) -> Point:
        """The rate with its interval."""
        return Point(self.won / self.episodes, *wilson_interval(self.won, self.episodes))


def several_goals(goals: int, episodes: int) -> list[tuple[str, int]]:
    """Return tasks of so many goals, and a seed for each."""
    ids = [task.id for task in textcraft_gym.tasks(ENV, split=SPLIT)]
    return [("+".join(random.Random(f"{goals}/{seed}").sample(ids, goals)), seed) for seed in range(episodes)]


def play(goals: int, ticks: int, selector: str, episodes: int = EPISODES) -> Outcome:
    """Play so many episodes with a selector."""
    agent = DEPSAgent(MINETECHTREE, selector=selector)
    env = make(ENV, ticks=ticks, **agent.env_args)
    jobs = several_goals(goals, episodes)
    won = sum(bool(episode.won) for episode in run_episodes([env], agent, jobs, model=SimulatedModel(SPAN)))
    return Outcome(goals, ticks, selector, episodes, won)


def write_selectors(results: Path) -> None:
    """Play, and write the page, its table and its figure."""
    found = [play(goals, ticks, name) for goals in GOALS for ticks in LIMITS for name in SELECTORS]
    with (results / "selectors.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*Outcome._fields, *Point._fields])
        writer.writerows([*one, *(f"{value:.6g}" for value in one.point)] for one in found)
    heading = "Simulated plans: tasks won (%) over the ticks that there are, with 95% Wilson intervals"
    drawn = figure(heading, [panel(goals, found) for goals in GOALS])
    (results / "selectors.svg").write_text(drawn, encoding="utf-8", newline="\n")
    (results / "selectors.md").write_text(page(found), encoding="utf-8", newline="\n")


def panel(goals: int, found: Iterable[Outcome]) -> Panel:
    """Return the plot of one number of goals."""
    of = [one for one in found if one.goals == goals]
    lines = {name: [one.point for one in of if one.selector == name] for name in SELECTORS}
    return Panel(f"{goals} goals at once", "ticks", [str(ticks) for ticks in LIMITS], lines)


def page(found: Iterable[Outcome]) -> str:
    """Return the table as Markdown."""
    rates = {(one.goals, one.selector, one.ticks): f"{100 * one.point.rate:.1f}" for one in found}
    rows = [
        (str(goals), name, *(rates[goals, name, ticks] for ticks in LIMITS)) for goals in GOALS for name in SELECTORS
    ]
    headings = ("goals", "selector", *(str(ticks) for ticks in LIMITS))
    return TEXT.format(episodes=EPISODES, span=SPAN, won=markdown_table(headings, rows))
