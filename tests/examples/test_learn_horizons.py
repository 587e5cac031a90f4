"""The horizon that comes with the package is what the script learns."""

from __future__ import annotations

import learn_horizons
import numpy as np
from learn_horizons import FIRST_SEED, off_by, play

from textcraft_gym.agents.deps.horizon import fit, learned_horizon

FEW = range(FIRST_SEED, FIRST_SEED + 40)
OTHERS = range(FIRST_SEED - 40, FIRST_SEED)


def test_play__logs_what_goals_took():
    legs = play(FEW)
    assert legs == play(FEW)
    assert all(leg.errand.amount > 0 for leg in legs)
    for leg in legs:
        if leg.errand.verb in ("craft", "equip"):
            assert 1 <= leg.ticks <= 6, leg  # one for each wood that the planks are from
        elif leg.errand.verb == "smelt":
            assert leg.ticks == 10 * leg.errand.amount, leg
        else:
            assert leg.ticks > 5 * leg.errand.steps, leg
    assert {leg.errand.verb for leg in legs} == {"mine", "hunt", "craft", "smelt", "equip"}


def test_fit__is_near_the_truth_with_few_episodes_and_nearer_with_many():
    legs, others = play(FEW), play(OTHERS)
    few = off_by(fit([leg.errand for leg in legs], [leg.ticks for leg in legs]), others)
    assert off_by(learned_horizon("minetechtree"), others) < few < 0.3


def test_script__writes_what_it_learned(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(learn_horizons, "EPISODES", 20)
    monkeypatch.setattr(learn_horizons, "TESTS", 10)
    monkeypatch.setattr("sys.argv", ["learn_horizons.py", "--out", str(tmp_path / "few.json")])
    learn_horizons.main()
    assert "goals of 20 episodes" in capsys.readouterr().out
    shipped = learned_horizon("minetechtree")
    monkeypatch.setattr("textcraft_gym.agents.deps.horizon.HORIZONS", tmp_path)
    written = learned_horizon.__wrapped__("few")
    assert set(written.features) <= set(shipped.features)
    assert np.isfinite(written.weights).all()
