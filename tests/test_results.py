"""The published results are what the code gives."""

from __future__ import annotations

import csv
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from textcraft_gym.agents.deps.selector import SELECTORS
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.sweep import Cell, sweep, tidy

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
RESULTS = BENCHMARKS / "results"


STUDIES = {
    "textcraft": ("TextCraft-v0", "test", 200, 4),
    "alfworld": ("ALFWorld-v0", "valid_unseen", 134, 3),
    "webshop": ("WebShopLite-v0", "adapt_test", 100, 3),
    "minetechtree": ("MineTechTree-v0", "core71", 71, 4),
}
"""What each is played on, how many tasks these are, and the greatest d_max."""


def published(study: str) -> list[dict[str, str]]:
    return list(csv.DictReader((RESULTS / f"{study}.csv").read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize(
    ("study", "cell"),
    [
        ("textcraft", Cell("react", None, "simulated:span=5")),
        ("textcraft", Cell("adapt", 3, "simulated:span=3")),
        ("textcraft", Cell("plan_and_execute", None, "simulated:span=4")),
        ("textcraft", Cell("try_again", 4, "simulated:span=6")),
        ("textcraft", Cell("reflexion", 2, "simulated:span=4")),
        ("alfworld", Cell("adapt", 3, "simulated:span=3")),
        ("alfworld", Cell("try_again", 2, "simulated:span=4")),
        ("alfworld", Cell("reflexion", 3, "simulated:span=4")),
        ("webshop", Cell("react", None, "simulated:span=8")),
        ("webshop", Cell("plan_and_execute", None, "simulated:span=7")),
        ("webshop", Cell("try_again", 3, "simulated:span=7")),
        ("webshop", Cell("reflexion", 2, "simulated:span=6")),
        ("webshop", Cell("adapt", 3, "simulated:span=5")),
        ("minetechtree", Cell("react", None, "simulated:span=10")),
        ("minetechtree", Cell("plan_and_execute", None, "simulated:span=7")),
        ("minetechtree", Cell("try_again", 2, "simulated:span=9")),
        ("minetechtree", Cell("reflexion", 3, "simulated:span=6")),
        ("minetechtree", Cell("adapt", 4, "simulated:span=5")),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_results__are_played_again(study: str, cell: Cell, tmp_path: Path):
    env, split, *_ = STUDIES[study]
    rows = tidy(sweep(RunSpec(env, split, ""), [cell], tmp_path))
    about = (cell.agent, str(cell.d_max or ""), cell.model)
    assert rows == [row for row in published(study) if (row["agent"], row["d_max"], row["model"]) == about]


@pytest.mark.parametrize("study", STUDIES)
def test_results__are_whole_sweeps_and_labelled(study: str):
    env, _, episodes, deepest = STUDIES[study]
    text = (RESULTS / f"{study}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {env}: results of a simulated model\n")
    assert "Simulated model" in (RESULTS / f"{study}.svg").read_text(encoding="utf-8")
    assert f"({study}.md)" in (RESULTS / "README.md").read_text(encoding="utf-8")
    rows = [row for row in published(study) if row["group"] == "all"]
    assert {row["episodes"] for row in rows} == {str(episodes)}
    assert {row["errors"] for row in rows} == {"0"}
    spans = {row["model"] for row in rows}
    assert len(rows) == (2 + 3 * deepest) * len(spans)
    tables = {"Tasks won (%)": "rate"} | ({"Mean score (0 to 100)": "reward"} if study == "webshop" else {})
    for heading, value in tables.items():
        table = text.split(f"## {heading}, by span\n")[1].split("\n## ")[0]
        for line in re.findall(r"^\| ([a-z_]+) \| (\S+) \| (.+) \|$", table, re.MULTILINE)[1:]:
            agent, d_max, told = line[0], line[1].replace("-", ""), line[2].split(" | ")
            of = [row for row in rows if (row["agent"], row["d_max"]) == (agent, d_max)]
            assert told == [f"{100 * float(row[value]):.1f}" for row in of], line


def benchmark(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module(name)


@pytest.mark.parametrize(
    ("planner", "span"),
    [
        ("deps rounds=0", 10),
        ("deps rounds=3", 6),
        ("dep rounds=12", 4),
        ("zero_shot rounds=12", 8),
        ("zero_shot rounds=0 perfect", 8),
        ("chain_of_thought", 7),
        ("inner_monologue", 10),
        ("progprompt", 9),
        ("code_as_policies", 11),
    ],
)
def test_planners__are_played_again(planner: str, span: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    planners = benchmark("planners", monkeypatch)
    (one,) = (one for one in planners.PLANNERS if one.name == planner)
    rows = planners.table(one, planners.play(one, [span], tmp_path))
    assert rows == [
        row for row in published("planners") if (row["planner"], row["model"]) == (planner, rows[0]["model"])
    ]


@pytest.mark.parametrize(
    ("draw", "goals", "selector", "around"),
    [("apart", 4, "learned", "exact"), ("apart", 2, "random", "rough"), ("any", 3, "nearest", "names")],
)
def test_selectors__are_played_again(
    draw: str, goals: int, selector: str, around: str, monkeypatch: pytest.MonkeyPatch
):
    outcome = benchmark("parallel_goals", monkeypatch).play(draw, goals, selector, around)
    rows = [
        row
        for row in published("selectors")
        if (row["draw"], row["goals"], row["selector"], row["around"]) == (draw, str(goals), selector, around)
    ]
    assert len(rows) == 6
    for row in rows:
        assert row["rate"] == f"{outcome.point(int(row['ticks'])).rate:.6g}"


@pytest.mark.parametrize("limit", [1500, 2500])
def test_selectors__win_within_a_limit_what_they_win_by_then(limit: int, monkeypatch: pytest.MonkeyPatch):
    goals = benchmark("parallel_goals", monkeypatch)
    whole, cut = (goals.play("apart", 3, "nearest", limit=ticks, episodes=60) for ticks in (goals.MAX_TICKS, limit))
    assert [ticks for ticks in whole.won if ticks <= limit] == cut.won
    assert 0 < len(cut.won) < len(whole.won) == 60


def test_selectors__never_win_more_than_the_best_order():
    rows = published("selectors")
    best = {(row["draw"], row["goals"], row["ticks"]): float(row["rate"]) for row in rows if row["selector"] == "bound"}
    assert len(best) == 36
    assert {row["selector"] for row in rows} == {*SELECTORS, "bound"}
    for row in rows:
        assert float(row["rate"]) <= best[row["draw"], row["goals"], row["ticks"]]


@pytest.mark.parametrize("name", ["planners", "selectors"])
def test_results__of_deps_are_labelled_and_linked(name: str):
    text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert "**simulated model**" in text
    assert f"({name}.md)" in (RESULTS / "README.md").read_text(encoding="utf-8")
    assert {row.get("errors", "0") for row in published(name)} == {"0"}
