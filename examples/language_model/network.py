"""The base model with a LoRA adapter and its loss on a batch, made fast on a CPU and on a GPU.

A batch has several dialogues behind one situation, which do not see one another. On a CPU attention
computes only what is seen, and on a GPU it gets a mask. The loss computes the probabilities of the
learnt tokens only, and once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from base import Base, Sizes
from packed import UNLEARNT, Part
from torch import Tensor, nn
from torch.nn import functional

RANK, ALPHA = 16, 32
BFLOAT16 = ("avx512_bf16", "amx_bf16")
"""Instructions of a CPU that multiply matrices in bfloat16."""


def fastest_dtype(device: torch.device) -> torch.dtype:
    """Return in what a device computes fastest."""
    if device.type == "cpu" and not any(map(torch.cpu.get_capabilities().get, BFLOAT16)):
        return torch.float32
    return torch.bfloat16


class Linear(nn.Module):
    """A layer of the base model with LoRA's two factors, which are kept in float32.

    Args:
        weight: The frozen weights, (outputs, inputs).
    """

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        outputs, inputs = weight.shape
        self.weight = nn.Parameter(weight, requires_grad=False)
        self.lora_a = nn.Parameter(torch.empty(RANK, inputs, device=weight.device))
        self.lora_b = nn.Parameter(torch.empty(outputs, RANK, device=weight.device))

    def reset(self) -> None:
        """Draw the first factor anew; with a second one of 0 the adapter changes nothing yet."""
        nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))
        nn.init.zeros_(self.lora_b)

    def forward(self, rows: Tensor) -> Tensor:
        """Return rows of outputs, computed in the type of the frozen weights."""
        low = functional.linear(rows, self.lora_a.to(rows.dtype))
        return functional.linear(rows, self.weight) + functional.linear(
            low, self.lora_b.to(rows.dtype)
        ) * (ALPHA / RANK)


class Norm(nn.Module):
    """RMSNorm."""

    def __init__(self, weight: Tensor, epsilon: float) -> None:
        super().__init__()
        self.weight, self.epsilon = nn.Parameter(weight, requires_grad=False), epsilon

    def forward(self, rows: Tensor) -> Tensor:
        """Return rows of a mean square of 1, times the weights."""
        wide = rows.float()
        normal = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.epsilon)
        return self.weight * normal.to(rows.dtype)


class Layer(nn.Module):
    """Attention and a feed-forward network. Its modules have llama.cpp's names."""

    def __init__(self, weights: dict[str, Tensor], sizes: Sizes) -> None:
        super().__init__()
        self.head_width = sizes.width // sizes.heads
        for name in ("attn_norm", "ffn_norm"):
            self.add_module(name, Norm(weights[name], sizes.epsilon))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
            self.add_module(name, Linear(weights[name]))

    def forward(self, rows: Tensor, cos: Tensor, sin: Tensor, seen: Tensor) -> Tensor:
        """Return rows (examples, length, width) plus the layer's output; ``Batch`` has ``seen``."""
        normal = self.attn_norm(rows)
        query, key, value = (
            layer(normal).unflatten(-1, (-1, self.head_width)).transpose(1, 2)
            for layer in (self.attn_q, self.attn_k, self.attn_v)
        )
        attended = attend(rotated(query, cos, sin), rotated(key, cos, sin), value, seen)
        rows = rows + self.attn_output(attended.transpose(1, 2).flatten(2))
        normal = self.ffn_norm(rows)
        return rows + self.ffn_down(functional.silu(self.ffn_gate(normal)) * self.ffn_up(normal))


