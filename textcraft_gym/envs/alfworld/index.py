"""Which games of a folder can be played, remembered from one run to the next.

To tell whether a game can be played takes a millisecond or two, and a folder may hold thousands, so what was found is
kept in a file of the cache folder (see ``textcraft_gym.cache``). Games that cannot be played are not kept but looked at
each time: they are few, and what is wrong with each is told in full.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from textcraft_gym.cache import cache_folder, keep
from textcraft_gym.envs.alfworld.problem import TASK_TYPES

DECIDING = ("problem.py", "game.py", "rules.py", "expert.py", "tasks.py")
"""What decides whether a game can be played; an index that another version of it wrote is not used."""


def mark(file: Path) -> str:
    """Return what tells a file from itself after a change: its id, size and time; empty if it cannot be told."""
    try:
        found = file.stat()
    except OSError:
        return ""
    return f"{file.parts[-3]}/{file.parts[-2]} {found.st_size} {found.st_mtime_ns}"


def read_index(folder: Path) -> dict[str, str]:
    """Return the task types of a folder's games by their marks, as far as they are known."""
    try:
        kept: Any = json.loads(_file(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    games = kept.get("games") if isinstance(kept, dict) and kept.get("version") == _version() else None
    return games if isinstance(games, dict) and all(kind in TASK_TYPES for kind in games.values()) else {}


def write_index(folder: Path, games: dict[str, str]) -> None:
    """Keep task types by marks, if the cache folder can be written."""
    kept = json.dumps({"version": _version(), "games": games}, indent=0)
    keep(_file(folder), lambda stream: stream.write(kept.encode()))


def _file(folder: Path) -> Path:
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return cache_folder() / f"alfworld-{name}.json"


@lru_cache(maxsize=1)
def _version() -> str:
    package = files("textcraft_gym.envs.alfworld")
    return hashlib.sha256(b"".join(package.joinpath(name).read_bytes() for name in DECIDING)).hexdigest()
