"""The site as files, which any server can publish and a browser opens from the disk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from textcraft_gym.errors import RunError
from textcraft_gym.reports.calls import FILE
from textcraft_gym.reports.growing import GrowingRun
from textcraft_gym.reports.page import html_page
from textcraft_gym.reports.page_episodes import calls_script
from textcraft_gym.reports.page_runs import run_lines, runs_page
from textcraft_gym.storage.cache import atomic_write

CALLS = "calls"
"""The folder of the calls in a bundle."""
MAX_TOGETHER = 100
"""Maximum number of runs on the page of all."""


class Bundle(NamedTuple):
    """What was written: the number of runs and of files, and their size in bytes."""

    runs: int
    files: int
    size: int


def write_bundle(
    runs: Mapping[str, GrowingRun],
    title: str,
    out: Path,
) -> Bundle:
    """Write the pages of runs into a new or empty folder.

    Args:
        runs: The runs, with their names.
        title: What they are called together.
        out: The folder.

    Raises:
        RunError: If there is no run, or one cannot be read.
        ValueError: If the folder has something in it.
    """
    if not runs:
        raise RunError(f"there is no run below {title}")
    _make_folder(out)
    files = _names(runs)
    addresses = {name: f"{file}.html" for name, file in files.items()}
    calls = {}
    for name, run in runs.items():
        if _write_calls(run, f"{CALLS}/{files[name]}", out):
            calls[name] = f"{CALLS}/{files[name]}"
        _write_report({name: run}, calls, out / addresses[name])
    if 1 < len(runs) <= MAX_TOGETHER:
        addresses[""] = "all.html"
        _write_report(runs, calls, out / addresses[""])
    index = runs_page(title, run_lines(runs), addresses, is_live=False)
    atomic_write(out / "index.html", index)
    sizes = [file.stat().st_size for file in out.rglob("*") if file.is_file()]
    return Bundle(len(runs), len(sizes), sum(sizes))


def _make_folder(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"expected a new or empty folder for the bundle, got {out}")
    out.mkdir(parents=True, exist_ok=True)


def _write_report(
    runs: Mapping[str, GrowingRun],
    calls: Mapping[str, str],
    file: Path,
) -> None:
    records = {name: run.records for name, run in runs.items()}
    configs = {name: run.config for name, run in runs.items()}
    of_runs = {name: calls[name] for name in runs if name in calls}
    atomic_write(file, html_page(records, configs, call_files=of_runs, home="index.html"))


def _write_calls(run: GrowingRun, folder: str, out: Path) -> bool:
    """Write the calls of each episode that asked a model, and return whether any were kept."""
    if not (run.folder / FILE).exists():
        return False
    (out / folder).mkdir(parents=True)
    for place, record in enumerate(run.records):
        if record["calls"]:
            name = f"{folder}/{place}"
            atomic_write(out / f"{name}.js", calls_script(name, run.calls_of(record)))
    return True


def _names(runs: Iterable[str]) -> dict[str, str]:
    """Return a name for the files of each run, of letters, digits and hyphens, no two alike."""
    names: dict[str, str] = {}
    for run in runs:
        name = base = re.sub(r"[^a-z0-9]+", "-", run.lower()).strip("-") or "run"
        number = 1
        while name in names.values() or name in ("index", "all", CALLS):
            number += 1
            name = f"{base}-{number}"
        names[run] = name
    return names
