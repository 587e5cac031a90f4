"""Rechecks a page: its runs are those of which it was made, and each cell follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from textcraft_gym.errors import RunError, TextCraftGymError, os_reason
from textcraft_gym.reports.folders import Folders
from textcraft_gym.reports.metrics import ERRORS
from textcraft_gym.reports.provenance import (
    STAMPED,
    Provenance,
    Source,
    digest_of_folder,
    read_provenance,
    stamped,
)
from textcraft_gym.reports.records import read_bounded, shown
from textcraft_gym.verify.cells import changes, parts
from textcraft_gym.verify.recheck import Findings
from textcraft_gym.verify.steps import step_claims

Maker: TypeAlias = Callable[[Provenance, Mapping[str, Path], str], str]
"""Writes a page again, of what it follows from, its runs by name, and the suffix of its format."""


@dataclass
class PageCheck(Findings):
    """Outcome of a recheck of a page.

    Attributes:
        runs: Number of its runs.
        parts: Number of cells and lines that were compared.
    """

    runs: int = 0
    parts: int = 0

    def _about(self) -> str:
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        if not self.parts:
            return f"not recomputed from its {runs}"
        return f"{self.parts:,} cells and lines recomputed from {runs}"


def find_pages(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder that may be pages, in order."""
    if folder.is_dir():
        for file in sorted(folder.iterdir()):
            if file.suffix in STAMPED and file.is_file():
                yield file


def verify_page(
    file: Path,
    makers: Mapping[str, Maker],
    folders: Iterable[Path] = (),
) -> PageCheck | None:
    """Recompute a page from its runs, and compare every cell and line.

    Args:
        file: The page: of Markdown, CSV, LaTeX, HTML or SVG.
        makers: What writes pages, by the name of the command that did.
        folders: Where its runs may be if they are not below its own folder: runs, or folders of
            runs.

    Returns:
        The outcome; None for a file that names no runs.

    Raises:
        RunError: If it cannot be read, or what it says of its runs makes no sense.
    """
    try:
        text = read_bounded(file).replace("\r\n", "\n")
    except OSError as error:
        raise RunError(f"{file} cannot be read: {os_reason(error)}") from error
    except ValueError as error:
        raise RunError(f"{file} cannot be read: {error}") from error
    try:
        provenance = read_provenance(text, file.suffix)
        if provenance is None:
            return None
        if provenance.command not in makers:
            raise RunError(f"no command {shown(provenance.command)} writes pages")
        outcome = PageCheck(runs=len(provenance.runs))
        places = _checked_runs(provenance, [file.parent, *_around(folders)], outcome)
        if len(places) == len(provenance.runs):
            again = makers[provenance.command](provenance, places, file.suffix)
            _compare(file, text, stamped(again, file.suffix, provenance), outcome)
    except (TextCraftGymError, ValueError) as error:
        raise RunError(f"{file}: {error}") from error
    return outcome


def report_again(
    provenance: Provenance,
    places: Mapping[str, Path],
    suffix: str,
) -> str:
    """Return a file of ``report`` as its runs give it now."""
    errors = provenance.options.get("errors")
    for policy in ERRORS:
        if errors == policy:
            why, steps = (provenance.options.get(name) is True for name in ("why", "steps"))
            claims = {name: step_claims(place) for name, place in places.items()} if steps else None
            return Folders(places, policy, with_causes=why, steps=claims).file(suffix)
    raise RunError(f"expected errors of {' or '.join(ERRORS)}, got {shown(errors)}")


def _around(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield folders below which runs may be: of a run, that which it is in."""
    for folder in folders:
        yield from (folder, folder.absolute().parent)


def _checked_runs(
    provenance: Provenance,
    roots: Iterable[Path],
    outcome: PageCheck,
) -> dict[str, Path]:
    """Return the folders of a page's runs by name, those that are there; note what differs."""
    roots = list(roots)
    places: dict[str, Path] = {}
    missing = []
    for run in provenance.runs:
        place = _place(run, roots)
        if place is None:
            missing.append(run.folder)
            continue
        places[run.label] = place
        digest = digest_of_folder(place)
        if digest != run.sha256:
            digests = f"digest {digest[:16]}, the page says {run.sha256[:16]}"
            outcome.differs(run.label, f"not the run that the page was made from: {digests}")
    if missing:
        more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        names = f"{', '.join(missing[:10])}{more}"
        count = f"{len(missing)} of {len(provenance.runs)} runs"
        outcome.differs(count, f"missing; name the folder that they are in, too: {names}")
    return places


def _place(run: Source, roots: Iterable[Path]) -> Path | None:
    for root in roots:
        place = root / run.folder
        if (place / "config.json").is_file():
            return place
    return None


def _compare(
    file: Path,
    recorded: str,
    recomputed: str,
    outcome: PageCheck,
) -> None:
    for change in changes(recorded, recomputed, file.suffix):
        outcome.differs(file.name, str(change))
    if recorded != recomputed and not outcome.count and file.suffix in (".html", ".htm"):
        outcome.notes.append(
            "its transcripts and calls, which are not compared, are packed otherwise here, or the "
            "calls of its runs are not here"
        )
    for part in parts(recomputed, file.suffix):
        outcome.parts += bool(part.text) and not part.text.startswith("<")  # the rest is markup
