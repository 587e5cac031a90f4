"""A model at 8 bits a weight, with its adapter worked into it.

llama.cpp computes with such weights (Q8_0) faster than with those of the default model, most of
which have 4 bits and a minimum a block (Q4_1); and an adapter beside them costs it two more
products in each layer.
"""

from __future__ import annotations

import struct
from math import prod
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from textcraft_gym.agents.models.gguf import (
    F16,
    F32,
    MAGIC,
    Q4_1,
    Q8_0,
    TENSOR_TYPES,
    Header,
    Tensor,
    read_adapter,
    read_model,
)

Floats: TypeAlias = NDArray[np.float32]
Bytes: TypeAlias = NDArray[np.uint8]

BLOCK = 32
"""Number of weights that share a scale."""


def can_be_written(model: Header, adapter: Header | None) -> bool:
    """Return whether a model can be read and written at 8 bits: all its types are known here."""
    for tensor in model.tensors.values():
        in_blocks = len(tensor.shape) == 1 or tensor.shape[0] % BLOCK == 0
        if tensor.type not in (F32, F16, Q4_1, Q8_0) or not in_blocks:
            return False
    if adapter is None:
        return True
    layers = {_layer(name) for name in adapter.tensors}
    return all(_fits(model.tensors.get(layer), layer, adapter) for layer in layers)


def size_of(model: Header) -> int:
    """Return the number of bytes of a model's weights once they are written."""
    return sum(_size(tensor) for tensor in model.tensors.values())


def write_eight_bits(weights: Path, adapter: Path | None, out: Path) -> None:
    """Write the model of one GGUF file, with the adapter of another, as a third.

    Raises:
        GgufError: If one of them is broken.
        OSError: If one cannot be read, or the third not written.
    """
    model = read_model(weights)
    changes = _Changes(adapter, read_adapter(adapter, model)) if adapter else None
    data: Bytes = np.memmap(weights, np.uint8, "r")
    with out.open("wb") as file:
        file.write(_header(model, data[model.metadata_bytes].tobytes()))
        for name, tensor in model.tensors.items():
            values = _bytes_of(model, tensor, data)
            change = changes.of(name) if changes else None
            # Vectors keep their type, and what is Q8_0 already is copied.
            if len(tensor.shape) > 1 and (tensor.type != Q8_0 or change is not None):
                whole = dequantised(values, tensor)
                if change is not None:
                    whole = whole + change
                values = quantised(whole)
            file.write(values.tobytes())
            file.write(bytes(-file.tell() % model.alignment))


def dequantised(data: Bytes, tensor: Tensor) -> Floats:
    """Return a tensor's bytes as numbers, (rows, columns)."""
    shape = tensor.shape[::-1]
    if tensor.type == F32:
        return data.view(np.float32).reshape(shape)
    if tensor.type == F16:
        return data.view(np.float16).astype(np.float32).reshape(shape)
    _, block_bytes = TENSOR_TYPES[tensor.type]
    blocks = data.reshape(-1, block_bytes)
    scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    if tensor.type == Q8_0:
        values: Floats = blocks[:, 2:].view(np.int8) * scales
    else:  # the lower halves of the bytes are the first 16 weights, and the upper ones the others
        numbers = np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], 1)
        minima = blocks[:, 2:4].copy().view(np.float16)
        values = numbers * scales + minima
    return values.reshape(shape)


def quantised(values: Floats) -> Bytes:
    """Return numbers in blocks of a scale in half precision and whole numbers of 8 bits."""
    blocks = values.reshape(-1, BLOCK)
    scales = (np.abs(blocks).max(1, keepdims=True) / np.float32(127)).astype(np.float16)
    # Of the scales as they are stored, so that their rounding is not added to that of the weights.
    # A block of zeros has the scale 0.
    inverse = np.divide(
        1,
        scales,
        out=np.zeros(scales.shape, np.float32),
        where=scales > 0,
        dtype=np.float32,
    )
    packed = np.empty((len(blocks), 2 + BLOCK), np.uint8)
    packed[:, :2] = scales.view(np.uint8)
    packed[:, 2:] = np.rint(blocks * inverse).clip(-127, 127).astype(np.int8).view(np.uint8)
    return packed


class _Changes:
    """The changes of an adapter to the weights of each layer."""

    def __init__(self, file: Path, header: Header) -> None:
        self._header = header
        self._data: Bytes = np.memmap(file, np.uint8, "r")

    def of(self, layer: str) -> Floats | None:
        """Return what is added, or None if nothing is."""
        if f"{layer}.lora_a" not in self._header.tensors:
            return None
        first, second = self._half(f"{layer}.lora_a"), self._half(f"{layer}.lora_b")
        alpha = self._header.metadata.get("adapter.lora.alpha", 0.0)
        # As llama.cpp does, which takes an alpha of 0 for a factor of 1.
        factor = alpha / len(first) if alpha else 1
        change: Floats = np.float32(factor) * (second @ first)
        return change

    def _half(self, name: str) -> Floats:
        tensor = self._header.tensors[name]
        return dequantised(_bytes_of(self._header, tensor, self._data), tensor)


def _layer(name: str) -> str:
    return name.removesuffix(".lora_a").removesuffix(".lora_b")


def _fits(tensor: Tensor | None, layer: str, adapter: Header) -> bool:
    """Return whether an adapter's halves are of known types, and together as large as a layer."""
    first = adapter.tensors.get(f"{layer}.lora_a")
    second = adapter.tensors.get(f"{layer}.lora_b")
    if not tensor or not first or not second:
        return False
    is_known = first.type in (F32, F16) and second.type in (F32, F16)
    return is_known and tensor.shape == (first.shape[0], second.shape[1])


def _size(tensor: Tensor) -> int:
    """Return the number of bytes of a tensor once it is written; vectors keep their type."""
    if len(tensor.shape) == 1:
        return tensor.size
    return prod(tensor.shape) // BLOCK * (2 + BLOCK)


def _bytes_of(header: Header, tensor: Tensor, data: Bytes) -> Bytes:
    start = header.data_start + tensor.start
    return data[start : start + tensor.size]


def _header(model: Header, metadata: bytes) -> bytes:
    """Return what stands before the tensors; the metadata stay as they are."""
    head = MAGIC + struct.pack("<IQQ", 3, len(model.tensors), len(model.metadata)) + metadata
    start = 0
    for name, tensor in model.tensors.items():
        encoded = name.encode()
        written = Q8_0 if len(tensor.shape) > 1 else tensor.type
        head += struct.pack("<Q", len(encoded)) + encoded
        head += struct.pack(f"<I{len(tensor.shape)}Q", len(tensor.shape), *tensor.shape)
        head += struct.pack("<IQ", written, start)
        start += -(-_size(tensor) // model.alignment) * model.alignment
    return head + bytes(-len(head) % model.alignment)
