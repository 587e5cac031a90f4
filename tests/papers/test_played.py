"""The pages of the papers' tables with the packaged model follow from the runs beside them."""

from __future__ import annotations

import csv
import lzma
from pathlib import Path

import pytest

from examples.language_model.papers import (
    ARCHIVE,
    BEGUN,
    MODEL,
    pack,
    unpack,
)
from textcraft_gym.papers.page import SCRIPTED
from textcraft_gym.papers.pages import reproduce_again
from textcraft_gym.verify.pages import verify_page
from textcraft_gym.verify.recheck import verify

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "papers"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers") / "runs"
    unpack(RESULTS / ARCHIVE, folder)
    return folder


@pytest.mark.parametrize("name", [file.name for file in sorted(RESULTS.glob("*-*.*"))])
def test_page__follows_from_the_packed_runs(name: str, runs: Path):
    checked = verify_page(RESULTS / name, {"reproduce": reproduce_again}, [runs])
    assert checked is not None
    assert checked.identical, "\n".join(checked.lines(name, shown=3))
    if name.endswith(".csv"):
        with (RESULTS / name).open(encoding="utf-8", newline="") as file:
            assert {row["model"] for row in csv.DictReader(file)} <= {MODEL, SCRIPTED, ""}


def test_packed_runs__are_packed_alike_again(runs: Path, tmp_path: Path):
    pack(runs, tmp_path / ARCHIVE)
    # What xz makes of the same bytes depends on its version.
    again, before = (
        lzma.decompress((folder / ARCHIVE).read_bytes()) for folder in (tmp_path, RESULTS)
    )
    assert again == before


def test_packed_runs__are_what_their_actions_lead_to(runs: Path):
    # A training of AutoPlan has a summary as well, and runs of its batches below.
    # A run that a later start goes on with lacks episodes, and its summary.
    played = [
        file.parent
        for file in runs.glob("runs/**/episodes.jsonl")
        if (file.parent / "summary.json").exists()
    ]
    assert played
    for folder in played:
        checked = verify(folder)
        assert checked.identical, "\n".join(checked.lines(folder.parent.parent.name, shown=3))


def test_pack__leaves_out_a_run_of_which_nothing_was_played(tmp_path: Path):
    for name, files in {"begun": BEGUN, "played": {*BEGUN, "episodes.jsonl", ".lock"}}.items():
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        for file in files:
            (folder / file).touch()
    pack(tmp_path, tmp_path / ARCHIVE)
    unpack(tmp_path / ARCHIVE, tmp_path / "out")
    unpacked = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert {file.parent.name for file in unpacked} == {"played"}
    assert {file.name for file in unpacked} == {*BEGUN, "episodes.jsonl"}
