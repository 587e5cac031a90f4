"""What benchmarks/results and the adapter's card say was learnt."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gates
import gymnasium as gym
import pytest
from packed import DATA
from papers import ARCHIVE, DIGEST, unpack

from textcraft_gym.agents.models.gguf import read_header
from textcraft_gym.agents.models.weights import ADAPTERS, bundled_adapter
from textcraft_gym.reports.records import read_records
from textcraft_gym.reports.success import wilson_interval

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
ROWS = list(csv.DictReader((RESULTS / "learning.csv").read_text(encoding="utf-8").splitlines()))
COUNTED = {
    "WebShop": "WebShopLite-v0_adapt_test_react_",
    "ADaPT": "TextCraft-v0_test_adapt_",
    "DEPS": "MineTechTree-v0_table2_deps_reliability=perfect_",
    "HotpotQA": "HotpotQA-v0_dev_react_",
}
"""The packed runs in which the card counts."""
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


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed") / "papers"
    unpack(RESULTS / "papers" / ARCHIVE, folder)
    return folder / "runs"


@pytest.fixture(scope="module")
def card() -> str:
    return " ".join((ADAPTERS / "README.md").read_text(encoding="utf-8").split())


def records_of(runs: Path, name: str) -> list[dict[str, Any]]:
    (folder,) = runs.glob(f"{COUNTED[name]}*/*{DIGEST}*/seed0")
    return [dict(record) for record in read_records(folder)]


def told(part: dict[str, Any]) -> Iterator[int | str]:
    """Yield the actions of a trace, by their numbers, and what the model said, in order."""
    for each in part["parts"]:
        if isinstance(each, dict):
            yield from told(each)
        else:
            yield each


def test_card__says_how_many_invalid_actions_repeat_one_of_their_episode(runs: Path, card: str):
    counts, shares = [], []
    for name in COUNTED:
        actions = invalid = repeated = 0
        for record in records_of(runs, name):
            refused: set[str] = set()
            for action, answer in record["transcript"]:
                actions += bool(action)
                if action and answer.startswith(gates.REFUSALS):
                    invalid += 1
                    repeated += action in refused
                    refused.add(action)
        counts.append((str(repeated), str(invalid), name))
        shares.append(f"{(invalid - repeated) / (actions - repeated):.1%}")
    stated = card.partition("**Invalid actions.**")[2].partition("In ADaPT")[0]
    assert re.findall(r"(\d+) of (\d+) in (\w+)", stated) == counts
    assert re.findall(r"[\d.]+%", stated.partition("Without the repeats")[2]) == shares


def test_card__says_how_many_crafts_lack_a_part_that_was_said_to_be_held(runs: Path, card: str):
    said_to_be_held = invalid = 0
    for record in records_of(runs, "ADaPT"):
        thought = ""
        for each in told(record["trace"]):
            if isinstance(each, str):
                thought = each
            elif (answer := record["transcript"][each][1]).startswith(gates.REFUSALS):
                lacking = answer.startswith("Could not find enough")
                said_to_be_held += lacking and "Held: " in thought and ", so " not in thought
                invalid += 1
    (stated,) = re.findall(r"In ADaPT (\d+) of the (\d+) follow a thought that all", card)
    assert stated == (str(said_to_be_held), str(invalid))


def test_card__says_what_wrong_purchases_lack(runs: Path, card: str):
    env = gym.make("WebShopLite-v0", split="test", mode="adapt")
    wrong: Counter[str] = Counter()
    claims = [each for each in records_of(runs, "WebShop") if each["claimed_success"]]
    for record in claims:
        if not record["won"]:
            _, info = env.reset(options={"task": record["task"]})
            for action, _ in record["transcript"][1:]:
                *_, info = env.step(action)
            parts = ("r_att", "r_option", "r_price", "r_type")
            wrong.update(part for part in parts if info[part] not in (None, 1.0))
            wrong["all"] += 1
    (stated,) = re.findall(
        r"Of the (\d+) wrong purchases of WebShop's ReAct (\d+) lack an attribute, (\d+) lack an "
        r"option, (\d+) cost too much and (\d+) are other goods",
        card,
    )
    counts = (wrong[part] for part in ("all", "r_att", "r_option", "r_price", "r_type"))
    assert stated == tuple(map(str, counts))


def test_card__says_how_many_explanations_blame_chance_where_nothing_is_left_to_it(
    runs: Path, card: str
):
    explanations = []
    for record in records_of(runs, "DEPS"):
        if not record["won"]:
            said = (each for each in told(record["trace"]) if isinstance(each, str))
            explanations += [each for each in said if "I lacked " in each and "({" not in each]
    missed = sum("I lacked nothing: it was missed" in each for each in explanations)
    (stated,) = re.findall(r"Of the (\d+) explanations of these \w+ episodes (\d+) say", card)
    assert stated == (str(len(explanations)), str(missed))
    docs = (RESULTS.parents[1] / "docs" / "language_model.md").read_text(encoding="utf-8")
    assert f"{missed} of the {len(explanations)} explanations" in " ".join(docs.split())
