"""What the gates of the language model measure, with models that say what a test has them say."""

from __future__ import annotations

import csv
import shutil
import sys
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

import gates
import pytest
from packed import DATA

from textcraft_gym.agents.models.gguf import read_header
from textcraft_gym.agents.models.weights import ADAPTERS, bundled_adapter
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.runner import jobs_of


def test_measure__of_goals_counts_wins_and_refuses_broken_episodes():
    episode = {
        "task": "t",
        "family": "t",
        "won": True,
        "claimed_success": True,
        "transcript": [(None, "x"), ("get 1 x", "Got 1 x")],
        "error": None,
    }
    lost = {**episode, "won": False, "transcript": [(None, "x"), ("get 1 y", "Could not find y")]}
    row = gates.measure("row", [episode, lost, {**lost, "claimed_success": None}])
    assert (row.success, row.false_claims, row.invalid) == ((1, 3), (1, 3), (2, 3))
    with pytest.raises(RuntimeError, match="row: 1 episodes broke: it broke"):
        gates.measure("row", [episode, {**episode, "error": "it broke"}])


def test_gates__write_the_counts_of_each_adapter_and_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    weights, adapters = tmp_path / "w.gguf", [tmp_path / "a,b.gguf", tmp_path / "c.gguf"]
    for file in (weights, *adapters):
        file.write_text(file.name)
    monkeypatch.setattr("textcraft_gym.agents.models.weights._bundled_weights", lambda: weights)
    played = []

    def evaluate(spec, folder):
        played.append((spec, folder))
        return [
            {
                "won": "recipes" in spec.env_args,
                "claimed_success": False,
                "transcript": [],
                "error": None,
                "group": "g",
                "task": "t",
                "family": "t",
            }
        ]

    def run(*given: object) -> str:
        monkeypatch.setattr(
            sys, "argv", ["gates.py", "--out", str(tmp_path / "out"), *map(str, given)]
        )
        with suppress(SystemExit):
            gates.main()
        return capsys.readouterr().err

    monkeypatch.setattr(gates, "evaluate", evaluate)
    output = run("--rows", "unseen", "made", "--threads", 1, "--adapter", *adapters)
    criterion = "ReAct, unseen goals of depth 2: success of 97%"
    assert output.splitlines() == [f"not reached: {adapter}, {criterion}" for adapter in adapters]
    rows = list(
        csv.DictReader((tmp_path / "out" / "gates.csv").read_text(encoding="utf-8").splitlines())
    )
    assert [(row["adapter"], row["row"]) for row in rows] == [
        (str(adapter), name) for adapter in adapters for name in ("unseen", "made")
    ]
    assert [(row["episodes"], row["won"], row["actions"]) for row in rows] == 2 * [
        ("1", "0", "0"),
        ("1", "1", "0"),
    ]
    assert {row["player"] for row in rows} == {"llama.cpp"}
    assert [(row["low"], row["high"]) for row in rows[:2]] == [
        ("0.0000", "0.7935"),
        ("0.2065", "1.0000"),
    ]
    assert len({folder for _, folder in played}) == 4
    assert f'adapter="{adapters[0]}"' in played[0][0].model
    assert [spec.env_args for spec, _ in played[:2]] == [{}, {"recipes": gates.UNKNOWN_BOOK}]
    before = (tmp_path / "out" / "gates.csv").read_text(encoding="utf-8")
    assert "missing.gguf cannot be read" in run("--adapter", adapters[0], tmp_path / "missing.gguf")
    assert (tmp_path / "out" / "gates.csv").read_text(encoding="utf-8") == before


def test_check_card__refuses_an_adapter_of_other_data_than_its_card_names(tmp_path: Path):
    adapter = Path(shutil.copy(bundled_adapter(), tmp_path))
    gates.check_card(adapter)  # it has no card
    card = shutil.copy(ADAPTERS / "README.md", tmp_path)
    gates.check_card(adapter)
    text = Path(card).read_text(encoding="utf-8")
    trained = read_header(adapter).metadata[DATA][:16]
    Path(card).write_text(text.replace(trained, "0123456789abcdef"), encoding="utf-8")
    refusal = f"worlds.gguf was trained on the data {trained}, but .* names 0123456789abcdef"
    with pytest.raises(ValueError, match=refusal):
        gates.check_card(adapter)


