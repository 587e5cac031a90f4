"""Run folders that are shown side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from textcraft_gym.reports.folders import named


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        (["runs/react", "other/adapt/"], ["react", "adapt"]),
        (["runs/react/seed0", "runs/adapt/seed0"], ["react/seed0", "adapt/seed0"]),
        (["/tmp/mine/run", "/tmp/mine/again/run"], ["run", "again/run"]),
        (["x", "x/x"], ["x", "x/x"]),
    ],
)
def test_named__has_short_names_that_are_no_paths_of_the_machine(runs: list[str], names: list[str]):
    assert named(list(map(Path, runs))) == dict(zip(names, map(Path, runs), strict=True))
