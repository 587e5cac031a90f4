"""The horizon that comes with the package."""

from __future__ import annotations

import statistics

import gymnasium as gym
import numpy as np
import pytest

from textcraft_gym.agents.contract.controller import Subgoal
from textcraft_gym.agents.deps.horizon import CLASSES, LONGEST, Horizon, learned_horizons
from textcraft_gym.agents.games.minetechtree.knowledge import source


def test_horizon__is_the_mean_of_the_classes_weighted_by_their_probabilities():
    weights = np.zeros((1, CLASSES))
    weights[0, [3, 5]] = 50.0, 50.0 + np.log(3)
    ticks = [LONGEST ** ((index + 0.5) / CLASSES) for index in (3, 5)]
    expected = Horizon(("always",), weights).expected(Subgoal("craft", "bowl", 1))
    assert expected == pytest.approx(ticks[0] / 4 + 3 * ticks[1] / 4)


def test_horizon__takes_a_subgoal_of_which_nothing_was_learned():
    assert (
        0 < learned_horizons("minetechtree")["exact"].expected(Subgoal("dance", "jig", 3)) < LONGEST
    )
    with pytest.raises(ValueError, match="no horizon was learned for the game chess"):
        learned_horizons("chess")


def test_learned_horizons__are_there_for_each_way_to_tell_distances():
    horizons = learned_horizons("minetechtree")
    assert list(horizons) == ["exact", "rough", "names"]
    for feature in ("way", "way squared"):  # where no distance is told, none was learned from
        index = horizons["names"].features.index(feature)
        assert not horizons["names"].weights[index].any()


def test_learned_horizon__is_near_the_truth_in_worlds_that_it_never_saw():
    horizon, errors = learned_horizons("minetechtree")["exact"], []
    env = gym.make("MineTechTree-v0", costs=True)
    for seed in range(40):
        _, info = env.reset(seed=seed)
        for item, (walk, each) in info["costs"].items():
            verb = "mine" if item.endswith("log") else "hunt"
            truth = walk + 3 * each
            expected = horizon.expected(Subgoal(verb, item, 3, walk // 5, source(item)))
            errors.append(abs(expected - truth) / truth)
    assert statistics.median(errors) < 0.2
    assert len(errors) > 200
