"""An index of the playable games in a folder, cached from one run to the next.

Checking a game takes a millisecond or two, and a folder may hold thousands, so the results are kept
in a file of the cache folder (see ``textcraft_gym.storage.cache``). Games that cannot be played are
not cached but checked each time: they are few, and each is reported with its full error message.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from textcraft_gym.envs.alfworld.problem import TASK_TYPES
from textcraft_gym.storage.cache import cache_folder, keep

DECIDING = ("problem.py", "game.py", "rules.py", "expert.py", "tasks.py")
"""Modules that decide whether a game can be played: their change makes an index invalid."""


def file_stamp(file: Path) -> str:
    """Return a game file's task id, size and time of change; empty if it cannot be read."""
    try:
        status = file.stat()
    except OSError:
        return ""
    return f"{file.parts[-3]}/{file.parts[-2]} {status.st_size} {status.st_mtime_ns}"


def read_index(folder: Path) -> dict[str, str]:
    """Return the cached task type of each game in a folder, by file stamp."""
    try:
        index: Any = json.loads(_file(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(index, dict) or index.get("version") != _version():
        return {}
    # Other programs may write into the cache folder, too.
    games = index.get("games")
    if not isinstance(games, dict):
        return {}
    if not all(task_type in TASK_TYPES for task_type in games.values()):
        return {}
    return games


def write_index(folder: Path, games: dict[str, str]) -> None:
    """Cache the task type of each game by file stamp, if the cache folder is writable."""
    index = json.dumps({"version": _version(), "games": games}, indent=0)
    keep(_file(folder), lambda stream: stream.write(index.encode()))


def _file(folder: Path) -> Path:
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return cache_folder() / f"alfworld-{name}.json"


@lru_cache(maxsize=1)
def _version() -> str:
    package = files("textcraft_gym.envs.alfworld")
    digest = hashlib.sha256()
    for name in DECIDING:
        digest.update(package.joinpath(name).read_bytes())
    return digest.hexdigest()
