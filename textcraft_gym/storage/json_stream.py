"""Reads a large JSON file entry by entry: the items of a list, or the members of an object.

Memory holds one entry and a piece of the file, and brackets nested without end are an error. A
byte-order mark is skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, NoReturn

MAX_DEPTH = 64
"""Maximum number of brackets within each other in an entry."""
MAX_ENTRY = 1 << 24
"""Length from which an entry is given up, in characters."""

_PIECE = 1 << 20
_BLANKS = re.compile(r"[ \t\r\n]*")
_NUMBER_SIGNS = re.compile(r"[-+.eE0-9]*")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|([\[{])|([\]}])')
# Half a pair of surrogates makes a text that cannot be written.
_SURROGATE = re.compile(r"\\u[dD][89aAbB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\.")


class JSONStreamError(ValueError):
    """Text that is not JSON, too long, or nested too deeply."""


def read_items(file: Path, on_read: Callable[[int], None]) -> Iterator[Any]:
    """Yield the items of the list in a file.

    Args:
        file: The file.
        on_read: Called before each item with the number of bytes that were read so far.

    Raises:
        JSONStreamError: At the first item that cannot be read.
    """
    with file.open("rb") as stream:
        reader = _Reader(stream)
        for _ in reader.entries("[", "]"):
            value, _ = reader.take()
            on_read(stream.tell())
            yield value


def read_members(file: Path, on_read: Callable[[int], None]) -> Iterator[tuple[str, str]]:
    """Yield each key of the object in a file, and its value as JSON, which takes less memory.

    Args:
        file: The file.
        on_read: Called before each member with the number of bytes that were read so far.

    Raises:
        JSONStreamError: At the first member that cannot be read.
    """
    with file.open("rb") as stream:
        reader = _Reader(stream)
        for _ in reader.entries("{", "}"):
            key, _ = reader.take()
            if not isinstance(key, str) or not reader.skip(":"):
                raise JSONStreamError(
                    "not JSON, or truncated: expected a key in quotes and a colon"
                )
            _, source = reader.take()
            on_read(stream.tell())
            yield key, source


class _Reader:
    """Takes JSON values from the start of a text, of which it reads as much as it needs.

    Args:
        stream: The text in UTF-8.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        self._text = ""
        self._at = 0

    def entries(self, opening: str, closing: str) -> Iterator[None]:
        """Yield wherever an entry starts, and go on where the caller has taken it."""
        if not self.skip(opening):
            raise JSONStreamError(f"not JSON, or truncated: expected {opening}")
        more = not self.skip(closing)
        while more:
            yield
            more = self.skip(",")
            if not more and not self.skip(closing):
                raise JSONStreamError(f"not JSON, or truncated: expected a comma or {closing}")
        if self._peek():
            raise JSONStreamError(f"not JSON, or truncated: expected nothing after {closing}")

    def skip(self, sign: str) -> bool:
        """Skip blanks, and the sign if it follows; return whether it does."""
        if self._peek() != sign:
            return False
        self._at += 1
        return True

    def take(self) -> tuple[Any, str]:
        """Take a value, and return it with its JSON."""
        self._peek()
        value, end = self._decoded()
        source, self._at = self._text[self._at : end], end

        # The count is cheap, and no more than the depth of nearly all entries.
        if source.count("[") + source.count("{") > MAX_DEPTH and _depth(source) > MAX_DEPTH:
            raise JSONStreamError(_TOO_DEEP)
        if "\\ud" in source or "\\uD" in source:
            source = _SURROGATE.sub(lambda escape: "?" if escape[1] else escape[0], source)
            value = json.loads(source)
        return value, source

    def _decoded(self) -> tuple[Any, int]:
        """Return the value that begins here, and where it ends; more is read until it is whole."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                # Perhaps the rest of the value was not read yet.
                if len(self._text) - self._at > MAX_ENTRY:
                    raise JSONStreamError(
                        f"not JSON, or an entry of more than {MAX_ENTRY} characters"
                    ) from error
                if not self._read():
                    raise JSONStreamError(f"not JSON, or truncated: {error.msg}") from error
            except RecursionError as error:
                raise JSONStreamError(_TOO_DEEP) from error
            except ValueError as error:
                raise JSONStreamError(f"not JSON, or truncated: {error}") from error
            else:
                # A number at the end of what was read may go on: ``1e`` is read as 1.
                signs = _NUMBER_SIGNS.match(self._text, end)
                if signs and signs.end() < len(self._text):
                    return value, end
                if not self._read():
                    raise JSONStreamError("not JSON, or truncated: expected an end")

    def _peek(self) -> str:
        """Skip blanks, and return the sign that follows; empty at the end."""
        while True:
            self._at = _BLANKS.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text) or not self._read():
                return self._text[self._at : self._at + 1]

    def _read(self) -> bool:
        """Read on, and return whether there was more.

        As much again as is waiting is read, so that a long entry is tried few times.
        """
        try:
            piece = self._stream.read(max(_PIECE, len(self._text) - self._at))
        except UnicodeError as error:
            raise JSONStreamError(f"not JSON, or truncated: {error}") from error
        self._text, self._at = self._text[self._at :] + piece, 0
        return bool(piece)


def _depth(source: str) -> int:
    """Return the largest number of brackets within each other; those in strings do not count."""
    depth = deepest = 0
    for match in _STRING_OR_BRACKET.finditer(source):
        depth += bool(match[1]) - bool(match[2])
        deepest = max(deepest, depth)
    return deepest


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)
_TOO_DEEP = f"nested more than {MAX_DEPTH} brackets deep"
