"""The base model with a LoRA adapter, made fast on a CPU.

Three things make a step on two cores several times as fast as the libraries' defaults: arithmetic in bfloat16, an
attention that takes a mask of several dialogues behind one situation, and a loss that computes the probabilities of the
learnt tokens only, and once. Layers that are compiled where there is a C++ compiler are faster still.
"""

from __future__ import annotations

from collections.abc import Sequence
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


STEP = 64
"""Lengths are multiples of this, since the kernels of a CPU are made anew for each length."""


class Batch(NamedTuple):
    """Examples as tensors, each padded to the same length.

    Attributes:
        ids: Tokens, (examples, length).
        positions: Position of each token within its dialogue, of the same shape.
        branches: Number of the dialogue of each token, 0 for the situation and -1 for padding, of the same shape.
        labels: The token to predict after each token; -100 where none is learnt.
    """

    ids: Tensor
    positions: Tensor
    branches: Tensor
    labels: Tensor

    def mask(self, dtype: torch.dtype) -> Tensor:
        """Return what is added to the attention scores: each token sees the situation and its own dialogue."""
        of = self.branches
        same = (of[:, :, None] == of[:, None, :]) | (of[:, None, :] == 0)
        seen = same & torch.ones_like(same[0]).tril()
        return torch.zeros(seen.shape, dtype=dtype, device=of.device).masked_fill(~seen, torch.finfo(dtype).min)[
            :, None
        ]


class Encoded(NamedTuple):
    """One example as lists; see ``Batch``."""

    ids: list[int]
    positions: list[int]
    branches: list[int]
    labels: list[int]


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

    return Batch(padded("ids", 0), padded("positions", 0), padded("branches", -1), padded("labels", -100))


def loss_of(model: Any, batch: Batch) -> Tensor:
    """Return the mean negative log-likelihood of the learnt tokens."""
    causal = model.get_base_model()
    mask = batch.mask(causal.dtype)
    hidden = causal.model(
        input_ids=batch.ids, position_ids=batch.positions, attention_mask=mask, use_cache=False
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


def _attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor, scaling: float, **_: Any
) -> tuple[Tensor, None]:
    """Attend with a mask that is given; heads that share keys are multiplied together."""
    examples, heads, length, width = query.shape
    groups = key.shape[1]
    shared = heads // groups
    # A product with a transposed view takes several times as long on a CPU as with a copy of it.
    scores = (query * scaling).reshape(examples, groups, shared * length, width) @ key.transpose(2, 3).contiguous()
    scores = scores.view(examples, heads, length, length) + attention_mask
    weights = torch.softmax(scores, -1).view(examples, groups, shared * length, length)
    attended = (weights @ value).view(examples, heads, length, width)
    return attended.transpose(1, 2), None
