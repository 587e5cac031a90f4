from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from textcraft_gym.evaluation.metrics import summarise, summarise_by_depth, wilson_interval
from textcraft_gym.evaluation.report import markdown_table


@given(st.integers(1, 500).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_wilson_interval__agrees_with_scipy(counts: tuple[int, int]):
    interval = binomtest(*counts).proportion_ci(method="wilson")
    assert wilson_interval(*counts) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_wilson_interval__knows_nothing_without_trials():
    assert wilson_interval(0, 0) == (0.0, 1.0)


def record(depth: int = 2, won: bool = True, **more) -> dict:
    return {"depth": depth, "won": won, "reward": float(won), "steps": 6, "optimal_length": 3, **more}


def test_summarise__keeps_errors_out_of_every_rate():
    summary = summarise([record(), record(won=False, steps=100), {"depth": 2, "error": "boom"}])
    assert (summary.episodes, summary.errors, summary.won, summary.rate) == (2, 1, 1, 0.5)
    assert (summary.reward, summary.steps, summary.steps_over_optimal) == (0.5, 53, 2.0)
    assert (summary.low, summary.high) == wilson_interval(1, 2)


def test_summarise__of_errors_alone_has_no_rate():
    summary = summarise([{"depth": 2, "error": "boom"}])
    assert (summary.episodes, summary.errors, summary.rate, summary.reward) == (0, 1, None, None)


def test_summarise_by_depth__has_a_row_a_depth_and_one_for_all():
    by_depth = summarise_by_depth([record(4, False), record(2), record(2, False), record(3)])
    assert {depth: (s.won, s.episodes) for depth, s in by_depth.items()} == {
        "2": (1, 2),
        "3": (1, 1),
        "4": (0, 1),
        "all": (2, 4),
    }
    assert list(by_depth) == ["2", "3", "4", "all"]


def test_markdown_table__shows_each_run_and_depth():
    lines = markdown_table({"a": summarise_by_depth([record()]), "b": summarise_by_depth([{"depth": 2, "error": "x"}])})
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in lines.splitlines()]
    assert rows[2] == ["a", "2", "1", "1", "100.0", "20.7-100.0", "6.0", "2.00", "0"]
    assert rows[4] == ["b", "2", "0", "0", "-", "0.0-100.0", "-", "-", "1"]
    assert len(rows) == 6
