"""What a page follows from: the command that wrote it, and the digest of each of its runs.

Each format holds it where its readers are not disturbed: Markdown as a section, CSV in the first
row of a column of its own, LaTeX as comments, HTML and SVG as metadata.
"""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from textcraft_gym.errors import RunError
from textcraft_gym.reports.records import key_of, read_config, read_records, without_timing
from textcraft_gym.storage.json_types import is_of_type

PLAYER = ("agent", "agent_args", "model", "planner", "prompts")
"""What a config says of who played."""
COLUMN = "made_from"
"""The column of CSV."""
MAX_RUNS = 10_000
"""Maximum number of runs of a page that is read."""
_MARKDOWN = "\n## Runs\n\n`textcraft-gym verify` recomputes this page from them.\n\n```json\n"
_LATEX = "% `textcraft-gym verify` recomputes this table from its runs:\n"
_HTML = '<meta name="textcraft-gym" content="'
_SVG = "<metadata>"


@dataclass(frozen=True)
class Source:
    """A run of a page.

    Attributes:
        name: The name of the run on the page; empty if it is the folder's.
        folder: Its folder, relative to the page's if it is below that; else its name.
        sha256: Its digest (see ``digest_of``).
    """

    name: str
    folder: str
    sha256: str

    @property
    def label(self) -> str:
        """The name of the run."""
        return self.name or self.folder


@dataclass(frozen=True)
class Provenance:
    """What a page follows from.

    Attributes:
        command: The command that wrote it: ``report`` or ``reproduce``.
        options: The options that determine it.
        runs: Its runs, in order.
    """

    command: str
    options: dict[str, Any]
    runs: list[Source]


def digest_of(config: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> str:
    """Return the digest of a run, which is the same however often it is played alike.

    It is that of the records without their times and of who played: two players may act alike.
    """
    lines = {}
    for record in records:
        lines[key_of(record)] = json.dumps(without_timing(record), sort_keys=True)
    player = json.dumps({name: config.get(name) for name in PLAYER}, sort_keys=True)
    digest = hashlib.sha256(f"{player}\n".encode())
    for key in sorted(lines):
        digest.update(f"{lines[key]}\n".encode())
    return digest.hexdigest()


def digest_of_folder(folder: Path) -> str:
    """Return the digest of the run in a folder.

    Raises:
        RunError: If it is no run folder.
    """
    return digest_of(read_config(folder), read_records(folder))


def sources(
    folders: Mapping[str, Path],
    digests: Mapping[str, str],
    home: Path,
) -> list[Source]:
    """Return the runs of a page.

    Args:
        folders: Their folders by name.
        digests: Their digests by name.
        home: The folder of the page.
    """
    runs = []
    for name, folder in folders.items():
        # Not resolved: a folder may be a link to where there is more room.
        place, above = Path(os.path.abspath(folder)), Path(os.path.abspath(home))
        path = place.relative_to(above).as_posix() if place.is_relative_to(above) else name
        runs.append(Source("" if name == path else name, path, digests[name]))
    return runs


def stamped(
    text: str,
    suffix: str,
    provenance: Provenance,
) -> str:
    """Return a page with what it follows from.

    Args:
        text: The page.
        suffix: The suffix of its format.
        provenance: What it follows from.
    """
    return _FORMS[suffix].write(text, _as_text(provenance))


def read_provenance(text: str, suffix: str) -> Provenance | None:
    """Return what a page follows from; None if it does not say so.

    Raises:
        RunError: If what it says makes no sense, or names a folder that is not below the page's.
    """
    if suffix not in _FORMS:
        return None
    held = _FORMS[suffix].read(text)
    if not held:
        return None
    try:
        fields = json.loads(held)
    except (ValueError, RecursionError) as error:
        raise RunError(f"what it was made from is not JSON: {error}") from error
    if not is_of_type(fields, Provenance):
        raise RunError("what it was made from has not the fields command, options and runs")
    runs = [Source(**run) for run in fields["runs"]]
    if len(runs) > MAX_RUNS:
        raise RunError(f"expected at most {MAX_RUNS} runs, got {len(runs)}")
    for run in runs:
        path = Path(run.folder)
        if path.is_absolute() or ".." in path.parts or "\0" in run.folder:
            raise RunError(f"expected folders of runs below the page's, got {run.folder!r}")
    if len({run.label for run in runs}) < len(runs):
        raise RunError("it names two runs alike")
    return Provenance(fields["command"], fields["options"], runs)


def _as_text(provenance: Provenance) -> str:
    """Return it as JSON in ASCII, with a line for each run."""
    fields = asdict(provenance)
    runs = ",\n".join(map(json.dumps, fields.pop("runs")))
    return f'{json.dumps(fields)[:-1]}, "runs": [\n{runs}\n]}}'


def _write_markdown(text: str, held: str) -> str:
    return f"{text}{_MARKDOWN}{held}\n```\n"


def _read_markdown(text: str) -> str:
    return text.rpartition(_MARKDOWN)[2].partition("\n```")[0] if _MARKDOWN in text else ""


def _write_latex(text: str, held: str) -> str:
    lines = "".join(f"% {line}\n" for line in held.splitlines())
    return f"{text}{_LATEX}{lines}"


def _read_latex(text: str) -> str:
    lines = text.rpartition(_LATEX)[2].split("\n") if _LATEX in text else []
    return "\n".join(line.removeprefix("% ") for line in lines if line.startswith("% "))


def _write_csv(text: str, held: str) -> str:
    """Give a table a last column, whose first cell holds it."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    for number, row in enumerate(csv.reader(io.StringIO(text))):
        writer.writerow([*row, (COLUMN, held.replace("\n", " "))[number] if number < 2 else ""])
    return written.getvalue()


def _read_csv(text: str) -> str:
    try:
        rows = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
        if COLUMN in (headings := next(rows, [])):
            column = headings.index(COLUMN)
            return next((row[column] for row in rows if any(row[column:])), "")
    except csv.Error:
        return ""
    return ""


def _write_html(text: str, held: str) -> str:
    return text.replace("</head>", f'{_HTML}{_escaped(held)}">\n</head>', 1)


def _read_html(text: str) -> str:
    return html.unescape(text.partition(_HTML)[2].partition('">')[0])


def _write_svg(text: str, held: str) -> str:
    image, end, after = text.rpartition("</svg>")
    return f"{image}{_SVG}{_escaped(held)}</metadata>{end}{after}"


def _read_svg(text: str) -> str:
    return html.unescape(text.partition(_SVG)[2].partition("</metadata>")[0])


def _escaped(held: str) -> str:
    return html.escape(held.replace("\n", " "))


class _Form(NamedTuple):
    write: Callable[[str, str], str]
    read: Callable[[str], str]


_FORMS: Mapping[str, _Form] = {
    ".md": _Form(_write_markdown, _read_markdown),
    ".csv": _Form(_write_csv, _read_csv),
    ".tex": _Form(_write_latex, _read_latex),
    ".html": _Form(_write_html, _read_html),
    ".htm": _Form(_write_html, _read_html),
    ".svg": _Form(_write_svg, _read_svg),
}
STAMPED = tuple(_FORMS)
"""Suffixes of the formats that can say what they follow from."""
