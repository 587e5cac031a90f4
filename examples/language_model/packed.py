"""The file that carries data from ``prepare.py`` to ``train.py``: JSON, then compressed arrays.

It needs NumPy alone, so that it is read where neither the worlds nor a tokenizer are.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FORMAT = 1
"""Version of the file, which changes with its layout."""
NAME = "textcraft_gym dialogues"
UNLEARNT = -100
"""The label of a token after which nothing is learnt."""
MAX_DIALOGUES = 255
DATA = "textcraft_gym.data_sha256"
"""Metadata key of an adapter: the digest, in its packed file's header, of what it learned from."""
MAX_HEADER = 1 << 16
KEYS = ("parts", "tokens", "learnt", "sha256")
"""What a header says of the parts."""


class Part(NamedTuple):
    """A situation and some dialogues about it, one behind another.

    Attributes:
        ids: Tokens, uint16.
        dialogues: Number of each token's dialogue, uint8; 0 for the situation.
        learnt: Whether the model learns to write each token.
    """

    ids: np.ndarray
    dialogues: np.ndarray
    learnt: np.ndarray

    @property
    def positions(self) -> np.ndarray:
        """Position of each token in its own dialogue, which begins with the situation."""
        index = np.arange(len(self.ids))
        situation = int(np.searchsorted(self.dialogues, 1))
        starts = np.searchsorted(self.dialogues, self.dialogues)
        return np.where(self.dialogues == 0, index, index - starts + situation)

    @property
    def labels(self) -> np.ndarray:
        """The token to predict after each token; ``UNLEARNT`` where none is learnt."""
        labels = np.full(len(self.ids), UNLEARNT)
        labels[:-1][self.learnt[1:]] = self.ids[1:][self.learnt[1:]]
        return labels


class Packed(NamedTuple):
    """The contents of a file.

    Attributes:
        header: What it says of itself: the plan, counts, and digests of the vocabulary, teachers
            and contents.
        parts: The data, in the order in which it was written.
    """

    header: Mapping[str, Any]
    parts: Sequence[Part]


def write_packed(file: Path, parts: Sequence[Part], about: Mapping[str, Any]) -> dict[str, Any]:
    """Write parts to a file and return its header; the same parts give the same bytes.

    Args:
        file: The file.
        parts: The data.
        about: What else the header says, such as the plan.
    """
    content = b"".join(
        (
            np.concatenate([part.ids for part in parts]).astype("<u2").tobytes(),
            np.concatenate([part.dialogues for part in parts]).astype("u1").tobytes(),
            np.packbits(np.concatenate([part.learnt for part in parts])).tobytes(),
            np.array([len(part.ids) for part in parts], "<u2").tobytes(),
        )
    )
    header = {
        "name": NAME,
        "format": FORMAT,
        **about,
        "parts": len(parts),
        "tokens": sum(len(part.ids) for part in parts),
        "learnt": sum(int(part.learnt.sum()) for part in parts),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    unfinished = file.with_name(f"{file.name}.part")
    unfinished.write_bytes(json.dumps(header).encode() + b"\n" + lzma.compress(content))
    unfinished.replace(file)
    return header


def read_header(file: Path) -> dict[str, Any]:
    """Return what a packed file says of itself.

    Raises:
        ValueError: If it is no packed file, one of another format, or its header lacks a count.
        OSError: If it cannot be read.
    """
    with file.open("rb") as opened:
        line = opened.readline(MAX_HEADER)
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("name") != NAME:
        raise ValueError(f"{file} is not training data: expected a file that prepare.py wrote")
    if header.get("format") != FORMAT:
        raise ValueError(
            f"{file} has format {header.get('format')}, expected {FORMAT}: prepare it anew"
        )
    missing = [key for key in KEYS if key not in header]
    if missing:
        raise ValueError(f"{file} is damaged or incomplete: its header lacks {', '.join(missing)}")
    return header


def read_packed(file: Path) -> Packed:
    """Return the contents of a packed file.

    Raises:
        ValueError: If it is no packed file, one of another format, or damaged.
        OSError: If it cannot be read.
    """
    header = read_header(file)
    with file.open("rb") as opened:
        opened.readline(MAX_HEADER)
        try:
            content = lzma.decompress(opened.read())
        except (lzma.LZMAError, EOFError) as error:
            raise ValueError(f"{file} is damaged or incomplete: {error}") from error
    if hashlib.sha256(content).hexdigest() != header["sha256"]:
        raise ValueError(
            f"{file} is damaged or incomplete: its contents have another digest than its header"
        )
    return Packed(header, [*_parts(content, header["parts"], header["tokens"])])


def _parts(content: bytes, parts: int, tokens: int) -> Iterator[Part]:
    bits = -(-tokens // 8)
    ids = np.frombuffer(content, "<u2", tokens)
    dialogues = np.frombuffer(content, "u1", tokens, 2 * tokens)
    learnt = np.unpackbits(np.frombuffer(content, "u1", bits, 3 * tokens), count=tokens).astype(
        bool
    )
    lengths = np.frombuffer(content, "<u2", parts, 3 * tokens + bits)
    ends = lengths.cumsum(dtype=np.int64)
    for start, end in zip(ends - lengths, ends, strict=True):
        yield Part(ids[start:end], dialogues[start:end], learnt[start:end])
