"""The documentation site is built without warnings, and needs no network. Run by ``make
test-docs``."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="the extra [docs] is not installed: make test-docs runs this")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(folder),
    ]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def test_site__loads_nothing_from_elsewhere(site: Path):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        loaded = re.findall(
            r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=\"([^\"]*)\"",
            page.read_text("utf-8"),
        )
        assert len(loaded) > 3
        assert not [address for address in loaded if "//" in address], page
    for sheet in site.rglob("*.css"):
        assert not re.search(
            r"(?:@import|url\()\s*[\"']?(?:https?:)?//", sheet.read_text("utf-8")
        ), sheet


def test_site__links_lead_to_pages_and_anchors_that_are_there(site: Path):
    anchors: dict[Path, set[str]] = {}
    for page in site.rglob("*.html"):
        anchors[page.resolve()] = set(re.findall(r"\bid=\"([^\"]+)\"", page.read_text("utf-8")))
    for page in anchors:
        (article,) = re.findall(r"<article\b.*</article>", page.read_text("utf-8"), re.DOTALL) or [
            ""
        ]
        for address in re.findall(r"<a\b[^>]*\bhref=\"([^\":]*)\"", article):
            file, _, anchor = address.partition("#")
            target = page.parent.joinpath(file).resolve() if file else page
            assert target.exists(), (page.name, address)
            assert not anchor or anchor in anchors[target], (page.name, address)


def test_site__shows_the_manual_of_each_world_and_hides_how_blocks_are_tested(site: Path):
    for page in (site / "worlds").glob("*.html"):
        assert page.stem == "index" or "Reset options" in page.read_text("utf-8"), page
    errors = (site / "errors.html").read_text("utf-8")
    assert "language-python" in errors
    assert "python raises" not in errors


QUERIES = {
    "custom agent": "own_agent.html",
    "my own agent": "own_agent.html",
    "latex": "report.html",
    "langchain": "agent_libraries.html",
    "mcp": "serving.html",
    "openai": "first_model.html",
    "vllm": "first_model.html",
    "ollama": "first_model.html",
    "confidence interval": "evaluation.html",
    "cost": "evaluation.html",
    "resume": "evaluation.html",
    "parallel workers": "evaluation.html",
    "price": "models.html",
    "leaderboard": "board.html",
    "export trajectories": "demonstrations.html",
    "train": "training.html",
    "grpo": "trl.html",
    "docker": "install.html",
    "offline": "install.html",
    "recipes": "own_recipes.html",
    "curriculum": "curriculum.html",
    "alfworld official games": "worlds/alfworld.html",
    "cite": "citing.html",
    "glossary": "glossary.html",
    "own world": "extending.html",
}
"""What people look for, and the page that should come first."""


@pytest.mark.skipif(shutil.which("node") is None, reason="node, which runs the search, is missing")
def test_search__finds_the_guide_first(site: Path):
    command = ["node", ROOT / "tests" / "search.js", site, *QUERIES]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    answers = json.loads(result.stdout)
    assert {query: pages[0] for query, pages in answers.items()} == QUERIES


def test_site__has_no_file_of_its_hooks(site: Path):
    assert [file.name for file in site.rglob("*hooks*")] == []


def test_search__lists_no_sources(site: Path):
    index = json.loads((site / "search/search_index.json").read_text("utf-8"))
    pages = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert "results/overview.html" in pages
    assert not [page for page in pages if page.startswith(("source/", "results/training"))]


NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebooks__show_what_they_print(notebook: Path, site: Path):
    """The outputs are of the code as it is, and stand on the page."""
    jupytext = pytest.importorskip("jupytext")
    outputs = ROOT / "notebooks" / "outputs" / f"{notebook.stem}.json"
    kept = json.loads(outputs.read_text(encoding="utf-8"))
    sources = [cell.source for cell in jupytext.read(notebook).cells if cell.cell_type == "code"]
    code = hashlib.sha256("\0".join(sources).encode()).hexdigest()
    assert code.startswith(kept["digest"]), f"make notebook-outputs NOTEBOOKS={notebook.name}"
    page = (site / "notebooks" / f"{notebook.stem}.html").read_text("utf-8")
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    for output in filter(None, kept["outputs"]):
        assert output.splitlines()[-1].strip() in text


def test_site__marks_numbers_and_their_intervals(site: Path):
    page = (site / "results" / "overview.html").read_text("utf-8")
    assert re.search(r'<td class="numbers">46\.0 \[\d+, \d+\] \(19\)</td>', page)
    assert "<td>ReAct</td>" in page


def test_site__is_small(site: Path):
    assert sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) < 10_000_000


def test_keywords__are_of_pages_that_are_there(site: Path):
    """A page that moves takes its words along."""
    config = (ROOT / "mkdocs.yml").read_text("utf-8").partition("  keywords:\n")[2]
    pages = re.findall(r"(?m)^    ([\w/]+)\.md: \[", config)
    assert len(pages) > 10
    assert not [page for page in pages if not (site / f"{page}.html").exists()]
