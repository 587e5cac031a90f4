"""A horizon is learned from what errands took."""

from __future__ import annotations

import random
import statistics

import gymnasium as gym
import pytest

from textcraft_gym.agents.contract.controller import Errand
from textcraft_gym.agents.deps.horizon import Horizon, fit, learned_horizon
from textcraft_gym.agents.games.minetechtree.knowledge import source


def errand(steps: int, amount: int, item: str = "oak log") -> Errand:
    return Errand("mine", item, amount, steps, source(item))


def made_up(seeds: range) -> list[tuple[Errand, int]]:
    """Return errands and ticks: five a step, and thirty each."""
    drawn = [random.Random(seed) for seed in seeds]
    errands = [errand(number.randint(0, 120), number.randint(1, 10)) for number in drawn]
    return [(one, 5 * one.steps + 30 * one.amount) for one in errands]


def test_horizon__is_learned_from_errands():
    errands, ticks = zip(*made_up(range(600)), strict=True)
    horizon = fit(errands, ticks)
    off = [abs(horizon.expected(one) - took) / took for one, took in made_up(range(1000, 1200))]
    assert statistics.median(off) < 0.15
    assert horizon.expected(errand(100, 2)) > 2 * horizon.expected(errand(20, 2))


def test_horizon__bears_what_it_never_saw():
    horizon = fit([errand(10, 1)], [100])
    assert 50 < horizon.expected(errand(10, 1)) < 200
    assert horizon.expected(Errand("dance", "jig", 3)) > 0
    with pytest.raises(ValueError, match="one errand or more"):
        fit([], [])
    with pytest.raises(ValueError, match="no horizon was learned for the game chess"):
        learned_horizon("chess")


def test_horizon__comes_back_from_what_is_written(tmp_path, monkeypatch):
    errands, ticks = zip(*made_up(range(50)), strict=True)
    horizon = fit(errands, ticks)
    (tmp_path / "made_up.json").write_text(horizon.dumps())
    monkeypatch.setattr("textcraft_gym.agents.deps.horizon.HORIZONS", tmp_path)
    again: Horizon = learned_horizon.__wrapped__("made_up")
    assert again.features == horizon.features
    assert (again.weights == horizon.weights).all()


def test_learned_horizon__is_near_the_truth_in_worlds_that_it_never_saw():
    horizon, off = learned_horizon("minetechtree"), []
    env = gym.make("MineTechTree-v0", costs=True)
    for seed in range(40):
        _, info = env.reset(seed=seed)
        for item, (walk, each) in info["costs"].items():
            of = Errand("mine" if item.endswith("log") else "hunt", item, 3, walk // 5, source(item))
            off.append(abs(horizon.expected(of) - walk - 3 * each) / (walk + 3 * each))
    assert statistics.median(off) < 0.2
    assert len(off) > 200
