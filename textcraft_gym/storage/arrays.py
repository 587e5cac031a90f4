"""Flat arrays in one file: small in memory, shared by processes, and cached on disk.

They are written one after another, each in parts, so that memory need not hold any of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import time
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from textcraft_gym.storage.cache import cache_folder

Arrays: TypeAlias = "dict[str, NDArray[Any]]"
Append: TypeAlias = "Callable[[str, NDArray[Any]], object]"
"""Appends a part to the array of this name: to the last one, or to a new one."""
Write: TypeAlias = "Callable[[Append], object]"
"""Writes arrays."""

_ALIGNMENT = 64
_CHUNK = 1 << 22
_TRAILER = struct.Struct(">IQ")


class Records(Sequence[Any]):
    """JSON values, one after another, parsed on access."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        self._data, self._ends = arrays[name], arrays[f"{name}_ends"]

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: Any) -> Any:
        # A value starts where the one before it ends.
        start = self._ends[index - 1] if index else 0
        return json.loads(self._data[start : self._ends[index]].tobytes())


class RecordWriter:
    """Writes JSON values that ``Records`` reads.

    Args:
        append: Takes the arrays.
        name: Their name.
        deferred: Whether to keep all values until ``close``, since another array is written until
            then.
    """

    def __init__(
        self,
        append: Append,
        name: str,
        *,
        deferred: bool = False,
    ) -> None:
        self._append, self._name, self._deferred = append, name, deferred
        self._waiting, self._ends, self._size = bytearray(), array("q"), 0

    def add(self, value: object) -> None:
        """Add a value."""
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        record = text.encode(errors="surrogatepass")
        self._waiting += record
        self._size += len(record)
        self._ends.append(self._size)
        if len(self._waiting) >= _CHUNK and not self._deferred:
            self._flush()

    def close(self) -> None:
        """Append what is left."""
        self._flush()
        self._append(f"{self._name}_ends", np.frombuffer(self._ends, np.int64))

    def _flush(self) -> None:
        self._append(self._name, np.frombuffer(self._waiting, np.uint8))
        self._waiting = bytearray()


def write_records(
    append: Append,
    name: str,
    values: Iterable[object],
) -> None:
    """Append the arrays of values that ``Records`` reads."""
    writer = RecordWriter(append, name)
    for value in values:
        writer.add(value)
    writer.close()


class Names:
    """Indices by name, found by a hash of it, of which 64 bits tell any names apart.

    A dictionary of a million names would take longer to make than the arrays may take to open.
    """

    def __init__(self, arrays: Arrays, kind: str) -> None:
        self._hashes, self._indices = arrays[f"{kind}_hashes"], arrays[f"{kind}_indices"]

    @staticmethod
    def write(
        append: Append,
        kind: str,
        names: Iterable[tuple[str, int]],
    ) -> None:
        """Append the arrays of names and indices; of the same names, the first comes first."""
        hashes, indices = array("Q"), array("i")
        for name, index in names:
            hashes.append(_hash(name))
            indices.append(index)
        order = np.argsort(np.frombuffer(hashes, np.uint64), kind="stable")
        append(f"{kind}_hashes", np.frombuffer(hashes, np.uint64)[order])
        append(f"{kind}_indices", np.frombuffer(indices, np.int32)[order])

    def first(self, name: str) -> int | None:
        """Return the first index of this name."""
        indices = self._all(name)
        return int(indices[0]) if len(indices) else None

    def only(self, name: str) -> int | None:
        """Return the index of this name if there is just one."""
        indices = self._all(name)
        return int(indices[0]) if len(indices) == 1 else None

    def _all(self, name: str) -> NDArray[np.int32]:
        hashed = np.uint64(_hash(name))
        start = end = int(self._hashes.searchsorted(hashed))
        while end < len(self._hashes) and self._hashes[end] == hashed:
            end += 1
        return self._indices[start:end]


def _hash(name: str) -> int:
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def cached(name: str, stamp: str, write: Write) -> Arrays:
    """Return arrays from the cache, mapped into memory; they are written there first.

    Without a cache they are kept in memory. Of processes that need the same arrays at once, one
    writes them, and the others wait for it. A process that is killed leaves an unfinished file,
    which the next one overwrites.

    Args:
        name: Name of the file in the cache.
        stamp: Version of the content: a file with another stamp is replaced.
        write: Writes the arrays.
    """
    file = cache_folder() / name
    arrays = _read(file, stamp)
    try:
        if arrays is None:
            file.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{file}.lock"):
                # Another process may have written it while this one waited for the lock.
                arrays = _read(file, stamp) or _written(file, stamp, write)
    except (OSError, NotImplementedError):  # the latter where the file system has no locks
        arrays = None
    return in_memory(write) if arrays is None else arrays


