"""Run folders that a command is given, and what it says first about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from textcraft_gym.reports.differences import as_sentence, differences
from textcraft_gym.reports.growing import find_runs
from textcraft_gym.reports.notes import unfinished
from textcraft_gym.reports.pools import Pool, pools
from textcraft_gym.reports.records import Records, read_config, read_records


def run_folders(folders: Iterable[Path]) -> list[Path]:
    """Return the folders that are runs, and in place of others the runs below them, if any."""
    runs = []
    for folder in folders:
        is_run = (folder / "config.json").exists()
        below = [] if is_run else [place for _, place in find_runs(folder)]
        runs += below or [folder]
    return runs


class Folders:
    """Run folders by their names, or by their paths if two have the same name.

    Attributes:
        paths: The folder of each run.
        records: Its records.
        configs: Its config.
    """

    def __init__(self, runs: Sequence[Path]) -> None:
        names = [run.name for run in runs]
        if len(set(names)) < len(names):
            names = list(map(str, runs))
        self.paths: dict[str, Path] = dict(zip(names, runs, strict=True))
        self.configs: dict[str, dict[str, Any]] = {}
        self.records: dict[str, Records] = {}
        for name, run in self.paths.items():
            self.configs[name] = read_config(run)
            self.records[name] = read_records(run)

    @cached_property
    def pools(self) -> list[Pool]:
        """The runs, with those that differ only in their seed as one."""
        return pools(self.records, self.configs)


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
