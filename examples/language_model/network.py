"""The base model with a LoRA adapter, made fast on a CPU.

Three things make a step on two cores several times as fast as the libraries' defaults: arithmetic in bfloat16, an
attention of several dialogues behind one situation that computes only what is seen, and a loss that computes the
probabilities of the learnt tokens only, and once. Layers that are compiled where there is a C++ compiler are faster
still.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch
from dialogue import Example
from peft import LoraConfig, get_peft_model
from torch import Tensor
from transformers import AttentionInterface, AutoModelForCausalLM, AutoTokenizer, GgufConfig

from textcraft_gym.agents.models.weights import find_files

RANK, ALPHA = 16, 32
LAYERS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def base_file() -> Path:
    """Return the GGUF file of the base model, which is that of ``--model local``.

    Raises:
        ModelError: If its package is not installed.
    """
    return find_files().weights


def load_tokenizer(file: Path) -> Any:
    """Return the tokenizer in a GGUF file."""
    return AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)


def load_model(file: Path, device: torch.device) -> Any:
    """Return the model in a GGUF file in bfloat16, with an adapter that changes nothing yet."""
    AttentionInterface.register("branches", _attention)
    base = AutoModelForCausalLM.from_pretrained(
        file.parent,
        gguf_file=file.name,
        dtype=torch.float32,
        quantization_config=GgufConfig(dequantize=True),
        attn_implementation="branches",
    )
    config = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=LAYERS)
    return get_peft_model(base.to(device, torch.bfloat16), config, autocast_adapter_dtype=False)


def compile_layers(model: Any) -> None:
    """Compile the layers, once for all and for any length."""
    for layer in model.get_base_model().model.layers:
        layer.compile(dynamic=True)


STEP = 16
"""Lengths are multiples of this, since the kernels of a CPU are made anew for each length."""


class Batch(NamedTuple):
    """Examples as tensors, each padded to the same length.

    Attributes:
        ids: Tokens, (examples, length).
        positions: Position of each token within its dialogue, of the same shape.
        labels: The token to predict after each token; -100 where none is learnt.
        bounds: Where the situation and each dialogue begin, and where the last one ends; the end stands there several
            times where another example has more dialogues, (examples, parts + 1), on the CPU.
    """

    ids: Tensor
    positions: Tensor
    labels: Tensor
    bounds: Tensor


class Encoded(NamedTuple):
    """One example as lists; see ``Batch``. ``branches`` is the number of each token's dialogue, 0 for the situation."""

    ids: list[int]
    positions: list[int]
    branches: list[int]
    labels: list[int]

    @property
    def bounds(self) -> list[int]:
        """Where the situation and each dialogue begin, and where the last one ends."""
        return [bisect_left(self.branches, number) for number in range(self.branches[-1] + 2)]


def encode(tokenizer: Any, example: Example) -> Encoded:
    """Return an example in tokens: its situation, then its dialogues one after another."""
    situation = tokenizer(example.situation, add_special_tokens=False).input_ids
    encoded = Encoded([*situation], [*range(len(situation))], [0] * len(situation), [-100] * len(situation))
    for number, branch in enumerate(example.branches, 1):
        whole = tokenizer(branch.text, add_special_tokens=False, return_offsets_mapping=True)
        ids = [*whole.input_ids, tokenizer.eos_token_id] if branch.end else whole.input_ids
        learnt = [_learnt(branch.spans, start) for start, _ in whole.offset_mapping] + [True] * branch.end
        encoded.ids.extend(ids)
        encoded.positions.extend(range(len(situation), len(situation) + len(ids)))
        encoded.branches.extend([number] * len(ids))
        # A token is predicted at the one before it; the first of a dialogue is never learnt.
        encoded.labels.extend(
            [token if known else -100 for token, known in zip(ids[1:], learnt[1:], strict=True)] + [-100]
        )
    return encoded


def _learnt(spans: Sequence[Any], place: int) -> bool:
    for span in spans:
        if place < len(span.text):
            return bool(span.learnt)
        place -= len(span.text)
    raise AssertionError("a token behind the end of the text")


def make_batch(examples: Sequence[Encoded], device: torch.device) -> Batch:
    """Return examples padded to a length of ``STEP``s in which the longest has room."""
    longest = _whole_steps(max(len(example.ids) for example in examples))

    def padded(name: str, filler: int) -> Tensor:
        rows = [getattr(example, name) for example in examples]
        return torch.tensor([row + [filler] * (longest - len(row)) for row in rows], device=device)

    bounds = [example.bounds for example in examples]
    parts = max(map(len, bounds))
    ends = torch.tensor([of + of[-1:] * (parts - len(of)) for of in bounds])
    return Batch(padded("ids", 0), padded("positions", 0), padded("labels", -100), ends)


def loss_of(model: Any, batch: Batch) -> Tensor:
    """Return the mean negative log-likelihood of the learnt tokens."""
    causal = model.get_base_model()
    hidden = causal.model(
        input_ids=batch.ids, position_ids=batch.positions, use_cache=False, bounds=batch.bounds
    ).last_hidden_state
    learnt = batch.labels != -100
    count = int(learnt.sum())
    filled = (0, _whole_steps(count) - count)
    rows = torch.nn.functional.pad(hidden[learnt], (0, 0, *filled))
    labels = torch.nn.functional.pad(batch.labels[learnt], filled, value=-100)
    loss: Tensor = _Likelihood.apply(rows, causal.lm_head.weight.detach(), labels)  # type: ignore[no-untyped-call]
    return loss


