"""On-disk cache, where every failure counts as a miss, and atomic writes."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

CACHE_VARIABLE = "TEXTCRAFT_GYM_CACHE"


def cache_folder() -> Path:
    """Return the folder: ``$TEXTCRAFT_GYM_CACHE``, else one in the user's cache."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    users = os.path.expanduser(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    if users.startswith("~"):  # a user without a home
        users = tempfile.gettempdir()
    return Path(users) / "textcraft_gym"


def keep(file: Path, write: Callable[[IO[bytes]], object]) -> bool:
    """Store what ``write`` writes to a stream as a file, atomically; return whether it could be.

    It may be lost in a power cut: it can be made again.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as part:
            write(part)
    except OSError:
        return False
    return True


def atomic_write(file: Path, content: str | bytes) -> None:
    """Write a file whole or not at all, so that it outlasts a power cut.

    Nothing else is left beside it. A pipe or a device is written to as it is, and of a link the
    file that it leads to.

    Raises:
        OSError: If it cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    if file.exists() and not file.is_file():
        file.write_bytes(data)
        return
    file = Path(os.path.realpath(file))
    with replacing(file) as part:
        part.write(data)
        part.flush()
        os.fsync(part.fileno())
    # The new name is in the folder, which is a file of its own. Windows cannot open it, nor some
    # file systems sync it.
    with suppress(OSError):
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def replacing(file: Path) -> Iterator[IO[bytes]]:
    """Open a new file that replaces ``file`` in the end, or is removed if it cannot be written.

    Raises:
        OSError: If it cannot; it names ``file``.
    """
    # Short, since a name has a maximum length.
    part = file.with_name(f".{secrets.token_hex(8)}.new")
    try:
        with part.open("xb") as stream:
            yield stream
        part.replace(file)
    except OSError as error:
        _remove(part)
        raise OSError(error.errno, error.strerror, str(file)) from error
    except BaseException:  # an interrupt, too
        _remove(part)
        raise


def _remove(file: Path) -> None:
    with suppress(OSError):  # its folder may be gone, or no folder
        file.unlink()
