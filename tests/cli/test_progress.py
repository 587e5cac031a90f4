from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from textcraft_gym import RunSpec
from textcraft_gym.cli.console import Console
from textcraft_gym.cli.progress import _Lines, _playing, evaluate_with_progress
from textcraft_gym.reports.tally import Tally


@given(
    st.lists(st.text("abc 表", min_size=1, max_size=12), min_size=1, max_size=30),
    st.integers(50, 120),
)
def test_playing__names_whole_tasks_and_counts_the_others(tasks: list[str], width: int):
    line = _playing(tasks, width)
    assert cell_len(line) <= width
    names, _, more = line.removeprefix("playing ").partition(" and ")
    shown = len(tasks) - int(more.removesuffix(" more") or 0)
    assert names == ", ".join(tasks[:shown])


class Bill:
    """Reports what its calls cost, and ends the progress before its own end."""

    def episode(self, play):
        for _ in range(3):
            play.report(prompt_tokens=10, cost=0.25)
            yield from play.act("inventory")
        raise KeyboardInterrupt


def test_lines__count_the_calls_of_an_episode_under_way(tmp_path: Path):
    log = StringIO()
    with pytest.raises(KeyboardInterrupt):
        evaluate_with_progress(
            RunSpec("TextCraft-v0", "dev", Bill, model=None, limit=1), tmp_path, Console(file=log)
        )
    assert re.search(
        r": 0 of 1 episodes, won 0, .* calls/s, .* cost 0\.75, 0:\d\d elapsed", log.getvalue()
    )


def test_lines__of_half_a_minute_differ():
    log = StringIO()
    lines = _Lines("a run", Console(file=log))
    for now in (120.0, 150.0):
        times = iter((0.0, now, now, now))
        lines.show(Tally(2, clock=lambda times=times: next(times)))
        lines._print()
    assert log.getvalue().splitlines() == [
        "a run: 0 of 2 episodes, won 0, errors 0, 2:00 elapsed",
        "a run: 0 of 2 episodes, won 0, errors 0, 2:30 elapsed",
    ]
