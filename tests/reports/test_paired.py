"""What decides whether rows of a published table can be told apart."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.reports.paired import (
    decidable,
    episodes_for_power,
    fisher_p_value,
    mcnemar_p_value,
    sum_of_means_interval,
)


@given(st.data())
def test_fisher_p_value__is_scipys(data: st.DataObject):
    from scipy.stats import fisher_exact

    episodes = [data.draw(st.integers(1, 150)) for _ in range(2)]
    won = [data.draw(st.integers(0, count)) for count in episodes]
    table = [[hits, count - hits] for hits, count in zip(won, episodes, strict=True)]
    first, second = zip(won, episodes, strict=True)
    p_value = fisher_p_value(first, second)
    assert p_value == pytest.approx(fisher_exact(table).pvalue, rel=1e-6)
    assert p_value == fisher_p_value(second, first)


def test_fisher_p_value__of_episodes_of_the_papers():
    assert fisher_p_value((96, 134), (58, 134)) < 0.0001  # ADaPT's table 1, ADaPT and ReAct
    assert fisher_p_value((4, 5), (2, 5)) > 0.05  # five episodes a cell
    assert fisher_p_value((5, 5), (0, 5)) < 0.05
    assert fisher_p_value((1005, 2070), (815, 2070)) == pytest.approx(3.17e-9, rel=0.01)


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [([134] * 6, 6), ([5] * 3, 0), ([6], 1), ([6, 6], 0), ([134, 134, 6], 3), ([], 0)],
)
def test_decidable__is_what_as_many_tasks_can_reach(tasks: list[int], expected: int):
    """The least p-value of 6 tasks is 0.031: enough where all other pairs are decided."""
    assert decidable(tasks) == expected


def test_sum_of_means_interval__covers_the_sum():
    rng = random.Random(1)
    inside = 0
    for _ in range(1000):
        samples = []
        for mean, spread in ((5, 2), (-3, 4)):  # each value stands twice, as in a family
            values = [Fraction(rng.gauss(mean, spread)) for _ in range(60)] * 2
            samples.append((values, [*range(60)] * 2))
        low, high = sum_of_means_interval(samples)
        inside += low < 2 < high
    assert 930 <= inside <= 970
    wide, narrow = (sum_of_means_interval(samples, level) for level in (0.01, 0.05))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize(("first", "second"), [(0.716, 0.433), (0.32, 0.19), (0.9, 0.6)])
def test_episodes_for_power__have_the_chance(first: float, second: float):
    number = episodes_for_power(first, second, 0.05, 0.8)
    rng = random.Random(1)
    clear = 0
    for _ in range(2000):
        wins = [(rng.random() < first, rng.random() < second) for _ in range(number)]
        gained, lost = (wins.count(pair) for pair in ((True, False), (False, True)))
        clear += mcnemar_p_value(gained, lost) < 0.05
    assert 0.72 < clear / 2000 < 0.86


def test_episodes_for_power__are_as_many_as_the_least_p_value_takes():
    assert episodes_for_power(1.0, 0.0) == 6
