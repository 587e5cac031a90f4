from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, pairwise
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.reports.paired import (
    mcnemar_p_value,
    paired_interval,
    paired_p_value,
    sign_flip_p_value,
)
from textcraft_gym.reports.success import (
    cluster_bootstrap,
    mean_over_tasks,
    pass_at_k,
    pass_hat_k,
    pass_rates,
    wilson_interval,
)

COUNTS = st.integers(1, 9).flatmap(
    lambda episodes: st.tuples(st.just(episodes), st.integers(0, episodes))
)


@given(COUNTS, st.data())
def test_pass_at_k__is_the_share_of_all_choices_of_k_episodes(
    count: tuple[int, int], data: st.DataObject
):
    episodes, won = count
    k = data.draw(st.integers(1, episodes))
    choices = list(combinations([True] * won + [False] * (episodes - won), k))
    assert isclose(
        pass_at_k(episodes, won, k), sum(map(any, choices)) / len(choices), abs_tol=1e-12
    )
    assert isclose(
        pass_hat_k(episodes, won, k), sum(map(all, choices)) / len(choices), abs_tol=1e-12
    )


@given(st.lists(COUNTS, max_size=9))
def test_pass_rates__are_shares_that_part_with_more_attempts(counts: list[tuple[int, int]]):
    rates = pass_rates(counts)
    assert [rate.k for rate in rates] == list(
        range(1, max((episodes for episodes, _ in counts), default=0) + 1)
    )
    for rate in rates:
        for task_mean in (rate.at_least_one, rate.every):
            assert 0 <= task_mean.low <= task_mean.mean + 1e-9 <= task_mean.high + 2e-9 <= 1 + 3e-9
        assert rate.every.mean <= rate.at_least_one.mean + 1e-9
        assert rate.tasks == sum(episodes >= rate.k for episodes, _ in counts)


@given(st.integers(1, 6), st.data())
def test_pass_rates__of_as_many_episodes_of_each_task_are_monotone(
    episodes: int, data: st.DataObject
):
    won = data.draw(st.lists(st.integers(0, episodes), min_size=1, max_size=9))
    rates = pass_rates([(episodes, wins) for wins in won])
    for fewer, more in pairwise(rates):
        assert fewer.at_least_one.mean <= more.at_least_one.mean + 1e-9
        assert fewer.every.mean >= more.every.mean - 1e-9
    assert isclose(rates[0].every.mean, sum(won) / episodes / len(won), abs_tol=1e-12)


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_mean_over_tasks__of_one_episode_each_is_a_proportion(won: list[bool]):
    task_mean = mean_over_tasks(list(map(float, won)), len(won))
    assert (task_mean.mean, task_mean.low, task_mean.high) == (
        sum(won) / len(won),
        *wilson_interval(sum(won), len(won)),
    )


def test_mean_over_tasks__is_no_narrower_where_the_episodes_of_a_task_are_one():
    alike, varied = [1.0, 0.0] * 20, [0.5] * 40
    task_mean = mean_over_tasks(alike, 160)
    assert (task_mean.low, task_mean.high) == pytest.approx(wilson_interval(20, 40))
    task_mean = mean_over_tasks(varied, 160)
    assert (task_mean.low, task_mean.high) == pytest.approx(wilson_interval(80, 160))
    assert mean_over_tasks([], 0).mean is None
    assert mean_over_tasks([1.0] * 9, 36).low == wilson_interval(9, 9)[0]


@pytest.mark.parametrize(
    ("tasks", "repeats", "alpha", "beta"), [(30, 4, 1, 1), (50, 3, 0.3, 0.3), (40, 5, 20, 20)]
)
def test_mean_over_tasks__covers_the_truth_about_as_often_as_it_says(
    tasks: int, repeats: int, alpha, beta
):
    rng = random.Random(0)
    covered = 0
    for _ in range(150):
        chances = [rng.betavariate(alpha, beta) for _ in range(tasks)]
        shares = [
            sum(rng.random() < chance for _ in range(repeats)) / repeats for chance in chances
        ]
        task_mean = mean_over_tasks(shares, tasks * repeats)
        covered += task_mean.low <= alpha / (alpha + beta) <= task_mean.high
    assert 0.92 <= covered / 150 <= 0.98


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 5))
def test_sign_flip_p_value__of_whole_tasks_is_mcnemars(gained: int, lost: int, same: int):
    changes = [Fraction(1)] * gained + [Fraction(-1)] * lost + [Fraction(0)] * same
    assert sign_flip_p_value(changes) == pytest.approx(mcnemar_p_value(gained, lost))
    assert paired_p_value(changes) == mcnemar_p_value(gained, lost)


@given(st.lists(st.fractions(-1, 1, max_denominator=4), max_size=9))
def test_sign_flip_p_value__is_the_share_of_all_choices_of_signs(changes: list[Fraction]):
    sums = [Fraction(0)]
    for change in changes:
        sums = [total + sign * change for total in sums for sign in (1, -1)]
    expected = sum(abs(total) >= abs(sum(changes)) for total in sums) / len(sums)
    assert sign_flip_p_value(changes) == pytest.approx(expected)


def test_sign_flip_p_value__is_soon_found_for_many_tasks():
    rng = random.Random(0)
    changes = [Fraction(rng.randint(-7, 8), rng.choice((7, 8, 9))) for _ in range(2000)]
    assert 0 <= sign_flip_p_value(changes) <= 1


def test_paired_interval__covers_the_mean_change_of_shares():
    rng = random.Random(0)
    covered = 0
    for _ in range(150):
        changes = []
        for _ in range(50):
            first, second = rng.betavariate(1, 1), rng.betavariate(2, 1)
            wins = [sum(rng.random() < chance for _ in range(4)) for chance in (first, second)]
            changes.append(Fraction(wins[1] - wins[0], 4))
        low, high = paired_interval(changes)
        covered += low <= 2 / 3 - 1 / 2 <= high
    assert 0.92 <= covered / 150 <= 0.99


@pytest.mark.parametrize("seeds", [1, 3])
def test_cluster_bootstrap__is_the_interval_of_many_draws_of_tasks(seeds: int):
    rng = random.Random(seeds)
    shares = [Fraction(rng.randrange(seeds + 1), seeds) for _ in range(30)]
    means = sorted(sum(rng.choices(shares, k=30)) / 30 for _ in range(2000))
    low, high = cluster_bootstrap(shares)
    assert low == pytest.approx(float(means[50]), abs=0.035)
    assert high == pytest.approx(float(means[1950]), abs=0.035)


def test_cluster_bootstrap__of_tasks_that_are_alike_is_wilsons():
    assert cluster_bootstrap([Fraction(1)] * 8) == wilson_interval(8, 8)
    assert cluster_bootstrap([]) == (0, 1)
