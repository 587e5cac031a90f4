from __future__ import annotations

import math
import random
import struct
from pathlib import Path

import pytest

from tests.agents.models.tiny_gguf import LAYERS, WIDTH, tiny_adapter, tiny_model, write_gguf
from textcraft_gym.agents.models.gguf import (
    TENSOR_TYPES,
    GgufError,
    read_adapter,
    read_header,
    read_model,
)


def test_read_header__has_the_metadata_and_the_shapes(tmp_path: Path):
    metadata = {
        "a.text": "naïve",
        "a.number": 7,
        "a.flag": True,
        "a.list": ["x", "y"],
        "a.ids": [-1, 5],
    }
    header = read_header(write_gguf(tmp_path / "m.gguf", metadata, {"w": ((3, 2), [0.5] * 6)}))
    assert dict(header.metadata) == {**metadata, "a.ids": (-1, 5)}
    assert (dict(header.shapes), header.kind, header.architecture) == ({"w": (3, 2)}, "model", "")


def test_read_model__knows_what_a_token_of_context_costs(tmp_path: Path):
    header = read_model(tiny_model(tmp_path / "m.gguf"))
    assert header.cache_bytes() == 2 * LAYERS * (WIDTH + WIDTH)
    assert header.of_architecture("context_length") == 512
    odd = read_model(tiny_model(tmp_path / "odd.gguf", **{"llama.attention.head_count_kv": [4, 2]}))
    assert odd.cache_bytes() == 0
    for unknown in ("wide", [8, 8], 0.5):
        odd = read_model(
            tiny_model(tmp_path / "odd.gguf", **{"llama.attention.key_length": unknown})
        )
        assert odd.cache_bytes() == 0


def test_read_header__refuses_a_file_that_ends_anywhere_before_its_end(tmp_path: Path):
    whole = tiny_model(tmp_path / "m.gguf").read_bytes()
    rng = random.Random(0)
    cut = tmp_path / "cut.gguf"
    for length in [*range(60), *(rng.randrange(len(whole)) for _ in range(200)), len(whole) - 1]:
        cut.write_bytes(whole[:length])
        with pytest.raises(GgufError, match="is not a GGUF file" if length < 4 else "is cut short"):
            read_header(cut)


def test_read_header__reads_or_refuses_a_file_with_wrong_bytes(tmp_path: Path):
    whole = tiny_model(tmp_path / "m.gguf").read_bytes()
    rng = random.Random(0)
    broken = tmp_path / "broken.gguf"
    refused = 0
    for _ in range(300):
        changed = bytearray(whole)
        for _ in range(rng.randrange(1, 9)):
            changed[rng.randrange(4, 7000)] = rng.randrange(256)
        broken.write_bytes(changed)
        try:
            read_header(broken)
        except GgufError:
            refused += 1
    assert 100 < refused < 300


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a GGUF file"),
        (b"hello world", "is not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "is of GGUF version 1; expected 2 or 3"),
        (b"FUGG" + struct.pack(">IQQ", 3, 0, 0), "is not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), "broken header: 1152921504606846976 tensors"),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sI", 1, b"k", 99),
            "a value of type 99",
        ),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sIIQ", 1, b"k", 9, 9, 1),
            "a value of type 9",
        ),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sIIQ", 1, b"k", 9, 0, 2**62),
            "is cut short",
        ),
        (
            b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q1sI", 1, b"w", 2**31),
            "2147483648 dimensions",
        ),
    ],
)
def test_read_header__says_what_is_wrong(content: bytes, message: str, tmp_path: Path):
    (tmp_path / "x.gguf").write_bytes(content)
    with pytest.raises(GgufError, match=message):
        read_header(tmp_path / "x.gguf")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"general.type": "mmproj"}, "holds type 'mmproj'"),
        ({"general.architecture": None}, "architecture ''"),
        ({"tokenizer.ggml.tokens": None}, "without a vocabulary"),
        ({"llama.context_length": "long"}, "broken header: a context_length of 'long'"),
        ({"llama.context_length": 0}, "broken header: a context_length of 0"),
        ({"llama.context_length": 1 << 31}, "broken header: a context_length of 2147483648"),
        ({"llama.block_count": 0}, "broken header: a block_count of 0"),
        ({"llama.block_count": (1 << 32) - 1}, "broken header: a block_count of 4294967295"),
        ({"llama.block_count": 513}, "broken header: a block_count of 513"),
        ({"llama.expert_count": 1}, "broken header: an expert_used_count of 0, of 1 experts"),
        ({"llama.expert_used_count": 2}, "broken header: an expert_used_count of 2, of 0 experts"),
        (
            {"llama.expert_count": 513, "llama.expert_used_count": 2},
            "broken header: an expert_count of 513",
        ),
        ({"llama.embedding_length": 0}, "broken header: an embedding_length of 0"),
        (
            {"llama.attention.head_count_kv": [4, 1 << 30]},
            "broken header: an attention.head_count_kv of 1073741824",
        ),
        (
            {"llama.rope.dimension_count": 1 << 31},
            "broken header: a rope.dimension_count of 2147483648",
        ),
        *(
            (
                {"llama.attention.layer_norm_rms_epsilon": epsilon},
                f"broken header: an attention.layer_norm_rms_epsilon of {epsilon}",
            )
            for epsilon in (math.nan, math.inf, -1.0, 0.0)
        ),
        ({"llama.rope.freq_base": 0.0}, "broken header: a rope.freq_base of 0.0"),
        ({"llama.rope.scaling.factor": math.nan}, "broken header: a rope.scaling.factor of nan"),
        ({"general.architecture": "bert", "bert.attention.causal": False}, "writes no text: bert"),
    ],
)
def test_read_model__refuses_what_writes_no_text(
    changed: dict[str, object], message: str, tmp_path: Path
):
    with pytest.raises(GgufError, match=message):
        read_model(tiny_model(tmp_path / "m.gguf", **changed))


