"""Files that a command may write: none that it reads, and none that belongs to a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

RUN_FILES = (
    "config.json",
    "episodes.jsonl",
    "damaged.jsonl",
    "calls.jsonl.gz",
    "summary.json",
    "report.md",
)
"""What a run keeps in its folder."""


def run_files(folder: Path) -> list[Path]:
    """Return the files of a run."""
    return [folder / name for name in RUN_FILES]


def check_output(
    file: Path,
    reads: Iterable[object] = (),
    suffixes: Sequence[str] = (),
) -> None:
    """Make sure that a file to write is of its format, none of a run, and none that is read.

    Args:
        file: The file.
        reads: Files and folders that are read, and other values of options, which are left out. Of
            a split in a file, ``FILE:NAME``, it is the file.
        suffixes: Those of its format, so that a slip overwrites no program or note; () for any.

    Raises:
        ValueError: If it is not.
    """
    for source in reads:
        if not isinstance(source, str | Path):
            continue
        for path in _paths(str(source)):
            if _holds(path, file):
                raise ValueError(
                    f"{file} is an input, and would be overwritten: choose another file"
                )

    # A link could lead into a run.
    target = Path(os.path.realpath(file))
    folder = target.parent
    is_run = (folder / "episodes.jsonl").exists() and (folder / "config.json").exists()
    if is_run and target.name in RUN_FILES:
        raise ValueError(f"{file} is a file of a run: choose another file")
    if suffixes and file.suffix not in suffixes:
        raise ValueError(f"expected a file {' or '.join(suffixes)}, got {file}")


def _paths(source: str) -> tuple[str, ...]:
    return source, source.rpartition(":")[0]


def _holds(source: str, file: Path) -> bool:
    """Return whether two paths are of one file, or the first of a folder that holds the second."""
    with suppress(OSError, ValueError):
        if os.path.samefile(source, file):
            return True
        if os.path.isdir(source) and file.exists():
            return Path(source).resolve() in file.resolve().parents
    return False
