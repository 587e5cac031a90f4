from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from textcraft_gym.cli.app import app
from textcraft_gym.reports.compare import compare, task_sets, verdict, verdicts
from textcraft_gym.reports.paired import (
    holm,
    mcnemar_p_value,
    paired_interval,
    paired_p_value,
    power,
    two_sample_p_value,
)
from textcraft_gym.reports.success import wilson_interval
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate


@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemar_p_value__agrees_with_scipy(gained: int, lost: int):
    from scipy.stats import binomtest

    expected = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar_p_value(gained, lost) == pytest.approx(expected)


@pytest.mark.parametrize("size", [2, 5])
def test_two_sample_p_value__agrees_with_scipy(size: int):
    from scipy.stats import ttest_ind

    rng = random.Random(size)
    for shift in (0.0, 0.1, 0.5):
        first, second = ([rng.random() + more for _ in range(size)] for more in (0, shift))
        assert two_sample_p_value(first, second) == pytest.approx(
            ttest_ind(first, second).pvalue, rel=1e-4
        )
    assert two_sample_p_value([0.5] * size, [0.5] * size) == 1
    assert two_sample_p_value([0.5] * size, [0.6] * size) == pytest.approx(0, abs=1e-9)


def changes(gained: int, lost: int, tasks: int) -> list[Fraction]:
    """Changes of whole tasks."""
    return [Fraction(1)] * gained + [Fraction(-1)] * lost + [Fraction(0)] * (tasks - gained - lost)


@pytest.mark.parametrize(
    ("both", "only_first", "only_second"), [(0.5, 0.1, 0.1), (0.3, 0.05, 0.4), (0.9, 0.02, 0.03)]
)
def test_paired_interval__covers_the_truth_about_as_often_as_it_says(
    both: float, only_first: float, only_second: float
):
    @cache
    def interval(gained: int, lost: int) -> tuple[float, float]:
        return paired_interval(changes(gained, lost, 100))

    generator = random.Random(0)
    covered = 0
    for _ in range(1000):
        drawn = [generator.random() for _ in range(100)]
        lost = sum(both <= x < both + only_first for x in drawn)
        gained = sum(both + only_first <= x < both + only_first + only_second for x in drawn)
        low, high = interval(gained, lost)
        covered += low <= only_second - only_first <= high
    assert 0.93 <= covered / 1000 <= 0.99


CHANGES = st.lists(
    st.sampled_from([Fraction(n, d) for d in (1, 2, 3) for n in range(-d, d + 1)]), max_size=12
)


@given(
    st.one_of(CHANGES, st.builds(changes, st.integers(0, 30), st.integers(0, 30), st.just(60))),
    st.sampled_from([0.05, 0.05 / 3, 0.05 / 45]),
)
def test_paired_interval__excludes_0_exactly_where_the_test_is_clear(
    differences: list[Fraction], level: float
):
    low, high = paired_interval(differences, level=level)
    mean = float(sum(differences) / len(differences)) if differences else 0.0
    assert -1 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= 1
    assert (low > 0 or high < 0) == (paired_p_value(differences) < level)


def test_paired_interval__of_whole_tasks_that_all_change_is_clopper_and_pearsons():
    from scipy.stats import binomtest

    limits = binomtest(14, 20).proportion_ci(method="exact")
    low, high = paired_interval(changes(14, 6, 20))
    share = wilson_interval(20, 20)[0]
    assert low == pytest.approx((2 * limits.low - 1) * (1 if limits.low < 0.5 else share), abs=0.01)
    assert high == pytest.approx(2 * limits.high - 1)


FAMILIES = st.lists(
    st.tuples(st.sampled_from([Fraction(n, 2) for n in range(-2, 3)]), st.integers(0, 4)),
    min_size=1,
    max_size=12,
)


@given(FAMILIES, st.sampled_from([0.05, 0.05 / 45]))
def test_paired_interval__of_families_excludes_0_where_their_test_is_clear(
    tasks: list[tuple[Fraction, int]], level: float
):
    differences, families = zip(*tasks, strict=True)
    low, high = paired_interval(differences, families, level)
    mean = float(sum(differences) / len(differences))
    assert -1 <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= 1
    assert (low > 0 or high < 0) == (paired_p_value(differences, families) < level)