def in_memory(write: Write) -> Arrays:
    """Return arrays that are written to memory."""
    stream = BytesIO()
    layout = _Writer(stream)
    write(layout.append)
    return _arrays(np.frombuffer(stream.getbuffer(), np.uint8), layout.layout)


# The file: the aligned arrays, a line of JSON that says where each begins, a checksum of both, and
# the line's length.


class _Writer:
    """Writes arrays.

    Attributes:
        layout: The type, the start and the size of each, in bytes.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.layout: dict[str, list[Any]] = {}
        self._stream = stream
        self._size = self._checksum = 0

    def append(self, name: str, part: NDArray[Any]) -> None:
        """Append a part to an array; see ``Append``."""
        if name not in self.layout:
            # Padded, so that the mapped bytes can be viewed as numbers of any type.
            self._put(bytes(-self._size % _ALIGNMENT))
            self.layout[name] = [part.dtype.str, self._size, 0]
        else:
            last = next(reversed(self.layout))
            if name != last:
                raise ValueError(f"expected a part of {last!r} or a new array, got {name!r}")
        self._put(part)
        self.layout[name][-1] += part.nbytes

    def close(self, stamp: str) -> int:
        """Write the end of a file, and return its checksum."""
        start = self._size
        self._put(json.dumps([stamp, self.layout]).encode())
        self._stream.write(_TRAILER.pack(self._checksum, self._size - start))
        return self._checksum

    def _put(self, part: Any) -> None:
        self._checksum = zlib.crc32(part, self._checksum)
        self._size += self._stream.write(part)


def _written(file: Path, stamp: str, write: Write) -> Arrays | None:
    """Write a file and return its arrays. The caller holds its lock."""
    unfinished = file.with_name(f"{file.name}.new")
    try:
        with unfinished.open("wb") as stream:
            writer = _Writer(stream)
            write(writer.append)
            checksum = writer.close(stamp)
            stream.flush()
            os.fsync(stream.fileno())  # the seal tells that all of it has reached the disk
        _seal(unfinished, checksum)
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
    return _read(file, stamp)


def _read(file: Path, stamp: str) -> Arrays | None:
    """Return the arrays, mapped into memory; None for a missing, damaged or differing file."""
    try:
        with file.open("rb") as stream:
            end = stream.seek(-_TRAILER.size, os.SEEK_END)
            checksum, length = _TRAILER.unpack(stream.read())
            stream.seek(end - length)
            file_stamp, layout = json.loads(stream.read(length))
            if file_stamp != stamp:
                return None
            if not _is_sealed(file, checksum):
                if _checksum(stream, end) != checksum:
                    return None
                with suppress(OSError):  # another user's file
                    _seal(file, checksum)
            return _arrays(np.asarray(np.memmap(stream, np.uint8, "r")), layout)
    except (OSError, ValueError, TypeError):
        return None


def _arrays(data: NDArray[np.uint8], layout: dict[str, list[Any]]) -> Arrays:
    arrays: Arrays = {}
    for name, (kind, start, size) in layout.items():
        arrays[name] = data[start : start + size].view(kind)
    return arrays


def _checksum(stream: IO[bytes], end: int) -> int:
    """Return the checksum of a file up to an end."""
    checksum = stream.seek(0)
    while left := end - stream.tell():
        chunk = stream.read(min(_CHUNK, left))
        if not chunk:
            raise ValueError("the file shrank while it was read")
        checksum = zlib.crc32(chunk, checksum)
    return checksum


# Reading gigabytes at each start only for their checksum would take longer than using them. So the
# time of a file whose content was checked carries a seal, its fraction of a second; whoever writes
# to the file breaks it.


def _seal(file: Path, checksum: int) -> None:
    moment = time.time_ns() // 10**9 * 10**9 + _fraction(checksum)
    os.utime(file, ns=(moment, moment))


def _is_sealed(file: Path, checksum: int) -> bool:
    return file.stat().st_mtime_ns % 10**9 == _fraction(checksum)


def _fraction(checksum: int) -> int:
    """Return nanoseconds, in the steps of 100 that every system keeps."""
    return checksum % 10**7 * 100