def test_missed__says_what_a_row_does_not_reach():
    def row(won: int, false_claims: int = 1, invalid: int = 2) -> gates.Row:
        counts = [gates.Count(count, 100) for count in (won, false_claims, invalid)]
        return gates.Row("row", counts[0], gates.Estimate(won / 100, 0, 1), *counts[1:])

    assert gates.missed({"adapt": row(95), "unseen": row(97), "made": row(92)}) == []
    assert gates.missed({"made": row(91)}) == ["row: success of 92%"]
    assert gates.missed({"made": row(92, 2)}) == ["row: false claims under 2%"]
    assert gates.missed({"made": row(92, 1, 3)}) == ["row: invalid actions under 3%"]


@pytest.mark.parametrize("name", gates.GATES)
def test_gate_spec__plays_the_first_goals(name: str):
    gate = gates.GATES[name]
    if name not in gates.rows_here():
        pytest.skip("the official games are not installed")
    spec = gates.gate_spec(gate, "tests.papers.models:Inventory", 50)
    with closing(Run(spec)) as run:
        listed = jobs_of(spec, run.env)
    assert len(listed) == 50
    if name in gates.DRAWN:
        assert {*listed} == {*gates.drawn_goals(name)[:50]}
        assert {task.depth for _, task in listed.values()} == {gates.DEPTH}


def test_play__of_a_group_counts_its_tasks_in_the_run_of_another_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    episode = {"won": True, "claimed_success": False, "transcript": [], "error": None}
    episode |= {"task": "t", "family": "t"}
    monkeypatch.setattr(
        gates,
        "evaluate",
        lambda spec, folder: [
            {**episode, "group": group} for group in ("other", gates.TWO_OBJECTS)
        ],
    )
    whole, two = (
        gates.play(gates.GATES[name], "m", tmp_path) for name in ("official", "official_two")
    )
    assert (whole.success, two.success) == ((2, 2), (1, 1))


def test_play__of_plans_counts_the_types_that_they_lift(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Of two types: one where 2 of 10 tasks more are won with the plan of its training, and one
    where 0 of 10 are."""
    episode = {"claimed_success": False, "transcript": [(None, "x"), ("go", "y")], "error": None}
    light, cool, _ = gates.HARDEST
    trained, asked = [], []

    def evaluate(spec, folder):
        group = next(g for g in gates.HARDEST if folder.name.startswith(g))
        asked.append((group, spec.agent_args, spec.wrappers))
        won = 3 + 2 * (group == light and "plan" in spec.agent_args)
        named = enumerate(spec.tasks)
        return [{**episode, "task": t, "family": t, "won": n < won} for n, t in named]

    def optimise(spec, folder, *, task_type, iterations):
        trained.append((task_type, spec.split, spec.tasks, spec.limit, iterations))
        return [SimpleNamespace(plan=folder / f"{task_type}.txt")]

    monkeypatch.setattr(gates, "evaluate", evaluate)
    monkeypatch.setattr(gates, "optimise_plan", optimise)
    gate = gates.GATES["autoplan"]._replace(lifted=(light, cool))
    row = gates.play(gate, "m", tmp_path, limit=10)
    assert (row.success, row.false_claims, row.invalid) == ((1, 2), (0, 20), (0, 20))
    assert trained == [(group, None, None, None, 1) for group in (light, cool)]
    assert asked == [
        (group, args, ("HelpfulFeedback",))
        for group in (light, cool)
        for args in ({}, {"plan": str(tmp_path / group / f"{group}.txt")})
    ]


def test_drawn_goals__are_those_of_the_rows_in_an_order_that_is_drawn():
    goals = {name: gates.drawn_goals(name) for name in gates.DRAWN}
    assert {name: len(of_row) for name, of_row in goals.items()} == {"unseen": 77, "made": 90}
    assert all(of_row != sorted(of_row) for of_row in goals.values())
