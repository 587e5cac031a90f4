"""What the published results rest on is whole."""

from __future__ import annotations

import csv
import gzip
import json
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import textcraft_gym

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TEACHERS = ROOT / "examples" / "language_model"


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
    for row in published("experiment.csv.gz"):
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


def test_trained__logs_are_of_finished_trainings():
    logs = sorted((RESULTS / "training").glob("lm-*.jsonl"))
    assert len(logs) == 6
    for file in logs:
        first, *_, last = log_of(file)
        assert f"-seed{first['plan']['seed']}" in file.name
        assert last["tokens"] >= first["plan"]["tokens"], (
            f"{file.name} is of an unfinished training"
        )


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
    assert len(books) == 10
    training_seeds = re.search(
        r"(?m)^TRAINING_SEEDS = (\d+)", (TEACHERS / "textcraft.py").read_text(encoding="utf-8")
    )
    assert min(int(re.search(r"seed=(\d+)", book)[1]) for book in books) >= int(training_seeds[1])
