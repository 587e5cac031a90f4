"""Writes and reads a LoRA adapter in the format of llama.cpp."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import gguf
import numpy as np
import torch
from network import ALPHA

HEADS = {"attn_q": 9, "attn_k": 3}
"""The heads of the projections whose rows llama.cpp stores in another order."""
NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""Llama.cpp's names of the layers that are adapted."""
_WEIGHT = re.compile(r".*\.layers\.(\d+)\.(.+)\.lora_([AB])\.default\.weight")


def write_adapter(weights: Mapping[str, torch.Tensor], file: Path) -> None:
    """Write the weights of peft's LoRA layers to a GGUF file, in half precision.

    Rotary weights are stored by halves of each head in PyTorch, and by pairs in llama.cpp, so the rows of the queries'
    and keys' second factor are permuted.
    """
    part = file.with_suffix(".part")
    writer = gguf.GGUFWriter(part, "llama")
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(ALPHA))
    for name, weight in weights.items():
        stored, heads = _stored(name)
        array = weight.detach().cpu().float().numpy()
        writer.add_tensor(stored, (_by_pairs(array, heads) if heads else array).astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.replace(file)


def read_adapter(weights: Mapping[str, torch.Tensor], file: Path) -> dict[str, torch.Tensor]:
    """Return the weights of peft's LoRA layers, by their names, from a file that ``write_adapter`` wrote.

    Args:
        weights: Such weights, by their names.
        file: The GGUF file.

    Raises:
        ValueError: If the file is none, or lacks a weight of that name and shape, or has another alpha.
        OSError: If it cannot be read.
    """
    reader = gguf.GGUFReader(file)
    alpha = reader.get_field("adapter.lora.alpha")
    if alpha is None or alpha.contents() != ALPHA:
        raise ValueError(f"no adapter with an alpha of {ALPHA}")
    tensors = {tensor.name: tensor.data for tensor in reader.tensors}
    read = {}
    for name, weight in weights.items():
        stored, heads = _stored(name)
        if stored not in tensors or tensors[stored].shape != weight.shape:
            raise ValueError(f"an adapter of another model, without a {stored} of {tuple(weight.shape)}")
        array = tensors[stored]
        read[name] = torch.from_numpy(np.array(_by_halves(array, heads) if heads else array, np.float32))
    return read


def _stored(name: str) -> tuple[str, int]:
    """Return the name of a weight in llama.cpp, and the heads whose rows are in another order there, or 0."""
    found = _WEIGHT.fullmatch(name)
    if found is None:
        raise ValueError(f"expected a weight of a LoRA layer, got {name}")
    layer, factor = NAMES[found[2]], found[3]
    return f"blk.{found[1]}.{layer}.weight.lora_{factor.lower()}", HEADS.get(layer, 0) if factor == "B" else 0


def _by_pairs(rows: np.ndarray, heads: int) -> np.ndarray:
    """Return rows of (heads, 2, half) in the order (heads, half, 2)."""
    split = rows.reshape(heads, 2, rows.shape[0] // heads // 2, rows.shape[1])
    return split.swapaxes(1, 2).reshape(rows.shape)


def _by_halves(rows: np.ndarray, heads: int) -> np.ndarray:
    """Return rows of (heads, half, 2) in the order (heads, 2, half)."""
    split = rows.reshape(heads, rows.shape[0] // heads // 2, 2, rows.shape[1])
    return split.swapaxes(1, 2).reshape(rows.shape)
