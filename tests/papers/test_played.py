"""The pages of the papers' tables with the packaged model follow from the runs beside them."""

from __future__ import annotations

import csv
import lzma
import re
from pathlib import Path

import pytest

from examples.language_model.papers import (
    ARCHIVE,
    BEGUN,
    MODEL,
    pack,
    unpack,
)
from textcraft_gym.papers import PAPERS
from textcraft_gym.papers.page import SCRIPTED, Page
from textcraft_gym.papers.reproduce import (
    Reproduction,
    collected,
    kept,
    played_with,
    prompts_of_models,
)
from textcraft_gym.reports.tables import markdown_table
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.verify.recheck import verify

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "papers"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers") / "runs"
    unpack(RESULTS / ARCHIVE, folder)
    return folder


@pytest.mark.parametrize("name", [file.stem for file in sorted(RESULTS.glob("*.csv"))])
def test_page__follows_from_the_packed_runs(name: str, runs: Path):
    text = (RESULTS / f"{name}.csv").read_text(encoding="utf-8")
    paper, key = name.split("-")
    table = PAPERS[paper][key]
    cells = [*csv.DictReader(text.splitlines())]
    rows = dict.fromkeys(cell["row"] for cell in cells)
    (model,) = {cell["model"] for cell in cells if cell["model"]} - {SCRIPTED}
    assert model == MODEL
    reproduction = Reproduction({table: list(rows)}, (model,), 1, {}, RunSpec(""))
    records = kept(reproduction, runs)
    results = collected(reproduction, records)
    prompts = prompts_of_models(reproduction, records, runs)
    assert prompts == ("short",)
    page = Page(PAPERS[paper], table, list(rows), (model,), results, prompts)
    assert page.csv() == text
    printed = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    headings, *lines = page.grid
    assert markdown_table(headings, lines) in printed
    for line in (*page.about(), *page.missing(), *page.sentences):
        assert line in printed
    assert set(played_with(reproduction, records, runs)) == set(
        re.findall(r"^- (.*textcraft_gym.*)$", printed, re.MULTILINE)
    )


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
