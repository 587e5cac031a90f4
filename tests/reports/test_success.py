from __future__ import annotations

import random
from fractions import Fraction
from itertools import chain, combinations, pairwise
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
    Estimate,
    Outcomes,
    interval,
    pass_at_k,
    pass_hat_k,
    pass_rates,
    wilson_interval,
)

COUNTS = st.integers(1, 9).flatmap(
    lambda episodes: st.builds(
        Outcomes, st.uuids().map(str), st.integers(0, episodes), st.just(episodes)
    )
)


@given(COUNTS, st.data())
def test_pass_at_k__is_the_share_of_all_choices_of_k_episodes(count: Outcomes, data: st.DataObject):
    _, won, episodes = count
    k = data.draw(st.integers(1, episodes))
    choices = list(combinations([True] * won + [False] * (episodes - won), k))
    assert isclose(
        pass_at_k(episodes, won, k), sum(map(any, choices)) / len(choices), abs_tol=1e-12
    )
    assert isclose(
        pass_hat_k(episodes, won, k), sum(map(all, choices)) / len(choices), abs_tol=1e-12
    )


@given(st.lists(COUNTS, max_size=9))
def test_pass_rates__are_shares_that_part_with_more_attempts(counts: list[Outcomes]):
    rates = pass_rates(counts)
    assert [rate.k for rate in rates] == list(
        range(1, max((task.episodes for task in counts), default=0) + 1)
    )
    for rate in rates:
        for task_mean in (rate.at_least_one, rate.every):
            assert 0 <= task_mean.low <= task_mean.mean + 1e-9 <= task_mean.high + 2e-9 <= 1 + 3e-9
        assert rate.every.mean <= rate.at_least_one.mean + 1e-9
        assert rate.tasks == sum(task.episodes >= rate.k for task in counts)


@given(st.integers(1, 6), st.data())
def test_pass_rates__of_as_many_episodes_of_each_task_are_monotone(
    episodes: int, data: st.DataObject
):
    won = data.draw(st.lists(st.integers(0, episodes), min_size=1, max_size=9))
    rates = pass_rates([Outcomes(str(task), wins, episodes) for task, wins in enumerate(won)])
    for fewer, more in pairwise(rates):
        assert fewer.at_least_one.mean <= more.at_least_one.mean + 1e-9
        assert fewer.every.mean >= more.every.mean - 1e-9
    assert isclose(rates[0].every.mean, sum(won) / episodes / len(won), abs_tol=1e-12)


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_interval__of_one_episode_each_is_wilsons(won: list[bool]):
    estimate = interval(list(map(float, won)), len(won))
    expected = sum(won) / len(won), *wilson_interval(sum(won), len(won))
    assert (estimate.mean, estimate.low, estimate.high) == pytest.approx(expected, abs=1e-12)


def bounds(*arguments) -> tuple[float, float]:
    estimate = interval(*arguments)
    return estimate.low, estimate.high


def test_interval__has_at_least_as_many_episodes_as_tasks_and_at_most_all():
    alike, varied, even = [1.0, 0.0] * 20, [0.45, 0.55] * 20, [0.5] * 40
    assert bounds(alike, 160) == pytest.approx(wilson_interval(20, 40))
    assert bounds(varied, 160) == bounds(even, 160) == pytest.approx(wilson_interval(80, 160))
    assert bounds([1.0] * 9, 36) == wilson_interval(9, 9)
    assert interval([], 0) == Estimate(None, 0.0, 1.0)


def test_interval__counts_families_whose_tasks_are_alike_once():
    families = [number // 3 for number in range(120)]
    shares = [float(family % 2) for family in families]
    assert bounds(shares, 120, families) == pytest.approx(wilson_interval(20, 40))
    assert bounds(shares, 360, families) == pytest.approx(wilson_interval(20, 40))
    assert bounds(shares, 120) == pytest.approx(wilson_interval(60, 120))


def test_interval__of_families_of_unequal_sizes_is_of_kishs_number():
    families = [0] * 10 + [*range(1, 11)]
    assert bounds([1.0] * 20, 20, families) == wilson_interval(400 / 110, 400 / 110)
    assert bounds([1.0] * 20, 20, [0] * 20) == wilson_interval(1, 1)
    assert bounds([1.0, 0.0] * 10, 20, [0] * 20) == wilson_interval(0.5, 1)


def test_interval__is_about_that_of_many_draws_of_families():
    rng = random.Random(3)
    sizes = [16, 15, 15, 10, 9, 7, 6, 6, 4, 4, 4, 3, 3, 3, 2, 2, *[1] * 91]
    members = []
    for size in sizes:
        chance = rng.betavariate(1, 1)
        members.append([float(rng.random() < chance) for _ in range(size)])
    families = [number for number, size in enumerate(sizes) for _ in range(size)]
    means = []
    for _ in range(4000):
        drawn = list(chain.from_iterable(rng.choices(members, k=len(members))))
        means.append(sum(drawn) / len(drawn))
    low, high = bounds(list(chain.from_iterable(members)), len(families), families)
    by_draws = sorted(means)
    assert (low, high) == pytest.approx((by_draws[100], by_draws[3900]), abs=0.03)


DESIGNS = {
    "a goal each": ([1] * 200, 1),
    "three seeds": ([1] * 40, 3),
    "five seeds": ([1] * 100, 5),
    "fours": ([4] * 25, 1),
    "TextCraft's families": ([16, 15, 15, 10, 9, 7, 6, 6, 4, 4, 4, 3, 3, 3, 2, 2, *[1] * 91], 1),
    "its three seeds": ([16, 15, 15, 10, 9, 7, 6, 6, 4, 4, 4, 3, 3, 3, 2, 2, *[1] * 91], 3),
}
"""Sizes of families, and episodes of each task."""


@pytest.mark.parametrize("design", DESIGNS)
def test_interval__covers_the_truth_as_often_as_it_says(design: str):
    """In half of the tasks of a family the chance of a win is the family's, else their own."""
    sizes, seeds = DESIGNS[design]
    families = [number for number, size in enumerate(sizes) for _ in range(size)]
    rng = random.Random(0)
    covered = 0
    for _ in range(2000):
        truth = rng.uniform(0.1, 0.9)

        def chance(truth: float = truth) -> float:
            return rng.betavariate(3 * truth, 3 * (1 - truth))

        of_family = [chance() for _ in sizes]
        shares = []
        for family in families:
            own = of_family[family] if rng.random() < 0.5 else chance()
            shares.append(sum(rng.random() < own for _ in range(seeds)) / seeds)
        low, high = bounds(shares, len(shares) * seeds, families)
        covered += low <= truth <= high
    assert 0.94 <= covered / 2000 <= 0.97


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