@pytest.mark.parametrize(
    ("layers", "changed", "message"),
    [
        (None, {"general.architecture": "qwen2"}, "for 'qwen2', and the model is of 'llama'"),
        (None, {"general.type": "model"}, "holds type 'model', expected a LoRA adapter"),
        (None, {"adapter.type": "other"}, "expected a LoRA adapter"),
        ({}, {}, "without weights"),
        (
            {"blk.0.attn_q.weight": (64, 32)},
            {},
            r"attn_q.weight is \(64, 32\) in it, and \(32, 32\) in this one",
        ),
        ({"blk.9.attn_q.weight": (32, 32)}, {}, "this one has no blk.9.attn_q.weight"),
    ],
)
def test_read_adapter__refuses_one_of_another_model(
    layers, changed: dict[str, str], message: str, tmp_path: Path
):
    model = read_model(tiny_model(tmp_path / "m.gguf"))
    with pytest.raises(GgufError, match=message):
        read_adapter(tiny_adapter(tmp_path / "a.gguf", layers=layers, **changed), model)


def test_read_adapter__refuses_one_whose_halves_do_not_fit(tmp_path: Path):
    model = read_model(tiny_model(tmp_path / "m.gguf"))
    metadata = {"general.architecture": "llama", "general.type": "adapter", "adapter.type": "lora"}
    first = {"blk.0.attn_q.weight.lora_a": ((32, 4), [0.0] * 128)}
    second = {"blk.0.attn_q.weight.lora_b": ((8, 32), [0.0] * 256)}
    for tensors in (first, first | second):
        with pytest.raises(GgufError, match=r"halves of blk\.0\.attn_q\.weight do not fit"):
            read_adapter(write_gguf(tmp_path / "a.gguf", metadata, tensors), model)


def test_read_adapter__takes_one_of_this_model(tmp_path: Path):
    model = read_model(tiny_model(tmp_path / "m.gguf"))
    assert len(read_adapter(tiny_adapter(tmp_path / "a.gguf"), model).shapes) == 2 * 7 * LAYERS


def test_tensor_types__are_those_of_the_format():
    constants = pytest.importorskip("gguf.constants", reason="the package gguf is not installed")
    sizes = {kind.value: size for kind, size in constants.GGML_QUANT_SIZES.items()}
    assert {kind: sizes[kind] for kind in TENSOR_TYPES} == dict(TENSOR_TYPES)
