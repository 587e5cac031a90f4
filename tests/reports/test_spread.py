from __future__ import annotations

from dataclasses import replace

import pytest

from textcraft_gym.reports.metrics import summarise
from textcraft_gym.reports.spread import Spread, spread
from textcraft_gym.reports.success import wilson_interval

EMPTY = summarise([])


def _run(won: int, episodes: int):
    return replace(
        EMPTY, won=won, tasks=episodes, episodes=episodes, rate=won / episodes if episodes else None
    )


def test_spread__is_the_deviation_of_the_runs_and_the_interval_of_one_runs_tasks():
    result = spread([_run(40, 100), _run(50, 100), _run(60, 100)])
    assert result == Spread(3, pytest.approx(0.5), pytest.approx(0.1), *wilson_interval(50, 100))
    assert str(result) == "50.0 ± 10.0 [40.4, 59.6]"


def test_spread__of_one_run_is_unknown_and_runs_without_episodes_do_not_count():
    result = spread([_run(1, 4), _run(0, 0)])
    assert (result.runs, result.rate, result.between_runs) == (1, 0.25, None)
    assert str(result) == "25.0 [4.6, 69.9]"
    assert str(spread([_run(0, 0)])) == "-"


def test_spread__more_seeds_do_not_narrow_the_interval_over_tasks():
    few, many = (spread([_run(30, 100)] * runs) for runs in (2, 20))
    assert (few.low, few.high) == (many.low, many.high)
    assert few.between_runs == many.between_runs == 0.0
