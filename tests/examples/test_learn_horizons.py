"""The horizon that comes with the package is what the script learns."""

from __future__ import annotations

import random
import statistics

import learn_horizons
import numpy as np
import pytest
from learn_horizons import FIRST_SEED, Leg, as_json, fit, median_error, play

from textcraft_gym.agents.contract.controller import Subgoal
from textcraft_gym.agents.deps.horizon import learned_horizons

FEW = range(FIRST_SEED, FIRST_SEED + 40)
OTHERS = range(FIRST_SEED - 40, FIRST_SEED)


@pytest.fixture(scope="module")
def legs() -> list[Leg]:
    return play(FEW)


def test_play__logs_what_goals_took(legs: list[Leg]):
    assert legs[: len(again := play(FEW[:10]))] == again
    assert all(leg.subgoal.amount > 0 for leg in legs)
    for leg in legs:
        if leg.subgoal.verb in ("craft", "equip"):
            assert 1 <= leg.ticks <= 6, leg  # one for each wood that the planks are from
        elif leg.subgoal.verb == "smelt":
            assert leg.ticks == 10 * leg.subgoal.amount, leg
        else:
            assert leg.ticks > 5 * leg.subgoal.steps, leg
    assert {leg.subgoal.verb for leg in legs} == {"mine", "hunt", "craft", "smelt"}


def test_fit__is_near_the_truth_with_few_episodes_and_nearer_with_many(legs: list[Leg]):
    few, others = fit(legs), play(OTHERS)
    assert (
        median_error(learned_horizons("minetechtree")["exact"], others)
        < median_error(few, others)
        < 0.3
    )


def made_up_log(seeds: range) -> list[Leg]:
    """Return legs of five ticks a step and thirty an item."""
    rngs = [random.Random(seed) for seed in seeds]
    subgoals = [
        Subgoal("mine", "oak log", rng.randint(1, 10), rng.randint(0, 120), "oak trees")
        for rng in rngs
    ]
    return [Leg(subgoal, 5 * subgoal.steps + 30 * subgoal.amount) for subgoal in subgoals]


def test_fit__learns_a_rule():
    horizon = fit(made_up_log(range(600)))
    others = made_up_log(range(1000, 1200))
    assert (
        statistics.median(
            abs(horizon.expected(leg.subgoal) - leg.ticks) / leg.ticks for leg in others
        )
        < 0.15
    )
    far, near = (Subgoal("mine", "oak log", 2, steps, "oak trees") for steps in (100, 20))
    assert horizon.expected(far) > 2 * horizon.expected(near)


def test_fit__takes_one_leg_or_more():
    (leg,) = made_up_log(range(1))
    assert leg.ticks / 2 < fit([leg]).expected(leg.subgoal) < 2 * leg.ticks
    with pytest.raises(ValueError, match="one leg or more"):
        fit([])


def test_as_json__is_loaded_as_it_was(tmp_path, monkeypatch):
    horizon = fit(made_up_log(range(50)))
    (tmp_path / "made_up.json").write_text(as_json({"exact": horizon, "names": horizon}))
    monkeypatch.setattr("textcraft_gym.agents.deps.horizon.HORIZONS", tmp_path)
    loaded = learned_horizons.__wrapped__("made_up")
    assert list(loaded) == ["exact", "names"]
    for each in loaded.values():
        assert each.features == horizon.features
        assert (each.weights == horizon.weights).all()


def test_script__writes_what_it_learned(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(learn_horizons, "EPISODES", 20)
    monkeypatch.setattr(learn_horizons, "TESTS", 10)
    monkeypatch.setattr("sys.argv", ["learn_horizons.py", "--out", str(tmp_path / "few.json")])
    learn_horizons.main()
    assert "goals of 20 episodes" in capsys.readouterr().out
    shipped = learned_horizons("minetechtree")
    monkeypatch.setattr("textcraft_gym.agents.deps.horizon.HORIZONS", tmp_path)
    written = learned_horizons.__wrapped__("few")
    assert list(written) == list(shipped) == ["exact", "rough", "names"]
    for sight, horizon in written.items():
        assert set(horizon.features) <= set(shipped[sight].features)
        assert np.isfinite(horizon.weights).all()