def test_paired_p_value__counts_what_a_family_gains_once():
    """Six families of three tasks, all gained, are no clearer than six tasks."""
    gained, families = [Fraction(1)] * 18, [number // 3 for number in range(18)]
    assert paired_p_value(gained, families) == mcnemar_p_value(6, 0)
    assert paired_p_value(gained) == mcnemar_p_value(18, 0)
    assert paired_interval(gained, families)[0] < paired_interval(gained)[0]
    cancelled = [Fraction(1), Fraction(-1)] * 6
    assert paired_p_value(cancelled, [number // 2 for number in range(12)]) == 1.0


def test_compare__takes_families_as_independent_and_says_how_many():
    first = [record(str(n), False, family=str(n // 3)) for n in range(18)]
    second = [record(str(n), True, family=str(n // 3)) for n in range(18)]
    comparison = compare(first, second)
    assert (comparison.tasks, comparison.families) == (18, 6)
    assert comparison.p_value == mcnemar_p_value(6, 0)
    ranking = verdict({"first": first, "second": second})
    assert (ranking.tasks, ranking.families) == (18, 6)
    (pair,) = ranking.pairs
    assert (pair.p_value, pair.low) == (comparison.p_value, pytest.approx(comparison.low))


def test_paired_interval__knows_little_without_tasks():
    low, high = paired_interval([])
    assert low == -high <= -0.9


def record(task: str, won: bool, **more) -> dict:
    return {"task": task, "family": task, "won": won} | more


def test_compare__pairs_by_task_and_leaves_out_what_broke():
    first = [
        record("a", True),
        record("b", True),
        record("c", False),
        record("d", False),
        record("e", True),
    ]
    second = [
        record("d", False),
        record("c", True),
        record("b", False),
        record("a", True),
        {"task": "e", "family": "e", "error": "boom"},
        record("f", True),
    ]
    comparison = compare(first, second)
    assert (comparison.tasks, comparison.left_out, comparison.both, comparison.neither) == (
        4,
        2,
        1,
        1,
    )
    assert (comparison.gained, comparison.lost, comparison.difference, comparison.p_value) == (
        ("c",),
        ("b",),
        0.0,
        1.0,
    )
    assert (comparison.low, comparison.high) == paired_interval(changes(1, 1, 4))


def test_compare__turns_round_with_its_runs():
    first = [record(str(n), n % 3 == 0) for n in range(50)]
    second = [record(str(n), n % 2 == 0) for n in range(50)]
    there, back = compare(first, second), compare(second, first)
    assert there == back.reverse
    assert there.difference == -(back.difference or 0)
    assert (there.low, there.gained) == (-back.high, back.lost)


def test_compare__of_nothing_has_no_difference():
    comparison = compare([], [record("a", True)])
    assert (comparison.tasks, comparison.left_out, comparison.difference, comparison.p_value) == (
        0,
        1,
        None,
        1.0,
    )


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0.001, 0.999))
def test_holm__calls_clear_what_the_stepwise_procedure_rejects(p_values: list[float], level: float):
    rejected: set[int] = set()
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] * (len(p_values) - step) >= level:
            break
        rejected.add(index)
    adjusted = [of_test.p_value for of_test in holm(p_values)]
    assert {index for index, p_value in enumerate(adjusted) if p_value < level} == rejected


OUTCOMES = st.lists(st.sampled_from([True, False, None]), min_size=5, max_size=5)


def played(outcomes: list[bool | None]) -> list[dict]:
    """Records of one run: None is an episode with an error."""
    return [
        record(f"task {n}", bool(won), error="boom" if won is None else None)
        for n, won in enumerate(outcomes)
    ]


@given(OUTCOMES, OUTCOMES)
def test_verdict__of_two_runs_is_their_comparison(
    first: list[bool | None], second: list[bool | None]
):
    runs = {"first": played(first), "second": played(second)}
    ranking = verdict(runs)
    best, other = ranking.standings
    expected = compare(runs[other.run], runs[best.run])
    assert other.behind is not None
    assert other.behind.comparison == expected
    assert other.behind.p_value == expected.p_value
    assert (other.behind.low, other.behind.high) == pytest.approx((expected.low, expected.high))
    assert (ranking.tasks, ranking.left_out) == (expected.tasks, expected.left_out)
    assert ranking.pairs == (other.behind,)
    assert best.won >= other.won
    assert best.won - other.won == len(expected.gained) - len(expected.lost)
    assert ranking.winner == (best.run if expected.p_value < 0.05 else None)


@given(st.lists(OUTCOMES, min_size=1, max_size=4))
def test_verdict__ranks_runs_by_the_tasks_that_all_have_played(outcomes: list[list[bool | None]]):
    runs = {str(number): played(of_run) for number, of_run in enumerate(outcomes)}
    shared = [of_task for of_task in zip(*outcomes, strict=True) if None not in of_task]
    ranking = verdict(runs)
    assert ranking.tasks == len(shared)
    assert [standing.run for standing in ranking.standings] == sorted(
        runs, key=lambda run: -sum(of_task[int(run)] or 0 for of_task in shared)
    )
    for standing in ranking.standings:
        assert standing.won == sum(of_task[int(standing.run)] or 0 for of_task in shared)
        assert (standing.behind is None) == (standing is ranking.standings[0])


def test_verdict__needs_more_from_more_runs():
    def behind(count: int) -> list:
        runs = {str(number): played([number == 0] * 6) for number in range(count)}
        ranking = verdict(runs)
        assert len(ranking.pairs) == count * (count - 1) // 2
        assert (ranking.winner == "0") == (count == 2)
        return [standing.behind for standing in ranking.standings[1:]]

    (two,) = behind(2)
    assert two.p_value == 0.03125
    three = behind(3)
    assert [pair.p_value for pair in three] == [0.09375, 0.09375]
    for pair in three:
        assert pair.low < two.low  # the interval is adjusted as the p-value is
        assert pair.comparison.low == pytest.approx(two.low)
    assert verdict({"0": []}).winner is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm__intervals_have_the_level_of_the_step_that_decides(p_values: list[float]):
    """An interval of a normal estimate excludes 0 exactly where its adjusted p-value is small."""
    normal = NormalDist()
    for p_value, adjusted in zip(p_values, holm(p_values), strict=True):
        if abs(adjusted.p_value - 0.05) < 1e-6 or p_value < 1e-300:
            continue
        estimate = -normal.inv_cdf(p_value / 2)  # in standard errors
        excludes = estimate > -normal.inv_cdf(adjusted.level / 2)
        assert excludes == (adjusted.p_value < 0.05)


@given(st.lists(st.sets(st.integers(0, 9)), max_size=6))
def test_task_sets__keep_apart_what_shares_less_than_half(tasks: list[set[int]]):
    runs = {str(number): {str(task) for task in own} for number, own in enumerate(tasks)}
    sets = task_sets(runs)
    assert sorted(run for members in sets for run in members) == sorted(runs)
    for first, second in combinations(runs, 2):
        together = any({first, second} <= {*members} for members in sets)
        shared = len(runs[first] & runs[second])
        if shared * 2 < max(len(runs[first]), len(runs[second])):
            assert not together
        elif runs[first] == runs[second]:
            assert together


def test_verdicts__do_not_reduce_two_hundred_tasks_to_six():
    few, many = [True] * 6, [True] * 200
    rankings = verdicts(
        {"few": played(few), "many": played(many), "less": played(few), "more": played(many)}
    )
    assert [of_set.tasks for of_set in rankings] == [6, 200]
    assert [standing.run for of_set in rankings for standing in of_set.standings] == [
        "few",
        "less",
        "many",
        "more",
    ]


@pytest.mark.parametrize("pairs", [1, 3])
def test_power__is_where_the_test_begins_to_tell(pairs: int):
    for tasks in range(1, 30):
        clear = [gained for gained in range(tasks + 1) if pairs * mcnemar_p_value(gained, 0) < 0.05]
        said = power(tasks, tasks, pairs=pairs)
        if clear:
            assert f" {100 * clear[0] / tasks:.3g} points" in said
        else:
            assert "no difference can reach p < 0.05" in said
    assert power(8, 8) == "With 8 tasks nothing below 75 points can reach p < 0.05."
    assert power(8, 8, repeats=2) == ""
    assert "no difference" in power(5, 5, repeats=2)
    in_families = power(60, 9)
    assert in_families == "With 60 tasks in 9 families nothing below 10 points can reach p < 0.05."
    assert "in 5 families no difference" in power(60, 5)


def test_mcnemar_p_value__of_thousands_of_tasks():
    from scipy.stats import binomtest

    assert mcnemar_p_value(2000, 2200) == pytest.approx(binomtest(2000, 4200).pvalue)


def test_compare__is_a_command(tmp_path: Path):
    for agent in ("random", "expert"):
        evaluate(RunSpec("TextCraft-v0", "test", agent, limit=8, max_steps=30), tmp_path / agent)
    arguments = ["compare", str(tmp_path / "random"), str(tmp_path / "expert")]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "120"}, catch_exceptions=False)
    words = " ".join(result.output.split())
    assert "only random won 0" in words
    assert "over 8 tasks; exact p of McNemar's test = " in words
