"""On-disk cache, where every failure counts as a miss, and atomic writes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

CACHE_VARIABLE = "TEXTCRAFT_GYM_CACHE"


def cache_folder() -> Path:
    """Return the folder: that of the environment variable ``TEXTCRAFT_GYM_CACHE``, else one in the user's cache."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    users = os.path.expanduser(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return Path(tempfile.gettempdir() if users.startswith("~") else users) / "textcraft_gym"


def keep(file: Path, write: Callable[[IO[bytes]], object]) -> bool:
    """Call ``write`` with a stream and store its output as a file, atomically; return whether that was possible."""
    made = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f"{file.name}.", delete=False) as part:
            made = part.name
            write(part)
        os.replace(made, file)
    except OSError:
        return False
    else:
        made = ""  # moved, so that there is nothing to remove
        return True
    finally:
        if made:
            Path(made).unlink(missing_ok=True)


def atomic_write(file: Path, text: str) -> None:
    """Write a text file whole or not at all.

    Raises:
        OSError: If it cannot be written.
    """
    unfinished = file.with_name(f"{file.name}.new")
    unfinished.write_text(text, encoding="utf-8", newline="\n")
    unfinished.replace(file)
