"""The documentation site is built without warnings, and needs no network. Run by ``make
test-docs``."""

from __future__ import annotations

import re
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
