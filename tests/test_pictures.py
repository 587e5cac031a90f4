"""The recordings of the documentation are those that their scripts write."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
DOCS, RESULTS = ROOT / "docs", ROOT / "benchmarks" / "results"
LARGEST = 150_000
"""Bytes of an image."""
TELEPHONE = 388
"""Width of a page's text, in pixels, on a screen of 420."""


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module(request.param)


@pytest.mark.parametrize("benchmark", ["recording"], indirect=True)
def test_recordings__of_the_worlds_are_their_experts_episodes(benchmark: ModuleType):
    for name, image in benchmark.images():
        assert (DOCS / name).read_text(encoding="utf-8") == image, f"make recording: {name}"


@pytest.mark.parametrize("image", [*DOCS.rglob("*.svg"), *RESULTS.glob("*.svg")], ids=str)
def test_images__need_nothing_else(image: Path):
    text = image.read_text(encoding="utf-8")
    assert len(text) < LARGEST
    elements = list(ElementTree.fromstring(text).iter())
    assert not [each.tag for each in elements if each.tag.rpartition("}")[2] in ("script", "image")]
    assert "url(http" not in text


@pytest.mark.parametrize("image", [*DOCS.rglob("*.svg")], ids=str)
def test_recordings__can_be_read_on_a_telephone(image: Path):
    text = image.read_text(encoding="utf-8")
    (width,) = re.findall(r'^<svg .*?viewBox="0 0 (\d+) ', text)
    (letters,) = re.findall(r"^text { font: (\d+)px ", text, re.MULTILINE)
    assert int(letters) * TELEPHONE / int(width) > 10.5


def test_readme__recording_ends_with_the_episode_won():
    text = (DOCS / "watch.svg").read_text(encoding="utf-8")
    page = ElementTree.fromstring(text)
    lines = ["".join(line.itertext()) for line in page.iter("{http://www.w3.org/2000/svg}text")]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.sub(r" \\\n +", " ", "\n".join(lines)).partition("\n")[0]
    assert f"\n    {command.removeprefix('$ ')}\n" in readme
    assert any(line.startswith("Won after ") for line in lines[-4:])
    delays = [float(part.partition("s")[0]) for part in text.split("animation-delay:")[1:]]
    assert delays == sorted(delays)
    assert 10 < delays[-1] < 25
