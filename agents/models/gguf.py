"""The header of a GGUF file, in which language models and their adapters are stored.

It is read before llama.cpp gets the file, since llama.cpp does not return what is wrong with one.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

MAGIC = b"GGUF"
VERSIONS = (2, 3)
ALIGNMENT = 32
"""Of tensors, where a file does not say another one."""
MAX_ENTRIES = 1 << 20
MAX_DIMENSIONS = 4

_UINT32, _BOOL, _STRING, _ARRAY = 4, 7, 8, 9
_NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    _BOOL: "?",
    10: "Q",
    11: "q",
    12: "d",
}
"""Formats of ``struct`` by the id of a type of metadata."""

SIZES: Mapping[str, tuple[int, int]] = {
    "block_count": (1, 512),
    "context_length": (1, 1 << 24),
    "embedding_length": (1, 1 << 20),
    "feed_forward_length": (0, 1 << 24),
    "attention.head_count": (0, 1 << 14),
    "attention.head_count_kv": (0, 1 << 14),
    "rope.dimension_count": (0, 1 << 16),
    "expert_count": (0, 512),
    "expert_used_count": (0, 512),
    "vocab_size": (1, 1 << 24),
}
"""Bounds of a model's sizes, by key after the architecture: llama.cpp's, or far above any model."""
POSITIVE = ("attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon", "rope.freq_base")
"""Numbers that are above 0. All that have a fraction are finite."""

F32, F16, Q4_1, Q8_0 = 0, 1, 3, 8
TENSOR_TYPES: Mapping[int, tuple[int, int]] = {
    F32: (1, 4),
    F16: (1, 2),
    2: (32, 18),  # Q4_0
    Q4_1: (32, 20),
    6: (32, 22),  # Q5_0
    7: (32, 24),  # Q5_1
    Q8_0: (32, 34),
    10: (256, 84),  # Q2_K
    11: (256, 110),  # Q3_K
    12: (256, 144),  # Q4_K
    13: (256, 176),  # Q5_K
    14: (256, 210),  # Q6_K
    20: (32, 18),  # IQ4_NL
    23: (256, 136),  # IQ4_XS
    30: (1, 2),  # BF16
}
"""Values and bytes of a block, by the id of a tensor's type; other types are not checked."""


class GgufError(ValueError):
    """A file that is not a GGUF file, or is not whole, or does not fit."""


class Tensor(NamedTuple):
    """Where a tensor is in its file.

    Attributes:
        shape: Its dimensions, the fastest first.
        type: The id of its type.
        start: The place of its first byte, counted from the first tensor's.
        size: Its number of bytes; 0 if the type is not in ``TENSOR_TYPES``.
    """

    shape: tuple[int, ...]
    type: int
    start: int
    size: int