def _whole_steps(length: int) -> int:
    return -(-length // STEP) * STEP


class _Likelihood(torch.autograd.Function):
    """Mean negative log-likelihood of the labels that are not -100.

    The gradient is computed with it, since the probabilities are then needed only once.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, labels: Tensor) -> Tensor:
        probs = torch.softmax(hidden @ weight.T, -1, dtype=torch.float32)
        known = labels != -100
        rows = known.nonzero()[:, 0]
        likelihood = probs[rows, labels[rows]]
        probs[rows, labels[rows]] -= 1
        probs[~known] = 0
        ctx.save_for_backward((probs.to(weight.dtype) @ weight) / len(rows))
        return -likelihood.clamp_min(1e-30).log().mean()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return ctx.saved_tensors[0] * grads[0], None, None


QUERIES = 256
"""Tokens of a dialogue at most whose attention is computed at once, without what comes after the last of them."""


class _Block(NamedTuple):
    """Tokens ``first`` to ``end`` of a dialogue that begins at ``start``, behind a situation of some tokens."""

    situation: int
    start: int
    first: int
    end: int

    def seen(self, tensor: Tensor) -> Tensor:
        """Return what the tokens see of keys or values (groups, length, width): the last ones are themselves."""
        return torch.cat([tensor[:, : self.situation], tensor[:, self.start : self.end]], 1)

    def give_back(self, whole: Tensor, grads: Tensor) -> None:
        """Add the gradients of what ``seen`` returned to those of the whole."""
        whole[:, : self.situation] += grads[:, : self.situation]
        whole[:, self.start : self.end] += grads[:, self.situation :]


def _blocks(bounds: Sequence[int]) -> Iterator[_Block]:
    for start, end in pairwise(bounds):
        pieces = -(-(end - start) // QUERIES)
        cuts = [start + (end - start) * piece // pieces for piece in range(pieces)]
        for first, following in pairwise([*cuts, end]):
            yield _Block(bounds[1] if start else 0, start, first, following)


class _Attention(torch.autograd.Function):
    """Attention of tokens to the situation, and to what stands before them in their own dialogue.

    The queries are (examples, groups, shared, length, width), the keys and values (examples, groups, length, width):
    heads that share keys are multiplied together. Padding attends to nothing.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, bounds: Tensor) -> Tensor:
        attended = torch.zeros_like(query)
        ctx.blocks = [(example, block) for example, of in enumerate(bounds.tolist()) for block in _blocks(of)]
        ctx.weights = []
        for example, block in ctx.blocks:
            queries = query[example, :, :, block.first : block.end]
            keys, values = block.seen(key[example]), block.seen(value[example])
            scores = queries.flatten(1, 2) @ _transposed(keys)
            length = block.end - block.first
            later = torch.full((length, length), -torch.inf, dtype=scores.dtype, device=scores.device).triu(1)
            scores.unflatten(1, (-1, length))[..., -length:] += later
            weights = torch.softmax(scores, -1)
            attended[example, :, :, block.first : block.end] = (weights @ values).unflatten(1, (-1, length))
            ctx.weights.append(weights)
        ctx.save_for_backward(query, key, value)
        return attended

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value = ctx.saved_tensors
        of_query = torch.zeros_like(query)
        # Sums over many dialogues, which in half precision would lose what is small.
        of_key, of_value = (torch.zeros_like(tensor, dtype=torch.float32) for tensor in (key, value))
        for (example, block), weights in zip(ctx.blocks, ctx.weights, strict=True):
            here = (example, slice(None), slice(None), slice(block.first, block.end))
            queries, grad = query[here].flatten(1, 2), grads[0][here].flatten(1, 2)
            keys, values = block.seen(key[example]), block.seen(value[example])
            block.give_back(of_value[example], (_transposed(grad) @ weights).mT)
            of_weights = grad @ _transposed(values)
            of_scores = torch.ops.aten._softmax_backward_data(of_weights, weights, -1, weights.dtype)
            of_query[here] = (of_scores @ keys).unflatten(1, (-1, block.end - block.first))
            block.give_back(of_key[example], (_transposed(queries) @ of_scores).mT)
        return of_query, of_key.to(key.dtype), of_value.to(value.dtype), None


def _transposed(tensor: Tensor) -> Tensor:
    """Return a transposed copy: on some CPUs a product with a transposed view takes several times as long."""
    return tensor.mT.contiguous()


@torch.compiler.disable
def _attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: None,
    scaling: float,
    bounds: Tensor,
    **_: Any,
) -> tuple[Tensor, None]:
    """Attend as ``_Attention`` says; the lengths of its blocks are not for a compiler."""
    shared = (query * scaling).unflatten(1, (key.shape[1], -1))
    attended: Tensor = _Attention.apply(shared, key, value, bounds)  # type: ignore[no-untyped-call]
    return attended.flatten(1, 2).transpose(1, 2), None
