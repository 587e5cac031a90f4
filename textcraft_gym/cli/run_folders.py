"""Run folders that a command is given, and what it says first about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from textcraft_gym.reports.differences import as_sentence, differences
from textcraft_gym.reports.growing import find_runs
from textcraft_gym.reports.notes import unfinished
from textcraft_gym.reports.pools import Pool


def run_folders(folders: Iterable[Path]) -> list[Path]:
    """Return the folders that are runs, and in place of others the runs below them, if any."""
    runs = []
    for folder in folders:
        runs += runs_in(folder) or [folder]
    return runs


def runs_in(folder: Path) -> list[Path]:
    """Return a folder that is a run, or the runs below it."""
    is_run = (folder / "config.json").exists()
    return [folder] if is_run else [place for _, place in find_runs(folder)]


def warnings_of(pools: Sequence[Pool], *, is_one_world: bool = False) -> list[str]:
    """Return what may explain a difference between runs, and which runs are unfinished.

    Args:
        pools: The runs.
        is_one_world: Whether runs of different worlds are compared, too.
    """
    worlds: dict[str, dict[str, Mapping[str, Any]]] = {}
    for pool in pools:
        world = "" if is_one_world else pool.config["env"]
        worlds.setdefault(world, {})[pool.name] = pool.config
    lines = []
    for world, configs in worlds.items():
        if sentence := as_sentence(differences(configs)):
            lines.append(f"{world}: {sentence}" if len(worlds) > 1 else sentence)
    for pool in pools:
        for run, state in unfinished(pool.runs, dict.fromkeys(pool.runs, pool.config)).items():
            lines.append(f"{run}: {state}.")
    return lines
