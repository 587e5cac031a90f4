"""What ``compare``, ``report`` and ``sweep`` say of runs that cannot be compared as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.test_main import run
from textcraft_gym.cli import tables
from textcraft_gym.cli.app import app
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate


def idle(observation: str) -> str:
    return "inventory"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three players on eight tasks, the random one with two seeds, and a run of two tasks."""
    folder = tmp_path_factory.mktemp("runs")
    for name, agent, more in (
        ("expert", "expert", {}),
        ("random-seed0", "random", {"max_steps": 20}),
        ("random-seed1", "random", {"max_steps": 20, "seed": 1}),
        ("idle", idle, {"max_steps": 20}),
        ("two", "expert", {"limit": 2}),
    ):
        evaluate(RunSpec("TextCraft-v0", "test", agent, **{"limit": 8, **more}), folder / name)
    return folder


@pytest.fixture
def unfinished(runs: Path, tmp_path: Path) -> Path:
    """The expert's run, of which five episodes are played."""
    folder = tmp_path / "going"
    folder.mkdir()
    config = json.loads((runs / "expert" / "config.json").read_text())
    del config["finished"]
    (folder / "config.json").write_text(json.dumps(config))
    lines = (runs / "expert" / "episodes.jsonl").read_text().splitlines(keepends=True)
    (folder / "episodes.jsonl").write_text("".join(lines[:5]))
    return folder


@pytest.mark.parametrize("command", ["compare", "report"])
def test_commands__say_first_that_budgets_differ(runs: Path, command: str):
    output = run(command, str(runs / "expert"), str(runs / "random-seed0"))
    assert output.startswith("Budgets differ: 100 and 20 steps; hints differ: ")
    assert "The random agent draws from the list of admissible commands" in output
    alike = run(command, str(runs / "idle"), str(runs / "random-seed0"))
    assert alike.startswith("Hints differ: none and admissible commands.\n")


def test_compare__of_three_runs_adjusts_all_pairs(runs: Path):
    names = ["random-seed0", "idle", "expert", "random-seed1"]
    output = run("compare", *(str(runs / name) for name in names))
    assert output.startswith("Budgets differ: 20 (random (2 seeds), idle) and 100 (expert)")
    assert "1. expert won 8 of 8 tasks, 100.0%." in output
    assert re.search(r"\n expert +random \(2 seeds\) +\+\d", output)
    assert "p and interval are adjusted for 3 pairs (Holm)." in output
    comparison = json.loads(run("compare", *(str(runs / name) for name in names), "--json"))
    (of_set,) = comparison["sets"]
    assert of_set["standings"][0]["run"] == "expert"
    assert of_set["repeats"] == 2
    assert len(of_set["pairs"]) == 3
    for pair in of_set["pairs"]:
        assert pair["p_value"] >= pair["comparison"]["p_value"]
        assert pair["low"] <= pair["comparison"]["low"]


def test_compare__shows_pairs_in_a_narrow_terminal(runs: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tables.console, "width", 60)
    names = ("random-seed0", "idle", "expert")
    arguments = ["compare", *(str(runs / name) for name in names)]
    output = CliRunner().invoke(app, arguments, catch_exceptions=False).output
    assert re.search(r"\n 1 +2 +\+\d", output)
    assert max(map(len, output.splitlines())) <= 60


def test_compare__says_what_few_tasks_hide(runs: Path):
    output = run("compare", str(runs / "idle"), str(runs / "random-seed0"))
    assert "With 8 tasks nothing below 75 points can reach p < 0.05." in output


def test_compare__does_not_reduce_a_run_to_the_tasks_of_a_smaller_one(runs: Path):
    output = run("compare", str(runs / "expert"), str(runs / "two"))
    first, second, *_ = output.splitlines()
    assert first == "Limits of tasks differ: 8 and 2."
    assert second == (
        "Not compared with each other, as they share fewer than 50% of the tasks: "
        "expert (8 tasks); two (2 tasks)."
    )
    assert "expert won 8 of 8 tasks, 100.0%.\ntwo won 2 of 2 tasks, 100.0%.\n" in output


def test_commands__say_how_far_an_unfinished_run_is(runs: Path, unfinished: Path):
    said = "going: 5 of 8 episodes so far."
    assert run("report", str(unfinished)).startswith(f"{said}\n")
    assert said in run("compare", str(runs / "idle"), str(unfinished))
    report = json.loads(run("report", str(unfinished), "--json"))
    assert report["warnings"] == [said]
    assert (report["runs"]["going"]["played"], report["runs"]["going"]["episodes"]) == (5, 8)
    assert "so far" not in run("report", str(runs / "expert"))


def test_report__of_a_run_that_stopped_says_how_far_it_is(tmp_path: Path):
    spec = RunSpec("TextCraft-v0", "test", "expert", limit=3, max_seconds=0)
    with pytest.warns(UserWarning, match="stopped at its limit"):
        evaluate(spec, tmp_path / "run")
    assert "0 of 3 episodes so far." in (tmp_path / "run" / "report.md").read_text()
    evaluate(RunSpec("TextCraft-v0", "test", "expert", limit=3), tmp_path / "run")
    assert "so far" not in (tmp_path / "run" / "report.md").read_text()


def test_sweep__gives_all_agents_one_budget_or_says_so(tmp_path: Path):
    grid = ("sweep", "--env", "TextCraft-v0", "--limit", "1", "--agents", "expert,react", "--model")
    model = "tests.doubles:Crafter"
    own = run(*grid, model, "--out", str(tmp_path / "own"))
    assert "Budgets differ: 100 and 1000 steps. With --max-steps N all agents have one" in own
    output = run(*grid, model, "--max-steps", "7", "--out", str(tmp_path / "one"))
    assert "differ:" not in output
    budgets = {
        json.loads(config.read_text())["max_steps"]
        for config in (tmp_path / "one").glob("*/config.json")
    }
    assert budgets == {7}
