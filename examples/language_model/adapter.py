"""Writes and reads a LoRA adapter in the format of llama.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import gguf
import numpy as np
import torch
from base import ROTATED, by_halves, by_pairs
from network import ALPHA
from packed import DATA

HEAD_WIDTH = 64
"""Of the base model."""


def write_adapter(
    weights: Mapping[str, torch.Tensor], file: Path, data_sha256: str | None = None
) -> None:
    """Write a network's factors to a GGUF file, in half precision.

    The rows of the second factor of queries and keys stand by halves of each head here, and by
    pairs in llama.cpp.

    Args:
        weights: The factors, by their names.
        file: The file.
        data_sha256: Digest of the training data, if it was packed.
    """
    tensors = {}
    for name, weight in weights.items():
        array = weight.detach().cpu().numpy()
        tensors[_stored(name)] = by_pairs(array, HEAD_WIDTH) if _is_rotated(name) else array
    write_tensors(tensors, file, data_sha256)


def write_tensors(
    tensors: Mapping[str, np.ndarray], file: Path, data_sha256: str | None = None
) -> None:
    """Write factors, as llama.cpp names and orders them, to a GGUF file, in half precision."""
    part = file.with_suffix(".part")
    writer = gguf.GGUFWriter(part, "llama")
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(ALPHA))
    if data_sha256:
        writer.add_string(DATA, data_sha256)
    for name, array in tensors.items():
        writer.add_tensor(name, array.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.replace(file)


def read_adapter(weights: Mapping[str, torch.Tensor], file: Path) -> dict[str, torch.Tensor]:
    """Return factors, by their names, from a file that ``write_adapter`` wrote.

    Args:
        weights: Such factors, by their names.
        file: The GGUF file.

    Raises:
        ValueError: If the file is none, or lacks a factor of that name and shape, or has another
            alpha.
        OSError: If it cannot be read.
    """
    tensors = read_tensors(file)
    read = {}
    for name, weight in weights.items():
        stored = _stored(name)
        if stored not in tensors or tensors[stored].shape != weight.shape:
            raise ValueError(
                f"an adapter of another model, without a {stored} of {tuple(weight.shape)}"
            )
        array = tensors[stored]
        if _is_rotated(name):
            array = by_halves(array, HEAD_WIDTH)
        read[name] = torch.from_numpy(array)
    return read


def read_tensors(file: Path) -> dict[str, np.ndarray]:
    """Return an adapter's factors, as llama.cpp names and orders them, in single precision.

    Raises:
        ValueError: If the file is none, or has another alpha.
        OSError: If it cannot be read.
    """
    reader = gguf.GGUFReader(file)
    alpha = reader.get_field("adapter.lora.alpha")
    if alpha is None or alpha.contents() != ALPHA:
        raise ValueError(f"no adapter with an alpha of {ALPHA}")
    return {tensor.name: tensor.data.astype(np.float32) for tensor in reader.tensors}


def _stored(name: str) -> str:
    """Return llama.cpp's name of a factor, such as ``blk.4.attn_q.weight.lora_a``."""
    layer, _, factor = name.rpartition(".")
    return f"{layer}.weight.{factor}"


def _is_rotated(name: str) -> bool:
    return _stored(name).removesuffix(".lora_b").endswith(ROTATED)
