from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.reports.tables import seconds
from textcraft_gym.reports.timing import latency, timing


def record(duration: float, **more) -> dict:
    return {"seconds": duration, "model_seconds": 0.0, "calls": {}, **more}


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=50))
def test_timing__agrees_with_numpy(durations: list[float]):
    times = timing(map(record, durations))
    assert times
    assert (times.episodes, times.longest) == (len(durations), max(durations))
    assert (times.mean, times.median) == pytest.approx((np.mean(durations), np.median(durations)))
    assert times.slow == np.quantile(durations, 0.95, method="inverted_cdf")


def test_timing__divides_the_time_in_models_by_all_calls():
    times = timing(
        [
            record(5, model_seconds=4, calls={"executor": 1}),
            record(9, model_seconds=8, calls={"executor": 3, "planner": 2}),
        ]
    )
    assert times
    assert (times.model, times.latency) == (6, 2)
    assert latency(record(9, model_seconds=8, calls={"executor": 3, "planner": 1})) == 2


def test_timing__leaves_out_errors_and_what_was_not_timed():
    broken = record(100, error="boom")
    times = timing([broken, record(1), {"calls": {}}])
    assert times
    assert (times.episodes, times.mean, times.latency) == (1, 1, None)
    assert timing([broken]) is None
    assert latency({"calls": {"executor": 1}}) is None


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        (None, "-"),
        (1234.5, "1234"),
        (99.96, "100"),
        (12.345, "12.3"),
        (0.5, "0.5"),
        (0.0123, "0.012"),
        (0.0, "0"),
    ],
)
def test_seconds__have_two_or_three_digits(duration: float | None, words: str):
    assert seconds(duration) == words
