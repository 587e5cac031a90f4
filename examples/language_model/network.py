"""The base model with a LoRA adapter, made fast on a CPU.

Three things make a step on two cores several times as fast as the libraries' defaults: arithmetic in bfloat16, an
attention of several dialogues behind one situation that computes only what is seen, and a loss that computes the
probabilities of the learnt tokens only, and once. Layers that are compiled where there is a C++ compiler are faster
still.
"""

from __future__ import annotations

from collections import Counter
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


STEP = 16
"""Lengths are multiples of this, since the kernels of a CPU are made anew for each length."""


class Batch(NamedTuple):
    """Examples as tensors, each padded to the same length.

    Attributes:
        ids: Tokens, (examples, length).
        positions: Position of each token within its dialogue, of the same shape.
        labels: The token to predict after each token; -100 where none is learnt.
        lengths: Number of tokens of the situation, of each dialogue, and of the padding, (examples, parts), on the CPU;
            0 for a dialogue that only another example has.
    """

    ids: Tensor
    positions: Tensor
    labels: Tensor
    lengths: Tensor


class Encoded(NamedTuple):
    """One example as lists; see ``Batch``. ``branches`` is the number of each token's dialogue, 0 for the situation."""

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
    raise AssertionError("a token past the end of the text")


def make_batch(examples: Sequence[Encoded], device: torch.device) -> Batch:
    """Return examples padded to a length of ``STEP``s in which the longest has room."""
    longest = _whole_steps(max(len(example.ids) for example in examples))

    def padded(name: str, filler: int) -> Tensor:
        rows = [getattr(example, name) for example in examples]
        return torch.tensor([row + [filler] * (longest - len(row)) for row in rows], device=device)

    counts = [Counter(example.branches) for example in examples]
    parts = range(max(map(len, counts)))
    lengths = [[of[part] for part in parts] + [longest - of.total()] for of in counts]
    return Batch(padded("ids", 0), padded("positions", 0), padded("labels", -100), torch.tensor(lengths))


def loss_of(model: Any, batch: Batch) -> Tensor:
    """Return the mean negative log-likelihood of the learnt tokens."""
    causal = model.get_base_model()
    hidden = causal.model(
        input_ids=batch.ids, position_ids=batch.positions, use_cache=False, lengths=batch.lengths
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
"""Maximum number of tokens whose attention is computed at once, without that to the tokens after the last of them."""


@torch.compiler.disable
def _attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: None,
    scaling: float,
    lengths: Tensor,
    **_: Any,
) -> tuple[Tensor, None]:
    """Attend to the situation, and to what stands before a token in its own dialogue, of which padding is one.

    A compiler would compile this anew for other lengths.
    """
    shared = (query * scaling).unflatten(1, (key.shape[1], -1))
    attended = torch.stack([_attend(*of) for of in zip(shared, key, value, lengths.tolist(), strict=True)])
    return attended.flatten(1, 2).transpose(1, 2), None


def _attend(query: Tensor, key: Tensor, value: Tensor, lengths: list[int]) -> Tensor:
    """Return the values that an example's queries (groups, shared, length, width) attend to, in their shape.

    Keys and values are (groups, length, width).
    """
    attended = []
    queries, keys, values = (tensor.split(lengths, -2) for tensor in (query, key, value))
    for part, length in enumerate(lengths):
        seen = sorted({0, part})  # the situation and this dialogue
        its_keys, its_values = (torch.cat([of[each] for each in seen], 1) for of in (keys, values))
        end = its_keys.shape[1] - length
        for piece in queries[part].tensor_split(max(1, -(-length // QUERIES)), -2):
            end += piece.shape[-2]
            attended.append(_look(piece, its_keys[:, :end], its_values[:, :end]))
    return torch.cat(attended, -2)


def _look(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return what queries attend to whose own keys are the last ones; heads that share keys are multiplied together."""
    shared, length = query.shape[1:3]
    # A product with a transposed view takes several times as long on some CPUs as with a copy of it.
    scores = (query.flatten(1, 2) @ key.mT.contiguous()).unflatten(1, (shared, length))
    later = torch.full((length, length), -torch.inf, dtype=scores.dtype, device=scores.device).triu(1)
    scores[..., key.shape[1] - length :] += later
    return (torch.softmax(scores, -1).flatten(1, 2) @ value).unflatten(1, (shared, length))
