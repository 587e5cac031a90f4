"""Hooks of the documentation site: pages outside docs/, the links between pages, and the search.

Every page is plain Markdown that reads well in the repository too, so its links are paths of the
repository. Here a link to a page outside docs/ becomes one to its copy in the site, one to a
notebook leads to a page of it, and one to a source file to a page that shows the file.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jupytext
from mkdocs.structure.files import File, Files, InclusionLevel

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
OUTSIDE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/results/README.md": "results/overview.md",
    "benchmarks/board/README.md": "board.md",
}
"""Pages of the repository outside docs/, with their names in the site."""
UNLISTED = ("source/", "results/")
"""Folders of the site that the search does not list: listings and raw results."""
BOOSTS = {
    "api/": 0.2,
    "notebooks/": 0.2,
    "changelog.md": 0.05,
    "commands.md": 0.05,
    "contributing.md": 0.1,
    "errors.md": 0.3,
}
"""Pages and folders that the search lists below the guides."""
LANGUAGES = {".py": "python", ".sh": "sh", ".md": "markdown"}
FIRST = {"own_agent.md": 20}
"""Pages that a search shows first, each with a factor: what many look for in words of all pages."""
NOT_FOUND = "---\nsearch:\n  exclude: true\n---\n"
"""Head of a page that a search leaves out."""
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\n)*\]\()([^)\s#]+)(#[^)]*)?\)")
_NUMBERS = re.compile(r"<td>(?=[-+]?\d[-+\d.,%± ()\[\]†‡*]*</td>)")
"""The start of a cell with a number, and perhaps its interval."""
_CODE = re.compile(r"```.*?```", re.DOTALL)


def place_of(path: str) -> str | None:
    """Return where the site shows a file of the repository; None for a folder."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path.startswith("benchmarks/results/") and (ROOT / path).is_file():
        return path.removeprefix("benchmarks/")
    if path.startswith("notebooks/"):
        return path.removesuffix(".py") + ".md"
    return f"source/{path}.md" if (ROOT / path).is_file() else None


def home_of(place: str) -> str:
    """Return the path in the repository of a page of the site."""
    names = {name: path for path, name in OUTSIDE.items()}
    if place.startswith("notebooks/"):
        return place.removesuffix(".md") + ".py"
    return names.get(place) or ("benchmarks/" if place.startswith("results/") else "docs/") + place


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/, and every source file that a page links to."""
    there = (file for file in (ROOT / "benchmarks/results").rglob("*") if file.is_file())
    results = {file.relative_to(ROOT).as_posix() for file in there}
    for path in sorted(results | set(OUTSIDE)):
        # The overview of the results leads to the other pages of them.
        inclusion = InclusionLevel.UNDEFINED if path in OUTSIDE else InclusionLevel.NOT_IN_NAV
        file = File.generated(
            config, place_of(path) or "", abs_src_path=str(ROOT / path), inclusion=inclusion
        )
        files.append(file)
    shown: set[str] = set()
    for file in list(files.documentation_pages()):
        shown.update(linked(file.content_string, home_of(file.src_uri)))
    for path in sorted(shown):
        place = place_of(path)
        if place is not None and place.startswith(("notebooks/", "source/")):
            page = notebook(path) if place.startswith("notebooks/") else source(path)
            files.append(
                File.generated(config, place, content=page, inclusion=InclusionLevel.NOT_IN_NAV)
            )
    return files


def notebook(path: str) -> str:
    """Return a notebook, which is a script in the repository, as Markdown with its outputs."""
    kept = ROOT / "notebooks" / "outputs" / f"{Path(path).stem}.json"
    outputs = iter(json.loads(kept.read_text(encoding="utf-8"))["outputs"] if kept.exists() else ())
    parts = []
    for cell in jupytext.read(ROOT / path).cells:
        if cell.cell_type != "code":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        if output := next(outputs, ""):
            parts.append(f"````text\n{output}\n````")
    return "\n\n".join(parts)


def source(path: str) -> str:
    """Return a page that shows a file, and that a search does not find: it is long."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return f"{NOT_FOUND}# {path}\n\n````{LANGUAGES.get(Path(path).suffix, 'text')}\n{text}````\n"


def linked(markdown: str, home: str) -> list[str]:
    """Return the files of the repository that a page links to."""
    targets = [found[2] for found in _LINK.finditer(_CODE.sub("", markdown))]
    paths = [
        posixpath.normpath(posixpath.join(posixpath.dirname(home), target))
        for target in targets
        if "://" not in target
    ]
    return [path for path in paths if (ROOT / path).is_file()]


def search_of(place: str, keywords: dict[str, list[str]]) -> dict[str, Any]:
    """Return how the search lists a page: not at all, below others, or under more words."""
    if place.startswith(UNLISTED) and place not in OUTSIDE.values():
        return {"search": {"exclude": True}}
    boosts = [boost for start, boost in BOOSTS.items() if place.startswith(start)]
    listed: dict[str, Any] = {"search": {"boost": boosts[0]}} if boosts else {}
    return listed | ({"tags": keywords[place]} if place in keywords else {})


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links that are paths of the repository into links of the site."""
    here = page.file.src_uri
    page.meta.update(search_of(here, config.extra["keywords"]))
    if here.startswith("source/"):
        return markdown
    if here in FIRST:
        page.meta["search"] = {"boost": FIRST[here]}
    folder = posixpath.dirname(home_of(here))

    def link(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        place = place_of(posixpath.normpath(posixpath.join(folder, target)))
        if place is None:
            return text.lstrip("!")[1:-2]
        return f"{text}{posixpath.relpath(place, posixpath.dirname(here) or '.')}{anchor})"

    # What stands after the language says how a test runs the block, and would hide it from the
    # highlighter.
    markdown = re.sub(r"^```(\w+) [\w.]+$", r"```\1", markdown, flags=re.MULTILINE)
    parts = re.split(r"(```.*?```)", markdown, flags=re.DOTALL)
    return "".join(part if part.startswith("```") else _LINK.sub(link, part) for part in parts)


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Mark the cells of tables that hold numbers alone."""
    return _NUMBERS.sub('<td class="numbers">', html)


def on_post_build(*, config: MkDocsConfig) -> None:
    """Remove what no reader loads: maps of minified scripts, and the search's other languages."""
    assets = Path(config.site_dir) / "assets"
    for file in assets.rglob("*.map"):
        file.unlink()
    shutil.rmtree(assets / "javascripts" / "lunr")
