"""What benchmarks/results and the adapter's card say was learnt."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import gates
from packed import DATA

from textcraft_gym.agents.models.gguf import read_header
from textcraft_gym.agents.models.weights import ADAPTERS, bundled_adapter
from textcraft_gym.reports.success import wilson_interval

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
ROWS = list(csv.DictReader((RESULTS / "learning.csv").read_text(encoding="utf-8").splitlines()))
END = max(int(row["steps"]) for row in ROWS)


def test_learning__wins_over_nine_tenths_of_all_274_goals_of_depth_2():
    ends = [
        row for row in ROWS if row["goals"] == "all 274 of depth 2" and int(row["steps"]) == END
    ]
    assert [row["seed"] for row in ends] == ["0", "1", "2"]
    for row in ends:
        low, high = wilson_interval(int(row["won"]), 274)
        assert (row["episodes"], row["low"], row["high"]) == ("274", f"{low:.4f}", f"{high:.4f}")
        assert low > 0.9
        assert float(row["seconds"]) < 15 * 60


def test_learning__its_table_is_what_was_measured():
    table = (RESULTS / "learning.md").read_text(encoding="utf-8")
    for row in ROWS:
        if int(row["steps"]) in (0, END):
            player = "learnt" if int(row["steps"]) else "untrained"
            assert (
                f"| {player}, seed {row['seed']} | {row['goals']} | {row['episodes']} | {row['won']} |"
                in table
            )
    assert "| random | all 274 of depth 2 | 274 |" in table
    assert "(learning.svg)" in table
    assert "Goals won, greedy" in (RESULTS / "learning.svg").read_text(encoding="utf-8")


def test_adapter__was_trained_on_the_data_that_its_card_names():
    log = [
        json.loads(line)
        for line in (ADAPTERS / "training.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    stated = gates.stated_data(ADAPTERS / "README.md")
    logged = [row["data_sha256"] for row in log if "data_sha256" in row][-1]
    assert len(stated) == 16
    assert logged.startswith(stated)
    assert read_header(bundled_adapter()).metadata[DATA] == logged
