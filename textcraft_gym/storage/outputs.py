"""Files that a command may write: none that it reads, and none of a run's own."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

RUN_FILES = ("config.json", "episodes.jsonl", "damaged.jsonl", "summary.json", "report.md")
"""What a run keeps in its folder."""


def run_files(folder: Path) -> list[Path]:
    """Return the files of a run."""
    return [folder / name for name in RUN_FILES]


def check_output(file: Path, reads: Iterable[object] = ()) -> None:
    """Make sure that a file to write is none of a run, and none that is read.

    Args:
        file: The file.
        reads: Files and folders that are read, and other values of options, which are left out. Of
            a split in a file, ``FILE:NAME``, it is the file.

    Raises:
        ValueError: If it is.
    """
    for source in reads:
        if isinstance(source, str | Path) and any(
            _holds(part, file) for part in _paths(str(source))
        ):
            raise ValueError(
                f"{file} is read, and would be overwritten: expected another file to write"
            )
    target = Path(os.path.realpath(file))
    is_of_a_run = (target.parent / "episodes.jsonl").exists() and (
        target.parent / "config.json"
    ).exists()
    if target.name in RUN_FILES and is_of_a_run:
        raise ValueError(f"{file} is a run's own: expected another file to write")


def _paths(source: str) -> tuple[str, ...]:
    return source, source.rpartition(":")[0]


def _holds(source: str, file: Path) -> bool:
    """Return whether two paths are of one file, by whatever name, or the first of a folder that holds the second."""
    with suppress(OSError, ValueError):
        if os.path.samefile(source, file):
            return True
        return (
            os.path.isdir(source)
            and file.exists()
            and Path(source).resolve() in file.resolve().parents
        )
    return False