class Network(nn.Module):
    """A model of Llama's architecture whose last layer is its embedding.

    Args:
        base: Its frozen weights.
        device: Where it computes.
        dtype: What it computes in; by default what is fastest there.
    """

    def __init__(self, base: Base, device: torch.device, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        dtype = dtype or fastest_dtype(device)
        sizes = base.sizes
        layers: list[dict[str, Tensor]] = [{} for _ in range(sizes.layers)]
        whole: dict[str, Tensor] = {}
        for name, array in base.weights().items():
            weight = torch.tensor(array, dtype=dtype, device=device)
            if name.startswith("blk."):  # blk.LAYER.MODULE.weight
                _, layer, module, _ = name.split(".")
                layers[int(layer)][module] = weight
            else:
                whole[name] = weight
        self.embedding = nn.Parameter(whole["token_embd.weight"], requires_grad=False)
        self.blk = nn.ModuleList(Layer(weights, sizes) for weights in layers)
        self.norm = Norm(whole["output_norm.weight"], sizes.epsilon)
        half = sizes.width // sizes.heads // 2
        self.frequencies = sizes.rope_base ** (-torch.arange(half, device=device) / half)
        self.reset()

    def reset(self) -> None:
        """Draw an adapter that changes nothing yet."""
        for layer in self.modules():
            if isinstance(layer, Linear):
                layer.reset()

    def factors(self) -> dict[str, nn.Parameter]:
        """Return the adapter's weights by their names."""
        return {name: weight for name, weight in self.named_parameters() if weight.requires_grad}

    def compile_layers(self) -> None:
        """Compile the layers, once for all and for any length."""
        for layer in self.blk:
            layer.compile(dynamic=True)

    def forward(self, batch: Batch) -> Tensor:
        """Return the last hidden states, (examples, length, width)."""
        # As if the embedding were learnt, since a compiler would compile the first layer by itself
        # otherwise.
        rows = self.embedding[batch.ids].requires_grad_(torch.is_grad_enabled())
        angles = batch.positions[:, None, :, None] * self.frequencies
        cos, sin = angles.cos().to(rows.dtype), angles.sin().to(rows.dtype)
        for layer in self.blk:
            rows = layer(rows, cos, sin, batch.seen)
        return self.norm(rows)


def rotated(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Return heads (examples, heads, length, width), their halves rotated by position angles."""
    first, second = heads.chunk(2, -1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), -1)


class Batch(NamedTuple):
    """Parts as tensors, each padded to the same length.

    Attributes:
        ids: Tokens, (examples, length).
        positions: Position of each token within its dialogue, of the same shape.
        labels: The token to predict after each token; ``UNLEARNT`` where none is learnt.
        seen: What a token sees: the situation, and what stands before it in its own dialogue, of
            which padding is one. On a CPU the number of tokens of the situation, of each dialogue,
            and of the padding, (examples, dialogues), with 0 for a dialogue that only another
            example has. With a mask what is added to the scores, 0 or minus infinity, (examples, 1,
            length, length).
    """

    ids: Tensor
    positions: Tensor
    labels: Tensor
    seen: Tensor


STEP = 16
"""On a CPU lengths are multiples of this, since its kernels are made anew for each length."""
MASKED_STEP = 64
"""On a GPU lengths are multiples of this: its kernels want masks that are aligned."""
_PADDING = 255


def padded_length(part: Part, step: int) -> int:
    """Return the length that a part takes in a batch of its own."""
    return -(-len(part.ids) // step) * step


def make_batch(
    parts: Sequence[Part],
    device: torch.device,
    *,
    masked: bool | None = None,
    dtype: torch.dtype | None = None,
) -> Batch:
    """Return parts padded to a length in which the longest has room.

    Args:
        parts: The parts.
        device: Where they are computed with.
        masked: Whether attention gets a mask; by default if it is a GPU.
        dtype: What is computed in; by default what is fastest there.
    """
    if masked is None:
        masked = device.type != "cpu"
    step, count = STEP, len(parts)
    if masked:
        # A compiler treats a batch of one as a case of its own, which takes it half a minute.
        step, count = MASKED_STEP, max(count, 2)
    length = max(padded_length(part, step) for part in parts)

    def padded(rows: Sequence[np.ndarray], filler: int) -> Tensor:
        filled = np.full((count, length), filler, np.int64)
        for into, row in zip(filled, rows, strict=False):
            into[: len(row)] = row
        return torch.from_numpy(filled).to(device)

    ids = padded([part.ids for part in parts], 0)
    positions = padded([part.positions for part in parts], 0)
    labels = padded([part.labels for part in parts], UNLEARNT)
    if not masked:
        return Batch(ids, positions, labels, _lengths(parts, length))
    dialogues = padded([part.dialogues for part in parts], _PADDING)
    return Batch(ids, positions, labels, _mask(dialogues, dtype or fastest_dtype(device)))


def _lengths(parts: Sequence[Part], length: int) -> Tensor:
    """Return the lengths of each part's situation and dialogues, and last of its padding."""
    counts = [np.bincount(part.dialogues).tolist() for part in parts]
    most = max(map(len, counts))
    rows = []
    for lengths in counts:
        missing = [0] * (most - len(lengths))
        rows.append([*lengths, *missing, length - sum(lengths)])
    return torch.tensor(rows)


def _mask(dialogues: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the attention bias of queries (rows) and keys (columns); padding sees itself."""
    key, query = dialogues[:, None, :], dialogues[:, :, None]
    seen = ((key == 0) | (key == query)).tril()
    mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill_(~seen, -torch.inf)
    return mask[:, None]


def loss_of(network: Network, batch: Batch, count: int | None = None) -> Tensor:
    """Return the summed negative log-likelihood of learnt tokens over ``count``, their number."""
    learnt = batch.labels != UNLEARNT
    hidden, labels = network(batch)[learnt], batch.labels[learnt]
    filled = (0, -len(labels) % STEP)
    rows = functional.pad(hidden, (0, 0, *filled))
    labels = functional.pad(labels, filled, value=UNLEARNT)
    loss: Tensor = _Likelihood.apply(
        rows, network.embedding, labels, count or max(1, int(learnt.sum()))
    )
    return loss


BLOCK = 4_096
"""Maximum number of tokens whose probabilities are computed at once."""


class _Likelihood(torch.autograd.Function):
    """Negative log-likelihood of the labels that are not ``UNLEARNT``, divided by a count.

    The gradient is computed with it, since the probabilities are then needed only once.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, labels: Tensor, count: int) -> Tensor:
        losses, gradients = [], []
        for rows, targets in zip(hidden.split(BLOCK), labels.split(BLOCK), strict=True):
            loss, gradient = _likelihood(rows, targets, weight)
            losses.append(loss)
            gradients.append(gradient)
        ctx.save_for_backward(torch.cat(gradients) / count)
        return torch.stack(losses).sum() / count

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        return ctx.saved_tensors[0] * grads[0], None, None, None


def _likelihood(hidden: Tensor, labels: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return the negative log-likelihood of a block, and its gradient."""
    probs = torch.softmax(hidden @ weight.T, -1, dtype=torch.float32)
    known = labels != UNLEARNT
    rows = torch.arange(len(labels), device=labels.device)
    targets = labels.clamp_min(0)
    likelihood = probs[rows, targets].clamp_min(1e-30).log()
    probs[rows, targets] -= 1
    probs *= known[:, None]
    return -(likelihood * known).sum(), probs.to(weight.dtype) @ weight


QUERIES = 256
"""Maximum number of queries attended at once, which skips the keys after the last of them."""


@torch.compiler.disable
def attend(query: Tensor, key: Tensor, value: Tensor, seen: Tensor) -> Tensor:
    """Return the values that queries (examples, heads, length, width) attend to.

    Several heads share a key.

    A compiler would compile this anew for other lengths.
    """
    groups = key.shape[1]
    if seen.is_floating_point():
        shared = query.shape[1] // groups
        keys, values = key.repeat_interleave(shared, 1), value.repeat_interleave(shared, 1)
        return functional.scaled_dot_product_attention(query, keys, values, seen)
    heads = (query * query.shape[-1] ** -0.5).unflatten(1, (groups, -1))
    examples = zip(heads, key, value, seen.tolist(), strict=True)
    attended = [_attend(*example) for example in examples]
    return torch.stack(attended).flatten(1, 2)


def _attend(query: Tensor, key: Tensor, value: Tensor, lengths: list[int]) -> Tensor:
    """Return the values that queries (groups, shared, length, width) attend to, in their shape.

    Keys and values are (groups, length, width).
    """
    attended = []
    queries, keys, values = (tensor.split(lengths, -2) for tensor in (query, key, value))
    for part, length in enumerate(lengths):
        seen = sorted({0, part})  # the situation and this dialogue
        its_keys = torch.cat([keys[number] for number in seen], 1)
        its_values = torch.cat([values[number] for number in seen], 1)
        end = its_keys.shape[1] - length
        for piece in queries[part].tensor_split(max(1, -(-length // QUERIES)), -2):
            end += piece.shape[-2]
            attended.append(_look(piece, its_keys[:, :end], its_values[:, :end]))
    return torch.cat(attended, -2)


def _look(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return what the last queries attend to; heads that share keys are multiplied together."""
    shared, length = query.shape[1:3]
    # A product with a transposed view takes several times as long on some CPUs as with a copy of
    # it.
    scores = (query.flatten(1, 2) @ key.mT.contiguous()).unflatten(1, (shared, length))
    later = torch.full((length, length), -torch.inf, dtype=scores.dtype, device=scores.device).triu(
        1
    )
    scores[..., key.shape[1] - length :] += later
    return (torch.softmax(scores, -1).flatten(1, 2) @ value).unflatten(1, (shared, length))
