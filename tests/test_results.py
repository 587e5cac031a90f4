"""The published results are what the code gives."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from textcraft_gym.evaluation.runner import Config
from textcraft_gym.evaluation.sweep import Cell, sweep, tidy

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"


def published() -> list[dict[str, str]]:
    return list(csv.DictReader((RESULTS / "simulated.csv").read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize(
    "cell",
    [
        Cell("react", None, "simulated:span=5"),
        Cell("adapt", 3, "simulated:span=3"),
        Cell("plan_and_execute", None, "simulated:span=4"),
        Cell("try_again", 4, "simulated:span=6"),
        Cell("reflexion", 2, "simulated:span=4"),
    ],
    ids=lambda cell: cell.name,
)
def test_results__are_played_again(cell: Cell, tmp_path: Path):
    rows = tidy(sweep(Config("TextCraft-v0", "test", ""), [cell], tmp_path))
    about = (cell.agent, str(cell.d_max or ""), cell.model)
    assert rows == [row for row in published() if (row["agent"], row["d_max"], row["model"]) == about]


def test_results__are_whole_sweeps_and_labelled():
    readme = (RESULTS / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# Results of a simulated model\n")
    assert "Simulated model" in (RESULTS / "success.svg").read_text(encoding="utf-8")
    rows = [row for row in published() if row["group"] == "all"]
    assert {row["episodes"] for row in rows} == {"200"}
    assert {row["errors"] for row in rows} == {"0"}
    spans = {row["model"] for row in rows}
    assert len(rows) == (2 + 3 * 4) * len(spans)
    table = readme.split("## Tasks won (%), by span\n")[1].split("\n## ")[0]
    for line in re.findall(r"^\| ([a-z_]+) \| (\S+) \| (.+) \|$", table, re.MULTILINE)[1:]:
        agent, d_max, told = line[0], line[1].replace("-", ""), line[2].split(" | ")
        found = [f"{100 * float(row['rate']):.1f}" for row in rows if (row["agent"], row["d_max"]) == (agent, d_max)]
        assert told == found, line
