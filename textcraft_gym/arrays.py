"""Flat arrays in one file: small in memory, shared by processes, and cached on disk."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textcraft_gym.cache import cache_folder, keep

Arrays: TypeAlias = "dict[str, NDArray[Any]]"

_ALIGNMENT = 64
_CHUNK = 1 << 22
_CHECKSUM = 4


class Records:
    """JSON values, one after another, parsed on access."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        self._data, self._ends = arrays[name], arrays[f"{name}_ends"]

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> Any:
        start = self._ends[index - 1] if index else 0  # a value starts where the one before it ends
        return json.loads(self._data[start : self._ends[index]].tobytes())


class RecordWriter:
    """Writes JSON values that ``Records`` reads."""

    def __init__(self) -> None:
        self.data, self.ends = bytearray(), array("q")

    def add(self, value: object) -> None:
        """Add a value."""
        self.data += json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
        self.ends.append(len(self.data))

    def arrays(self, name: str) -> Arrays:
        """Return the arrays from which ``Records`` reads the values by this name."""
        return {name: np.frombuffer(self.data, np.uint8), f"{name}_ends": np.frombuffer(self.ends, np.int64)}


def cached(name: str, stamp: str, build: Callable[[], Arrays]) -> Arrays:
    """Return arrays from the cache, mapped into memory; built, and cached where that is possible, if there are none.

    Args:
        name: Name of the file in the cache.
        stamp: Version of the content: a file with another stamp is replaced.
        build: Builds the arrays.
    """
    file = cache_folder() / name
    arrays = _read(file, stamp)
    if arrays is None:
        arrays = build()
        if keep(file, partial(_write, arrays, stamp)):
            arrays = _read(file, stamp) or arrays
    return arrays


# The file: a line of JSON that says where each array begins, the aligned arrays, and a checksum.


def _write(arrays: Arrays, stamp: str, stream: IO[bytes]) -> None:
    start, layout = 0, {}
    for name, part in arrays.items():
        layout[name] = [part.dtype.str, start, part.nbytes]
        start += part.nbytes + _padding(part.nbytes)
    header = json.dumps([stamp, layout]).encode()
    # Spaces, which JSON ignores, so that the arrays after the header are aligned.
    header += b" " * _padding(len(header) + 1) + b"\n"
    pieces: list[Any] = [header]
    for part in arrays.values():
        pieces += [part.data.cast("B"), bytes(_padding(part.nbytes))]
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
        stream.write(piece)
    stream.write(checksum.to_bytes(_CHECKSUM, "big"))


def _padding(size: int) -> int:
    """Return the number of bytes up to the next multiple of the alignment."""
    return -size % _ALIGNMENT


def _read(file: Path, stamp: str) -> Arrays | None:
    """Return the arrays, mapped into memory; None if the file is missing, damaged or has another stamp."""
    try:
        with file.open("rb") as stream:
            header = stream.readline()
            file_stamp, layout = json.loads(header)
            if file_stamp != stamp or not _is_whole(stream, zlib.crc32(header), file.stat().st_size - len(header)):
                return None
        data = np.asarray(np.memmap(file, np.uint8, "r"))[len(header) :]
        return {name: data[start : start + size].view(kind) for name, (kind, start, size) in layout.items()}
    except (OSError, ValueError, TypeError):
        return None


def _is_whole(stream: IO[bytes], checksum: int, left: int) -> bool:
    while left > _CHECKSUM:
        chunk = stream.read(min(_CHUNK, left - _CHECKSUM))
        if not chunk:
            return False
        checksum = zlib.crc32(chunk, checksum)
        left -= len(chunk)
    return stream.read() == checksum.to_bytes(_CHECKSUM, "big")
