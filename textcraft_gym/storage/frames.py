"""A compressed file that grows by whole texts, of which any can be read without the others.

Each text is a member of a gzip file, so that ``zcat`` prints them all. The header of a member has
its length in an extra field, ``TC``: members are found by reading headers alone. What a killed
process left of a last one, or a damaged one, is no member and is passed over.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import IO, NamedTuple

MAX_TEXT = 1 << 28
"""Maximum length of a text, in bytes."""

_SIGNATURE = b"\x1f\x8b\x08\x04" + bytes(5) + b"\xff" + b"\x0c\x00TC\x08\x00"
"""Begins a header: deflate, no time, any system, and an extra field of eight bytes."""
_LENGTH = struct.Struct("<Q")
_HEADER = len(_SIGNATURE) + _LENGTH.size
_GZIP, _RAW = 31, -15
"""Forms in which zlib reads a member, and writes what is between its header and its checksum."""
_BLOCK = 1 << 16


class FrameError(ValueError):
    """A text that cannot be read: damaged, or too long."""


class Span(NamedTuple):
    """Where a member is in its file, in bytes."""

    start: int
    length: int

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.start + self.length


def frame(text: bytes) -> bytes:
    """Return a text as a member.

    Raises:
        ValueError: If it is too long.
    """
    if len(text) > MAX_TEXT:
        raise ValueError(f"expected a text of at most {MAX_TEXT >> 20} MiB")
    deflate = zlib.compressobj(9, zlib.DEFLATED, _RAW)
    body = deflate.compress(text) + deflate.flush()
    checksum = struct.pack("<II", zlib.crc32(text), len(text))
    length = _HEADER + len(body) + len(checksum)
    return _SIGNATURE + _LENGTH.pack(length) + body + checksum


def spans(file: IO[bytes]) -> Iterator[Span]:
    """Yield where the members of a file are; their texts are not read."""
    size = file.seek(0, 2)
    start = 0
    while start + _HEADER <= size:
        file.seek(start)
        span = Span(start, _length(file.read(_HEADER)))
        if _HEADER < span.length <= size - start and _is_member(file, span, size):
            yield span
            start = span.end
        else:
            start = _next_signature(file, start + 1)
            if start < 0:
                return


def end_of_members(file: IO[bytes]) -> int:
    """Return where the last whole member of a file ends; what is behind it is none."""
    end = 0
    for span in spans(file):
        end = span.end
    return end


def read(file: IO[bytes], span: Span) -> bytes:
    """Return the text of a member.

    Raises:
        FrameError: If it is damaged or too long.
    """
    file.seek(span.start)
    inflate = zlib.decompressobj(_GZIP)
    try:
        text = inflate.decompress(file.read(span.length), MAX_TEXT)
    except zlib.error as error:
        raise FrameError(f"damaged: {error}") from error
    if not inflate.eof:
        raise FrameError(f"incomplete, or longer than {MAX_TEXT >> 20} MiB")
    return text


def first_line(file: IO[bytes], span: Span) -> bytes:
    """Return the first line of a member, without its line break; few bytes are read.

    Raises:
        FrameError: If it is damaged, or its first line too long.
    """
    file.seek(span.start)
    try:
        begun = zlib.decompressobj(_GZIP).decompress(file.read(min(span.length, _BLOCK)), _BLOCK)
    except zlib.error as error:
        raise FrameError(f"damaged: {error}") from error
    line, line_break, _ = begun.partition(b"\n")
    if not line_break:
        raise FrameError("its first line is too long")
    return line


def _length(header: bytes) -> int:
    """Return the length that a header gives; 0 if it is none."""
    if not header.startswith(_SIGNATURE):
        return 0
    length: int = _LENGTH.unpack(header[len(_SIGNATURE) :])[0]
    return length


def _is_member(
    file: IO[bytes],
    span: Span,
    size: int,
) -> bool:
    """Return whether the length in a header is right: at its end is another header, or nothing.

    Otherwise one of the two is damaged, and the text has to be read.
    """
    file.seek(span.end)
    if _SIGNATURE.startswith(file.read(min(len(_SIGNATURE), size - span.end))):
        return True
    try:
        read(file, span)
    except FrameError:
        return False
    return True


def _next_signature(file: IO[bytes], start: int) -> int:
    """Return where the next header begins; -1 if there is none."""
    file.seek(start)
    kept = b""
    while block := file.read(_BLOCK):
        place = (kept + block).find(_SIGNATURE)
        if place >= 0:
            return start + place
        rest = (kept + block)[-len(_SIGNATURE) + 1 :]
        start += len(kept) + len(block) - len(rest)
        kept = rest
    return -1
