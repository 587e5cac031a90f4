from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from textcraft_gym.cli.progress import _playing


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
