"""What the gates of the language model measure, with models that say what a test has them say."""

from __future__ import annotations

import csv
import re
import sys
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path

import gates
import pytest

from tests.agents.scripted import ScriptedModel, play
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.agents.games.crafting import ceil_div
from textcraft_gym.agents.games.textcraft.game_profile import PROFILE
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.runs.run import Run
from textcraft_gym.task import tasks_of


class Crafter:
    """Does what the task of the prompt asks for, and then makes a claim."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines
        self.said = 0

    def complete(self, prompt, **how) -> Completion:
        amount, item = re.findall(r"Goal: craft (\d+) (.+?)\.", prompt)[-1]
        makes, part_amount, part = re.search(
            rf"craft (\d+) {item} using (\d+) (.+)", prompt
        ).groups()
        times = ceil_div(int(amount), int(makes))
        line = self.lines[self.said].format(
            get=f"get {int(part_amount) * times} {part}",
            craft=f"craft {int(makes) * times} {item} using {int(part_amount) * times} {part}",
        )
        self.said += 1
        return Completion(line, {"completion_tokens": 1})


def record_of(*lines: str) -> dict[str, object]:
    """Return the record of a sub-task in which a model says these lines."""
    agent = gates.SubTaskAgent(PROFILE, Prompts("short"))
    return asdict(play(agent, {"executor": Crafter(*lines)}, "minecraft:beehive"))


@pytest.mark.parametrize(
    ("lines", "success", "false_claims", "invalid"),
    [
        (("{get}", "{craft}", "Task completed!"), 1, 0, 0),
        (("{get}", "{craft}", "task failed!"), 1, 0, 0),
        (("{get}", "Task completed!"), 0, 1, 0),
        (("craft 1 oak door using 1 nothing", "get nothing of the kind", "task failed!"), 0, 0, 2),
    ],
)
def test_measure__of_a_sub_task_counts_what_is_held_and_what_was_claimed(
    lines: tuple[str, ...], success: int, false_claims: int, invalid: int
):
    row = gates.measure("row", [record_of(*lines)], sub_tasks=True)
    assert (row.success, row.false_claims) == ((success, 1), (false_claims, 1))
    assert row.invalid.part == invalid < row.invalid.among


def test_measure__of_goals_counts_wins_and_refuses_broken_episodes():
    episode = {
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
                "won": "made" in spec.split,
                "claimed_success": False,
                "transcript": [],
                "error": None,
                "group": "g",
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
    assert len({folder for _, folder in played}) == 4
    assert f'adapter="{adapters[0]}"' in played[0][0].model
    assert [spec.env_args for spec, _ in played[:2]] == [{}, {"recipes": gates.UNKNOWN_BOOK}]
    before = (tmp_path / "out" / "gates.csv").read_text(encoding="utf-8")
    assert "missing.gguf cannot be read" in run("--adapter", adapters[0], tmp_path / "missing.gguf")
    assert (tmp_path / "out" / "gates.csv").read_text(encoding="utf-8") == before


def test_missed__says_what_a_row_does_not_reach():
    def row(won: int, false_claims: int = 2, invalid: int = 2) -> gates.Row:
        return gates.Row(
            "row", *(gates.Count(count, 100) for count in (won, false_claims, invalid))
        )

    assert (
        gates.missed({"sub_tasks": row(95), "dev": row(90), "unseen": row(97), "made": row(92)})
        == []
    )
    assert gates.missed({"dev": row(89)}) == ["row: success of 90%"]
    assert gates.missed({"made": row(91)}) == ["row: success of 92%"]
    assert gates.missed({"dev": row(90, 3)}) == ["row: false claims of 2%"]
    assert gates.missed({"dev": row(90, 2, 3)}) == ["row: invalid actions under 3%"]


@pytest.mark.parametrize("name", gates.GATES)
def test_gate_spec__can_be_made(name: str, tmp_path: Path):
    gate = gates.GATES[name]
    if name not in gates.rows_here():
        pytest.skip("the official games are not installed")
    spec = gates.gate_spec(
        gate, "tests.papers.models:Inventory", gates.write_goals(tmp_path / "goals.jsonl"), 150
    )
    assert spec.limit == (gate.goals or 150)
    with closing(Run(spec)) as run:
        assert tasks_of(run.env)


def test_play__of_a_group_counts_its_tasks_in_the_run_of_another_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    episode = {"won": True, "claimed_success": False, "transcript": [], "error": None}
    monkeypatch.setattr(
        gates,
        "evaluate",
        lambda spec, folder: [
            {**episode, "group": group} for group in ("other", gates.TWO_OBJECTS)
        ],
    )
    whole, two = (
        gates.play(gates.GATES[name], "m", tmp_path, tmp_path)
        for name in ("official", "official_two")
    )
    assert (whole.success, two.success) == ((2, 2), (1, 1))


def test_goals__of_the_gates_are_those_of_the_splits_in_an_order_that_is_drawn(tmp_path: Path):
    lines = gates.write_goals(tmp_path / "goals.jsonl").read_text(encoding="utf-8").splitlines()
    of_split = {
        name: [line for line in lines if f'"split": "{name}"' in line]
        for name in ("dev", "unseen", "made")
    }
    assert {name: len(goals) for name, goals in of_split.items()} == {
        "dev": 197,
        "unseen": 77,
        "made": 90,
    }
    assert all(goals != sorted(goals) for goals in of_split.values())


def test_sub_tasks__have_an_inventory_in_the_prompt_where_the_player_holds_what_they_take(
    monkeypatch: pytest.MonkeyPatch,
):
    """In every other sub-task the player holds what it takes, and its inventory is in the
    prompt."""
    outcomes = set()
    for seed in range(8):
        monkeypatch.setattr(
            gates.random, "Random", lambda _, seed=seed, make=gates.random.Random: make(seed)
        )
        model = ScriptedModel("task failed!")
        episode = play(
            gates.SubTaskAgent(PROFILE, Prompts("short")), {"executor": model}, "minecraft:beehive"
        )
        monkeypatch.undo()
        held = any(str(action).startswith("get ") for action, _ in episode.transcript)
        assert held == ("Inventory:" in model.asked[0]["prompt"])
        outcomes.add(held)
    assert outcomes == {True, False}
