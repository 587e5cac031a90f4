"""Writes a LoRA adapter in the format of llama.cpp."""

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
        found = _WEIGHT.fullmatch(name)
        if found is None:
            raise ValueError(f"expected a weight of a LoRA layer, got {name}")
        layer = NAMES[found[2]]
        array = weight.detach().cpu().float().numpy()
        if found[3] == "B" and layer in HEADS:
            array = _by_pairs(array, HEADS[layer])
        writer.add_tensor(f"blk.{found[1]}.{layer}.weight.lora_{found[3].lower()}", array.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.replace(file)


def _by_pairs(rows: np.ndarray, heads: int) -> np.ndarray:
    """Return rows of (heads, 2, half) in the order (heads, half, 2)."""
    split = rows.reshape(heads, 2, rows.shape[0] // heads // 2, rows.shape[1])
    return split.swapaxes(1, 2).reshape(rows.shape)
