"""Writes GGUF files for tests: a tiny random language model of bytes, and adapters for it or for
other models."""

from __future__ import annotations

import random
import struct
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WIDTH, LAYERS, HEADS, FEED_FORWARD, CONTEXT = 32, 2, 4, 64, 512
EOS = 256
_ALIGNMENT = 32
_FLOAT32, _FLOAT16 = 0, 1
_UINT32, _INT32, _FLOAT, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9

Tensor = tuple[tuple[int, ...], Sequence[float]]
"""The dimensions, the fastest first, and the values."""


def write_gguf(
    file: Path, metadata: Mapping[str, Any], tensors: Mapping[str, Tensor], *, half: bool = False
) -> Path:
    """Write a GGUF file of version 3, with tensors in single or half precision."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    head += b"".join(_string(key) + _typed(value) for key, value in metadata.items())
    data = b""
    for name, (shape, values) in tensors.items():
        place = struct.pack("<IQ", _FLOAT16 if half else _FLOAT32, len(data))
        head += _string(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape) + place
        packed = struct.pack(f"<{len(values)}e", *values) if half else array("f", values).tobytes()
        data += packed + b"\0" * (-len(packed) % _ALIGNMENT)
    file.write_bytes(head + b"\0" * (-len(head) % _ALIGNMENT) + data)
    return file


def tiny_model(file: Path, *, seed: int = 0, **changed: Any) -> Path:
    """Write a random model whose tokens are bytes."""
    rng = random.Random(seed)
    tokens = [_printable(byte) for byte in range(256)] + ["<eos>"]
    metadata = {
        "general.architecture": "llama",
        "general.type": "model",
        "general.name": "tiny",
        "llama.block_count": LAYERS,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": FEED_FORWARD,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": WIDTH // HEADS,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [1] * 256 + [3],
        "tokenizer.ggml.merges": ["a b"],
        "tokenizer.ggml.eos_token_id": EOS,
        "tokenizer.ggml.add_bos_token": False,
        **changed,
    }
    metadata = {key: value for key, value in metadata.items() if value is not None}
    shapes = {"token_embd.weight": (WIDTH, len(tokens)), "output_norm.weight": (WIDTH,)}
    for layer in range(LAYERS):
        shapes |= {f"blk.{layer}.{name}.weight": shape for name, shape in _LAYER.items()}
    tensors = {name: _random(rng, shape) for name, shape in shapes.items()}
    # The other bytes have no weight, so that the likeliest text is one of readable characters.
    embeddings = [
        value if 32 <= index // WIDTH < 127 else 0.0
        for index, value in enumerate(tensors["token_embd.weight"][1])
    ]
    tensors["token_embd.weight"] = (shapes["token_embd.weight"], embeddings)
    return write_gguf(file, metadata, tensors)


def tiny_adapter(
    file: Path,
    *,
    layers: Mapping[str, tuple[int, int]] | None = None,
    rank: int = 4,
    **changed: Any,
) -> Path:
    """Write a random adapter for layers, by default for all of the tiny model: from the inputs to
    the outputs."""
    if layers is None:
        linear = {name: shape for name, shape in _LAYER.items() if len(shape) == 2}
        layers = {
            f"blk.{n}.{name}.weight": shape for n in range(LAYERS) for name, shape in linear.items()
        }
    metadata = {
        "general.architecture": "llama",
        "general.type": "adapter",
        "adapter.type": "lora",
        "adapter.lora.alpha": 2.0 * rank,
        **changed,
    }
    rng = random.Random(1)
    tensors: dict[str, Tensor] = {}
    for name, (inputs, outputs) in layers.items():
        tensors[f"{name}.lora_a"] = _random(rng, (inputs, rank))
        tensors[f"{name}.lora_b"] = _random(rng, (rank, outputs))
    return write_gguf(
        file,
        {key: value for key, value in metadata.items() if value is not None},
        tensors,
        half=True,
    )


_LAYER: Mapping[str, tuple[int, ...]] = {
    "attn_norm": (WIDTH,),
    "attn_q": (WIDTH, WIDTH),
    "attn_k": (WIDTH, WIDTH),
    "attn_v": (WIDTH, WIDTH),
    "attn_output": (WIDTH, WIDTH),
    "ffn_norm": (WIDTH,),
    "ffn_gate": (WIDTH, FEED_FORWARD),
    "ffn_up": (WIDTH, FEED_FORWARD),
    "ffn_down": (FEED_FORWARD, WIDTH),
}


def _random(rng: random.Random, shape: tuple[int, ...]) -> Tensor:
    size = 1
    for dimension in shape:
        size *= dimension
    if len(shape) == 1:
        return shape, [1.0] * size
    return shape, [rng.gauss(0, 1) / shape[0] ** 0.5 for _ in range(size)]


def _printable(byte: int) -> str:
    """Return the character that stands for a byte in the vocabulary of a byte-level tokenizer."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return (
        chr(byte)
        if byte in kept
        else chr(256 + [other for other in range(256) if other not in kept].index(byte))
    )


def _string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _typed(value: Any) -> bytes:
    kind = _kind(value)
    return struct.pack("<I", kind) + _value(kind, value)


def _kind(value: Any) -> int:
    kinds = {bool: _BOOL, int: _UINT32, float: _FLOAT, str: _STRING, list: _ARRAY}
    return kinds[type(value)]


def _value(kind: int, value: Any) -> bytes:
    if kind == _STRING:
        return _string(value)
    if kind == _ARRAY:
        item = _INT32 if isinstance(value[0], int) else _kind(value[0])
        return struct.pack("<IQ", item, len(value)) + b"".join(
            _value(item, item_value) for item_value in value
        )
    return struct.pack({_BOOL: "<?", _UINT32: "<I", _INT32: "<i", _FLOAT: "<f"}[kind], value)