@dataclass(frozen=True)
class Header:
    """The header of a GGUF file.

    Attributes:
        metadata: Values by key.
        tensors: The tensors by their names.
        metadata_bytes: The places of the metadata in the file.
        data_start: The place of the first tensor.
    """

    metadata: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    metadata_bytes: slice
    data_start: int

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The dimensions of each tensor by its name, the fastest first."""
        return {name: tensor.shape for name, tensor in self.tensors.items()}

    @property
    def alignment(self) -> int:
        """Bytes of which the offset of each tensor is a multiple."""
        return int(self.metadata.get("general.alignment", ALIGNMENT))

    @property
    def kind(self) -> str:
        """Content of the file: ``model`` or ``adapter``."""
        return str(self.metadata.get("general.type", "model"))

    @property
    def architecture(self) -> str:
        """Name of the model's architecture, such as ``llama``."""
        return str(self.metadata.get("general.architecture", ""))

    def of_architecture(self, key: str, default: Any = None) -> Any:
        """Return a value whose key begins with the architecture."""
        return self.metadata.get(f"{self.architecture}.{key}", default)

    def cache_bytes(self) -> int:
        """Return the bytes of one token of context, in half precision; 0 if unknown."""
        heads = self.of_architecture("attention.head_count", 0)
        heads_kv = self.of_architecture("attention.head_count_kv", heads)
        layers = self.of_architecture("block_count", 0)
        width = self.of_architecture("embedding_length", 0)
        if not _all_positive(heads, heads_kv, layers, width):
            return 0
        key = self.of_architecture("attention.key_length", width // heads)
        value = self.of_architecture("attention.value_length", width // heads)
        if not _all_positive(key, value):
            return 0
        return int(2 * layers * heads_kv * (key + value))


def _all_positive(*numbers: Any) -> bool:
    """Return whether all are integers above 0."""
    return all(type(number) is int and number > 0 for number in numbers)


def read_model(file: Path) -> Header:
    """Return the header of a language model.

    Raises:
        GgufError: If the file holds none.
        OSError: If it cannot be read.
    """
    header = read_header(file)
    if header.kind != "model" or not header.architecture or not header.shapes:
        raise GgufError(
            f"holds type {header.kind!r}, architecture {header.architecture!r}, expected a model"
        )
    if "tokenizer.ggml.tokens" not in header.metadata:
        raise GgufError("holds a model without a vocabulary")
    if not header.of_architecture("attention.causal", True):
        raise GgufError(f"holds a model that writes no text: {header.architecture}")
    _check_numbers(header)
    return header


def _check_numbers(header: Header) -> None:
    """Check the numbers of a model: with bad ones llama.cpp ends the process, or never returns."""
    for key, (least, most) in SIZES.items():
        value = header.of_architecture(key, least)
        sizes = value if isinstance(value, tuple) else (value,)  # layers may have their own
        for size in sizes:
            if type(size) is not int or not least <= size <= most:
                raise GgufError(f"has a broken header: {_a(key)} of {size!r}")
    _check_experts(header)
    prefix = f"{header.architecture}."
    for name, value in header.metadata.items():
        if name.startswith(prefix) and isinstance(value, float):
            _check_fraction(name.removeprefix(prefix), value)


def _check_experts(header: Header) -> None:
    """Make sure that a mixture of experts uses some of them, and no more than it has."""
    experts = header.of_architecture("expert_count", 0)
    used = header.of_architecture("expert_used_count", 0)
    if type(experts) is type(used) is int and not min(experts, 1) <= used <= experts:
        raise GgufError(
            f"has a broken header: an expert_used_count of {used!r}, of {experts!r} experts"
        )


def _check_fraction(key: str, value: float) -> None:
    """Make sure that a number with a fraction is finite, and positive where it must be."""
    if not math.isfinite(value) or (key in POSITIVE and value <= 0):
        raise GgufError(f"has a broken header: {_a(key)} of {value!r}")


def _a(key: str) -> str:
    """Return a key with its article."""
    article = "an" if key[0] in "aeiou" else "a"
    return f"{article} {key}"


def read_adapter(file: Path, model: Header) -> Header:
    """Return the header of a LoRA adapter.

    Raises:
        GgufError: If the file holds none, or one of another model.
        OSError: If it cannot be read.
    """
    header = read_header(file)
    if header.kind != "adapter" or header.metadata.get("adapter.type") != "lora":
        raise GgufError(f"holds type {header.kind!r}, expected a LoRA adapter")
    if header.architecture != model.architecture:
        raise GgufError(
            f"is an adapter for {header.architecture!r}, and the model is of {model.architecture!r}"
        )
    alpha = header.metadata.get("adapter.lora.alpha", 0.0)
    if type(alpha) not in (int, float) or not math.isfinite(alpha):
        raise GgufError(f"has a broken header: an alpha of {alpha!r}")
    layers = {name.removesuffix(".lora_a") for name in header.shapes if name.endswith(".lora_a")}
    if not layers:
        raise GgufError("is an adapter without weights")
    for layer in sorted(layers):
        _check_layer(layer, header.shapes, model.shapes.get(layer))
    return header


def _check_layer(
    layer: str,
    adapter: Mapping[str, tuple[int, ...]],
    expected: tuple[int, ...] | None,
) -> None:
    """Make sure that both halves of an adapted layer fit together, and into the model."""
    first, second = adapter[f"{layer}.lora_a"], adapter.get(f"{layer}.lora_b", ())
    if expected is None:
        raise GgufError(f"is an adapter for another model: this one has no {layer}")
    if len(first) != 2 or len(second) != 2 or first[1] != second[0]:
        raise GgufError(f"is an adapter whose halves of {layer} do not fit: {first} and {second}")
    adapted = (first[0], second[1])
    if expected not in (adapted, adapted[::-1]):  # embeddings are adapted the other way round
        raise GgufError(
            f"is an adapter for another model: {layer} is {adapted} in it, "
            f"and {expected} in this one"
        )


def read_header(file: Path) -> Header:
    """Return the header of a GGUF file whose tensors are all there.

    Raises:
        GgufError: If it is none, or is cut short.
        OSError: If it cannot be read.
    """
    with file.open("rb") as opened:
        if opened.read(len(MAGIC)) != MAGIC:
            raise GgufError("is not a GGUF file")
        with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(data).header()


class _Reader:
    """Reads the parts of a header one after the other."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._position = len(MAGIC)

    def header(self) -> Header:
        (version,) = self._numbers("I")
        if version not in VERSIONS:
            raise GgufError(
                f"is of GGUF version {version}; expected {' or '.join(map(str, VERSIONS))}"
            )
        tensors, entries = self._numbers("Q", 2)
        if max(tensors, entries) > MAX_ENTRIES:
            raise GgufError(f"has a broken header: {tensors} tensors and {entries} entries")
        metadata_start = self._position
        metadata: dict[str, Any] = {}
        for _ in range(entries):
            key = self._string()
            (kind,) = self._numbers("I")
            metadata[key] = self._value(kind)
        metadata_bytes = slice(metadata_start, self._position)
        infos = [self._tensor() for _ in range(tensors)]
        alignment = metadata.get("general.alignment", ALIGNMENT)
        # Checked before it is divided by.
        if type(alignment) is not int or alignment < 1:
            raise GgufError(f"has a broken header: an alignment of {alignment!r}")
        start = -(-self._position // alignment) * alignment  # rounded up
        for name, tensor in infos:
            end = start + tensor.start + tensor.size
            if end > len(self._data):
                raise GgufError(f"is cut short: {name} ends at byte {end} of {len(self._data)}")
        return Header(metadata, dict(infos), metadata_bytes, start)

    def _tensor(self) -> tuple[str, Tensor]:
        name = self._string()
        (dimensions,) = self._numbers("I")
        if dimensions > MAX_DIMENSIONS:
            raise GgufError(f"has a broken header: {name!r} has {dimensions} dimensions")
        shape = self._numbers("Q", dimensions)
        (kind,) = self._numbers("I")
        (offset,) = self._numbers("Q")
        values, size = TENSOR_TYPES.get(kind, (1, 0))
        return name, Tensor(shape, kind, offset, math.prod(shape) // values * size)

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            (item,) = self._numbers("I")
            (length,) = self._numbers("Q")
            if item == _STRING:
                return [self._string() for _ in range(length)]
            return self._numbers(self._format(item), length)
        return self._numbers(self._format(kind))[0]

    def _format(self, kind: int) -> str:
        if kind not in _NUMBERS:
            raise GgufError(f"has a broken header: a value of type {kind}")
        return _NUMBERS[kind]

    def _string(self) -> str:
        (length,) = self._numbers("Q")
        return self._take(length).decode(errors="replace")

    def _numbers(
        self,
        form: str,
        count: int = 1,
    ) -> tuple[Any, ...]:
        packed = self._take(struct.calcsize(f"<{form}") * count)
        return struct.unpack(f"<{count}{form}", packed)

    def _take(self, size: int) -> bytes:
        end = self._position + size
        if end > len(self._data):
            raise GgufError(f"is cut short: its header ends after byte {len(self._data)}")
        taken = self._data[self._position : end]
        self._position = end
        return taken
