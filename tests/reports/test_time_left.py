from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

import pytest

from textcraft_gym.reports.time_left import ENOUGH, TimeLeft

SHORT, LONG = 12.0, 400.0
IS_LONG = {"easy": 0.1, "middle": 0.4, "hard": 0.7}
"""Share of long episodes by group."""
EPISODES = 60


def schedule(seed: int, *, in_order: bool) -> list[tuple[str, float]]:
    """Return groups and durations of episodes: wins are short, losses long."""
    rng = random.Random(seed)
    groups = [list(IS_LONG)[3 * number // EPISODES] for number in range(EPISODES)]
    if not in_order:
        rng.shuffle(groups)
    episodes = []
    for group in groups:
        duration = LONG if rng.random() < IS_LONG[group] else SHORT
        episodes.append((group, duration * rng.uniform(0.7, 1.3)))
    return episodes


def played(
    episodes: list[tuple[str, float]], workers: int
) -> Iterator[tuple[int, float, float | None, float]]:
    """Play episodes, and yield after each how many ended, the time, what is left, and old speed."""
    time_left = TimeLeft(Counter(group for group, _ in episodes), start=0.0)
    waiting = list(enumerate(episodes))
    ends: dict[int, float] = {}
    now = 0.0
    for ended in range(1, len(episodes) + 1):
        while waiting and len(ends) < workers:
            number, (group, duration) = waiting.pop(0)
            time_left.begin(f"task {number}", group, now)
            ends[number] = now + duration
        first = min(ends, key=lambda number: ends[number])
        now = ends.pop(first)
        time_left.end(f"task {first}", now)
        yield ended, now, time_left.seconds(now), now / ended * (len(episodes) - ended)


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("workers", [1, 4, 16])
def test_time_left__is_near_the_truth_once_it_is_shown(workers: int, in_order: bool):
    ratios, naive, shown_from = [], [], []
    for seed in range(20):
        states = list(played(schedule(seed, in_order=in_order), workers))
        end = states[-1][1]
        shown = [state for state in states if state[2] is not None and state[0] < EPISODES - 5]
        shown_from.append(shown[0][0] if shown else EPISODES)
        for _, now, left, _ in shown:
            ratios.append(left / (end - now))
        naive += [old / (end - now) for ended, now, _, old in states[ENOUGH - 1 : -5]]
    assert share_wrong(ratios) < share_wrong(naive) / 2
    assert 0.7 < median(ratios) < 1.5
    assert median(shown_from) < EPISODES - 5


def share_wrong(ratios: Sequence[float]) -> float:
    """Return the share of estimates that are far from the truth."""
    return sum(not 0.4 < ratio < 2.5 for ratio in ratios) / len(ratios)


def test_time_left__is_not_told_by_the_short_ones_that_end_first():
    time_left = TimeLeft({"all": 20}, start=0.0)
    for number in range(8):
        time_left.begin(f"task {number}", "all", 0.0)
    for number in range(7):
        time_left.end(f"task {number}", 10.0)
    assert time_left.seconds(10.0) is None, "one of the first eight has not ended"
    time_left.end("task 7", 100.0)
    assert time_left.seconds(100.0) == pytest.approx(12 * 21.25 / 1.7)


def test_time_left__is_not_told_by_other_groups():
    time_left = TimeLeft({"easy": 8, "hard": 2}, start=0.0)
    for number in range(8):
        time_left.begin(f"task {number}", "easy", 10.0 * number)
        time_left.end(f"task {number}", 10.0 * (number + 1))
        told = time_left.seconds(10.0 * (number + 1)) is not None
        assert not told
    time_left.begin("task 8", "hard", 80.0)
    time_left.end("task 8", 180.0)
    assert time_left.seconds(180.0) == 100.0
    time_left.begin("task 9", "hard", 180.0)
    time_left.end("task 9", 300.0)
    assert time_left.seconds(300.0) == 0.0
