"""A model at 8 bits with its adapter worked in, beside what each weight says read one by one."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.agents.models.tiny_gguf import tiny_adapter, tiny_model
from textcraft_gym.agents.models.eight_bits import (
    BLOCK,
    can_be_written,
    dequantised,
    quantised,
    size_of,
    write_eight_bits,
)
from textcraft_gym.agents.models.gguf import (
    F16,
    F32,
    Q4_1,
    Q8_0,
    Header,
    Tensor,
    read_adapter,
    read_header,
    read_model,
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return tiny_model(tmp_path / "tiny.gguf"), tiny_adapter(tmp_path / "adapter.gguf")


def weights(file: Path, name: str) -> list[float]:
    """Return a tensor's weights, each read by itself."""
    header = read_header(file)
    tensor = header.tensors[name]
    start = header.data_start + tensor.start
    return READERS[tensor.type](file.read_bytes()[start : start + tensor.size])


def read_q8_0(data: bytes) -> list[float]:
    return [
        scale * number
        for at in range(0, len(data), 34)
        for (scale, *numbers) in [struct.unpack("<e32b", data[at : at + 34])]
        for number in numbers
    ]


def read_q4_1(data: bytes) -> list[float]:
    values = []
    for at in range(0, len(data), 20):
        scale, least, *pairs = struct.unpack("<ee16B", data[at : at + 20])
        values += [scale * (pair % 16) + least for pair in pairs] + [
            scale * (pair // 16) + least for pair in pairs
        ]
    return values


READERS: dict[int, Callable[[bytes], list[float]]] = {
    F32: lambda data: [*struct.unpack(f"<{len(data) // 4}f", data)],
    F16: lambda data: [*struct.unpack(f"<{len(data) // 2}e", data)],
    Q4_1: read_q4_1,
    Q8_0: read_q8_0,
}


@pytest.mark.parametrize(
    ("kind", "form"), [(F32, "<64f"), (F16, "<64e"), (Q4_1, "<ee16B"), (Q8_0, "<e32b")]
)
def test_dequantised__has_the_numbers_of_each_type(kind: int, form: str):
    rng = random.Random(kind)
    numbers = {"b": lambda: rng.randrange(-128, 128), "B": lambda: rng.randrange(256)}
    blocks = []
    for _ in range(1 if kind in (F32, F16) else 2):
        count = int("".join(filter(str.isdigit, form[-3:])))
        heads = [rng.gauss(0, 1) for _ in range(form.count("e") if kind in (Q4_1, Q8_0) else 0)]
        blocks.append(
            struct.pack(form, *heads, *(numbers.get(form[-1], rng.random)() for _ in range(count)))
        )
    data = b"".join(blocks)
    values_read = dequantised(np.frombuffer(data, np.uint8), Tensor((32, 2), kind, 0, len(data)))
    assert values_read.shape == (2, 32)
    assert values_read.ravel().tolist() == pytest.approx(READERS[kind](data), rel=1e-6)


def test_quantised__errs_by_half_a_step_at_most():
    rng = np.random.default_rng(0)
    values = (rng.standard_normal((50, BLOCK)) * 10.0 ** rng.integers(-2, 3, (50, 1))).astype(
        np.float32
    )
    values[7] = 0
    numbers = np.array(read_q8_0(quantised(values).tobytes())).reshape(values.shape)
    step = np.abs(values).max(1, keepdims=True) / 127
    assert np.all(
        np.abs(numbers - values) <= step * (0.5 + 127 * 2.0**-11)
    )  # the scale itself is in half precision
    assert not numbers[7].any()


@pytest.mark.parametrize("stored_at_8_bits", [False, True])
def test_write__works_the_adapter_into_the_layers_that_it_has(
    stored_at_8_bits: bool, files: tuple[Path, Path], tmp_path: Path
):
    model, adapter = files
    if stored_at_8_bits:
        model = tmp_path / "stored.gguf"
        write_eight_bits(files[0], None, model)
    write_eight_bits(model, adapter, tmp_path / "out.gguf")
    before, after = read_model(model), read_model(tmp_path / "out.gguf")
    assert after.metadata == before.metadata
    assert after.shapes == before.shapes
    assert size_of(before) == sum(tensor.size for tensor in after.tensors.values())
    for name, (width, *others) in before.shapes.items():
        expected = np.array(weights(model, name))
        numbers = np.array(weights(tmp_path / "out.gguf", name))
        if not others:
            assert after.tensors[name].type == F32
            assert numbers.tolist() == expected.tolist()
            continue
        assert after.tensors[name].type == Q8_0
        if name != "token_embd.weight":
            first = np.array(weights(adapter, f"{name}.lora_a")).reshape(-1, width)
            second = np.array(weights(adapter, f"{name}.lora_b")).reshape(others[0], -1)
            expected = expected + 2 * (second @ first).ravel()  # an alpha of twice the rank
        assert np.abs(numbers - expected).max() <= np.abs(expected).max() * 0.005


def test_write__without_an_adapter_copies_what_has_8_bits_already(
    files: tuple[Path, Path], tmp_path: Path
):
    once, twice = tmp_path / "once.gguf", tmp_path / "twice.gguf"
    write_eight_bits(files[0], None, once)
    write_eight_bits(once, None, twice)
    assert twice.read_bytes() == once.read_bytes()


def test_can_be_written__only_what_can_be_read(files: tuple[Path, Path], tmp_path: Path):
    model = read_model(files[0])
    adapter = read_adapter(files[1], model)
    assert can_be_written(model, None)
    assert can_be_written(model, adapter)
    name = "blk.0.attn_q.weight"

    def changed(header: Header, name: str, **others: object) -> Header:
        tensor = header.tensors[name]._replace(**others)
        return replace(header, tensors={**header.tensors, name: tensor})

    assert not can_be_written(changed(model, name, type=12), None)
    assert not can_be_written(changed(model, name, shape=(33, 32)), None)
    assert not can_be_written(model, changed(adapter, f"{name}.lora_b", type=Q8_0))
    for stray in ("blk.0.attn_q.weight.magnitude", "blk.0.attn_norm.weight.lora_b"):
        assert not can_be_written(
            model, replace(adapter, tensors={**adapter.tensors, stray: model.tensors[name]})
        )
    # Embeddings are adapted the other way round.
    embeddings = tiny_adapter(tmp_path / "embeddings.gguf", layers={"token_embd.weight": (257, 32)})
    assert not can_be_written(model, read_adapter(embeddings, model))
