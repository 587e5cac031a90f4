"""Reads the base model from its GGUF file: sizes, weights, and the digest of its tokenizer."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import gguf
import numpy as np


class Sizes(NamedTuple):
    """The sizes of a model of Llama's architecture, and its two constants."""

    layers: int
    width: int
    inner: int
    heads: int
    groups: int
    epsilon: float
    rope_base: float


_KEYS = (
    "block_count",
    "embedding_length",
    "feed_forward_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.layer_norm_rms_epsilon",
    "rope.freq_base",
)


class Base:
    """A base model.

    Args:
        file: The GGUF file.

    Attributes:
        sizes: Its sizes.
        vocabulary_sha256: Digest of the tokenizer's tokens and merges.

    Raises:
        ValueError: If it is no GGUF file, or one of another architecture.
        OSError: If it cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self.reader = gguf.GGUFReader(file)
        if self._value("general.architecture") != "llama":
            raise ValueError(
                f"{file} is of {self._value('general.architecture')}, expected a model of llama"
            )
        self.sizes = Sizes(*(self._value(f"llama.{key}") for key in _KEYS))
        vocabulary: list[str] = []
        for key in ("tokens", "merges"):
            vocabulary += [*self._value(f"tokenizer.ggml.{key}"), ""]
        self.vocabulary_sha256 = hashlib.sha256("\n".join(vocabulary).encode()).hexdigest()

    def weights(self) -> dict[str, np.ndarray]:
        """Return the weights in float32 by llama.cpp's names; queries and keys by half heads."""
        width = self.sizes.width // self.sizes.heads
        weights: dict[str, np.ndarray] = {}
        for tensor in self.reader.tensors:
            weight = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            if tensor.name.endswith(ROTATED):
                weight = by_halves(weight, width)
            weights[tensor.name] = weight
        return weights

    def _value(self, key: str) -> Any:
        field = self.reader.get_field(key)
        if field is None:
            raise ValueError(f"expected {key} in the GGUF file")
        return field.contents()


ROTATED = ("attn_q.weight", "attn_k.weight")
"""Layers with rotated outputs: llama.cpp pairs their rows, which vector units rotate slowly."""


def by_halves(rows: np.ndarray, width: int) -> np.ndarray:
    """Return rows of heads, (heads, width / 2, 2), in the order (heads, 2, width / 2)."""
    return rows.reshape(-1, width // 2, 2, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def by_pairs(rows: np.ndarray, width: int) -> np.ndarray:
    """Return rows of heads, (heads, 2, width / 2), in the order (heads, width / 2, 2)."""
    return rows.reshape(-1, 2, width // 2, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def base_file() -> Path:
    """Return the GGUF file of the base model, which is that of ``--model local``.

    Raises:
        ModelError: If its package is not installed.
    """
    from textcraft_gym.agents.models.weights import find_files  # not needed where the file is named

    return find_files().weights
