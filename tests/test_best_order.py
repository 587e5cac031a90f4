"""The best order of a plan's goals: found by brute force as well, and beaten by no selector."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from textcraft_gym import run_episode
from textcraft_gym.agents.contract.controller import Scene
from textcraft_gym.agents.contract.goals import Goal
from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.deps.selector import SELECTORS
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.registration import make

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

EITHER = """mine({'oak log': 1}) or mine({'birch log': 1})
hunt({'beef': 1}) or hunt({'mutton': 1})
hunt({'porkchop': 1})
craft({'planks': 4})
craft({'stick': 4})"""
ALL = """hunt({'white wool': 2})
mine({'oak log': 2})
craft({'oak planks': 8})
craft({'crafting table': 1})
craft({'white carpet': 3})
hunt({'beef': 1})"""


@pytest.fixture
def parallel_goals(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module("parallel_goals")


@pytest.fixture
def best_order(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module("best_order")


class Told:
    """A selector that is told which of the possible alternatives to take; the first when it is told no more."""

    env_args: Mapping[str, Any] = {}

    def __init__(self, choices: Sequence[int]) -> None:
        self.choices = list(choices)
        self.offered: list[int] = []

    def horizons(self, goals: Sequence[Goal], scene: Scene, info: Mapping[str, Any]) -> list[float]:
        taken = self.choices[len(self.offered)] if len(self.offered) < len(self.choices) else 0
        self.offered.append(len(goals))
        return [0.0 if index == taken else math.inf for index in range(len(goals))]


def every_order(parallel_goals: ModuleType, task: str, seed: int, plan: str) -> Iterator[int]:
    """Yield the ticks of every winning sequence of decisions, played through the environment by the agent itself."""
    choices: list[int] = []
    env = parallel_goals.Clock(make("MineTechTree-v0", ticks=100_000))
    while True:
        agent = DEPSAgent(MINETECHTREE, rounds=0)
        agent.selector = selector = Told(choices)
        if run_episode(env, agent, task=task, seed=seed, model=parallel_goals.Recital(plan)).won:
            yield env.ticks
        taken = [*choices, *[0] * len(selector.offered)][: len(selector.offered)]
        while taken and taken[-1] + 1 == selector.offered[len(taken) - 1]:
            taken.pop()
        if not taken:
            return
        choices = [*taken[:-1], taken[-1] + 1]


def bound_of(best_order: ModuleType, task: str, seed: int, plan: str) -> int | None:
    env = make("MineTechTree-v0", ticks=100_000)
    env.reset(seed=seed, options={"task": task})
    goals = dict(enumerate(best_order.CONTROLLER.goals(plan), 1))
    return best_order.fewest_ticks(env.get_wrapper_attr("game"), goals)


@pytest.mark.parametrize(
    ("task", "plan", "seed"),
    [*(("stick", EITHER, seed) for seed in range(3)), ("crafting_table+oak_planks+white_carpet", ALL, 4)],
)
def test_bound__is_the_least_of_all_orders(
    best_order: ModuleType, parallel_goals: ModuleType, task: str, plan: str, seed: int
):
    found = list(every_order(parallel_goals, task, seed, plan))
    assert len(set(found)) > 5
    assert bound_of(best_order, task, seed, plan) == min(found)


def test_bound__is_none_where_no_order_wins(best_order: ModuleType):
    assert bound_of(best_order, "diamond", 0, "mine({'log': 2})\nhunt({'beef': 1})") is None


@pytest.mark.parametrize("draw", ["apart", "any"])
def test_bound__is_beaten_by_no_selector(parallel_goals: ModuleType, draw: str):
    episodes = 4
    for goals in parallel_goals.GOALS:
        bound = parallel_goals.play(draw, goals, parallel_goals.BOUND, episodes=episodes)
        assert len(bound.won) == episodes
        for around in parallel_goals.SIGHTS:
            for selector in SELECTORS:
                ticks = parallel_goals.play(draw, goals, selector, around, episodes=episodes).ticks
                assert all(own is None or own >= least for own, least in zip(ticks, bound.ticks, strict=True))


def test_selectors__are_given_the_same_plans(parallel_goals: ModuleType):
    cases = parallel_goals.cases("apart", 3, 4)
    assert len({case.plan for case in cases}) > 1
    assert parallel_goals.cases.__wrapped__("apart", 3, 4) == cases
    fixed = [parallel_goals.play("apart", 3, "fixed", around, episodes=4) for around in parallel_goals.SIGHTS]
    assert all(outcome.won for outcome in fixed)


def test_page__has_a_row_for_each_selector_and_way_to_tell_distances(
    parallel_goals: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(parallel_goals, "GOALS", (2,))
    play = parallel_goals.play
    monkeypatch.setattr(parallel_goals, "play", lambda *case: play(*case, episodes=3))
    parallel_goals.write_selectors(tmp_path)
    page = (tmp_path / "selectors.md").read_text(encoding="utf-8")
    for around, selector in parallel_goals.ROWS:
        assert page.count(f"| 2 | {around} | {selector} |") == 2 + 2
    assert "**simulated model**" in page
    assert len((tmp_path / "selectors.csv").read_text(encoding="utf-8").splitlines()) == 1 + 2 * 13 * 6
