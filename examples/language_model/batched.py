"""The language model on a GPU, for hundreds of episodes at once: ``--model batched:BatchedModel,adapter=FILE.gguf``.

The weights are those of ``--model local``, with the adapter worked in, computed in bfloat16 by PyTorch. Requests join
the others as soon as they are asked, and leave when they are done; a prompt that begins as an earlier one is read from
there on. Needs torch, transformers (for the tokenizer) and gguf.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import gguf
import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding, linear, rms_norm, scaled_dot_product_attention, silu
from transformers import AutoTokenizer

from textcraft_gym.agents.contract.model import Completion, CompletionRequest, ModelLimit, prompt_text
from textcraft_gym.agents.models.weights import find_files

STEP = 64
"""Lengths of caches that are read are multiples of this."""
SWITCH_SECONDS = 0.0005
"""Seconds after which a thread that plays gives way to the one that computes, which else waits longer than it works."""
PREFILL = 1 << 16
"""Tokens of prompts, with their padding, that are read at once."""


class Layer(NamedTuple):
    """The weights of a layer, rows of queries and keys in llama.cpp's order."""

    attn_norm: Tensor
    attn_q: Tensor
    attn_k: Tensor
    attn_v: Tensor
    attn_output: Tensor
    ffn_norm: Tensor
    ffn_gate: Tensor
    ffn_up: Tensor
    ffn_down: Tensor


class Network:
    """A Llama with a cache of keys and values for each slot.

    Args:
        weights: A GGUF file.
        adapter: A LoRA adapter in a GGUF file, which is worked into the weights.
        device: Where it computes.
        slots: Number of texts at once.
        context: Maximum number of tokens of each.
    """

    def __init__(self, weights: Path, adapter: Path | None, device: torch.device, slots: int, context: int) -> None:
        dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
        reader = gguf.GGUFReader(weights)
        tensors = {tensor.name: gguf.dequantize(tensor.data, tensor.tensor_type) for tensor in reader.tensors}
        if adapter:
            _work_in(tensors, gguf.GGUFReader(adapter))
        about = {name: reader.get_field(f"llama.{name}").contents() for name in _FIELDS}  # type: ignore[union-attr]
        self.heads, self.groups = about["attention.head_count"], about["attention.head_count_kv"]
        self.epsilon = about["attention.layer_norm_rms_epsilon"]
        placed = {name: torch.from_numpy(np.array(data)).to(device, dtype) for name, data in tensors.items()}
        self.embeddings = placed["token_embd.weight"]
        self.head = placed.get("output.weight", self.embeddings)
        self.norm = placed["output_norm.weight"]
        self.layers = [
            Layer(*(placed[f"blk.{number}.{name}.weight"] for name in Layer._fields))
            for number in range(about["block_count"])
        ]
        width = self.embeddings.shape[1] // self.heads
        shape = (len(self.layers), 2, slots, self.groups, context, width)
        self.cache = torch.zeros(shape, dtype=dtype, device=device)
        powers = torch.arange(0, width, 2, device=device) / width
        angles = torch.arange(context, device=device)[:, None] / about["rope.freq_base"] ** powers
        self.turns = torch.polar(torch.ones_like(angles), angles)

    @torch.inference_mode()
    def logits(self, ids: Tensor, slots: Tensor | None, begins: Tensor, last: Tensor, longest: int) -> Tensor:
        """Read tokens into slots, and return the logits after one token of each.

        Args:
            ids: Tokens, (texts, length).
            slots: The slot of each text; None for all slots in order, of which no cache is copied.
            begins: Number of tokens that each slot has before.
            last: The place in ``ids`` of each text's last token; what follows is padding.
            longest: The most tokens that any of the texts has after these.
        """
        context = self.cache.shape[4]
        places = (begins[:, None] + torch.arange(ids.shape[1], device=ids.device)).clamp_max(context - 1)
        length = min(context, -(-longest // STEP) * STEP)
        seen = torch.arange(length, device=ids.device) <= places[..., None]
        # The heads that share keys stand one after another as further queries, so that no key is copied for them.
        mask = seen[:, None].repeat(1, 1, self.heads // self.groups, 1)
        turns = self.turns[places][:, :, None]
        hidden = embedding(ids, self.embeddings)
        for number, layer in enumerate(self.layers):
            hidden = hidden + self._attend(number, layer, hidden, slots, places, turns, mask)
            normed = rms_norm(hidden, layer.ffn_norm.shape, layer.ffn_norm, self.epsilon)
            gated = silu(linear(normed, layer.ffn_gate)) * linear(normed, layer.ffn_up)
            hidden = hidden + linear(gated, layer.ffn_down)
        ends = hidden[torch.arange(len(ids), device=ids.device), last]
        return linear(rms_norm(ends, self.norm.shape, self.norm, self.epsilon), self.head).float()

    def _attend(
        self,
        number: int,
        layer: Layer,
        hidden: Tensor,
        slots: Tensor | None,
        places: Tensor,
        turns: Tensor,
        mask: Tensor,
    ) -> Tensor:
        normed = rms_norm(hidden, layer.attn_norm.shape, layer.attn_norm, self.epsilon)
        heads = [linear(normed, weight) for weight in layer[1:4]]
        query, key, value = (of.unflatten(-1, (-1, self.cache.shape[-1])) for of in heads)
        keys, values = self.cache[number]
        rows = torch.arange(len(keys), device=keys.device) if slots is None else slots
        keys[rows[:, None], :, places] = _turned(key, turns)
        values[rows[:, None], :, places] = value
        if slots is not None:
            keys, values = keys[slots], values[slots]
        length = mask.shape[-1]
        texts, tokens = places.shape
        asked = _turned(query, turns).unflatten(2, (self.groups, -1)).permute(0, 2, 3, 1, 4).flatten(2, 3)
        answers = scaled_dot_product_attention(asked, keys[:, :, :length], values[:, :, :length], attn_mask=mask)
        answers = answers.unflatten(2, (-1, tokens)).permute(0, 3, 1, 2, 4)
        return linear(answers.reshape(texts, tokens, -1), layer.attn_output)


_FIELDS = (
    "block_count",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.layer_norm_rms_epsilon",
    "rope.freq_base",
)


def _work_in(tensors: dict[str, np.ndarray], adapter: gguf.GGUFReader) -> None:
    alpha = adapter.get_field("adapter.lora.alpha")
    factors = {tensor.name: tensor.data.astype(np.float32) for tensor in adapter.tensors}
    for name, weight in tensors.items():
        if f"{name}.lora_a" in factors:
            first, second = factors[f"{name}.lora_a"], factors[f"{name}.lora_b"]
            tensors[name] = weight + (alpha.contents() / len(first)) * second @ first  # type: ignore[union-attr]


def _turned(heads: Tensor, turns: Tensor) -> Tensor:
    """Turn each pair of neighbours by the angle of its place."""
    pairs = torch.view_as_complex(heads.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * turns).flatten(-2).to(heads.dtype)


@dataclass(eq=False)
class _Text:
    """A request that is being answered."""

    request: CompletionRequest
    answer: Future[Completion]
    prompt: np.ndarray
    rng: np.random.Generator
    slot: int = -1
    cached: int = 0
    ids: list[int] = field(default_factory=list)
    written: bytearray = field(default_factory=bytearray)


class BatchedModel:
    """A language model that answers many requests at once on a GPU.

    Args:
        adapter: A LoRA adapter; by default the suite's; ``none`` for none.
        slots: Number of requests at once.
        context: Maximum number of tokens of a prompt with its answer.
    """

    prompts = "short"

    def __init__(self, adapter: str | None = None, *, slots: int = 256, context: int = 4096) -> None:
        weights, lora = find_files(None, adapter)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.device, self.context = device, context
        self.tokenizer = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
        self.pieces = [_bytes(token) for token in self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer)))]
        self.network = Network(weights, lora, device, slots, context)
        self.texts: list[_Text | None] = [None] * slots
        self.known = np.zeros((slots, context), np.uint16)  # what the slots' caches are of
        self.lengths = np.zeros(slots, np.int64)
        self.used = np.zeros(slots, np.int64)
        sys.setswitchinterval(SWITCH_SECONDS)
        self.asked: SimpleQueue[_Text] = SimpleQueue()
        self.waiting: list[_Text] = []
        self.steps = self.read = self.wrote = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def complete(self, prompt: Any, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int) -> Any:
        """Return the completion of one request."""
        return self._ask(CompletionRequest(prompt, stop, max_tokens, temperature, sample)).result()

    async def complete_async(self, request: CompletionRequest) -> Completion:
        """Return the completion of one request, computed together with others."""
        return await asyncio.wrap_future(self._ask(request))

    def _ask(self, request: CompletionRequest) -> Future[Completion]:
        encoded = self.tokenizer.backend_tokenizer.encode(prompt_text(request.prompt), add_special_tokens=False)
        prompt = np.array(encoded.ids, np.uint16)
        answer: Future[Completion] = Future()
        if len(prompt) + request.max_tokens >= self.context:
            answer.set_exception(ModelLimit(f"the prompt has {len(prompt)} tokens", "context"))
        else:
            seed = request.sample if request.temperature > 0 else 0
            self.asked.put(_Text(request, answer, prompt, np.random.default_rng(seed % 2**32)))
        return answer

    def _serve(self) -> None:
        try:
            while True:
                if not self.waiting and not any(self.texts):
                    self.waiting.append(self.asked.get())
                while not self.asked.empty():
                    self.waiting.append(self.asked.get())
                if batch := self._admitted():
                    self._advance(batch, self._read(batch))
                if active := [text for text in self.texts if text]:
                    self._advance(active, self._write(active))
        except Exception as error:
            for text in [*self.waiting, *filter(None, self.texts)]:
                text.answer.set_exception(error)
            raise

    def _admitted(self) -> list[_Text]:
        """Give slots to texts that wait, as many as are read at once, and return these."""
        batch: list[_Text] = []
        longest = 0
        while self.waiting and None in self.texts:
            text = self.waiting[0]
            slot, cached = self._best_slot(text.prompt)
            longest = max(longest, len(text.prompt) - cached)
            if batch and longest * (len(batch) + 1) > PREFILL:
                break
            text.slot, text.cached = slot, cached
            self.texts[slot] = text
            batch.append(self.waiting.pop(0))
        return batch

    def _best_slot(self, prompt: np.ndarray) -> tuple[int, int]:
        """Return a free slot, and how many of the prompt's tokens it has: the most, or else it was used longest ago."""
        free = np.array([number for number, text in enumerate(self.texts) if text is None])
        other = self.known[free, : len(prompt)] != prompt
        alike = np.where(other.any(1), other.argmax(1), len(prompt))
        alike = np.minimum(np.minimum(alike, self.lengths[free]), len(prompt) - 1)
        best = alike.argmax() if alike.max() > STEP else self.used[free].argmin()
        return int(free[best]), int(alike[best])

    def _read(self, batch: Sequence[_Text]) -> Tensor:
        rest = [text.prompt[text.cached :] for text in batch]
        ids = np.zeros((len(batch), -(-max(map(len, rest)) // 16) * 16), np.int64)
        for row, text, tokens in zip(ids, batch, rest, strict=True):
            row[: len(tokens)] = tokens
            self.known[text.slot, : len(text.prompt)] = text.prompt
            self.lengths[text.slot] = len(text.prompt)
        self.read += sum(map(len, rest))
        numbers = np.array(
            [(text.slot, text.cached, len(tokens) - 1) for text, tokens in zip(batch, rest, strict=True)]
        )
        slots, begins, last = torch.from_numpy(numbers).to(self.device).unbind(1)
        longest = max(len(text.prompt) for text in batch)
        return self.network.logits(torch.from_numpy(ids).to(self.device), slots, begins, last, longest)

    def _write(self, active: Sequence[_Text]) -> Tensor:
        """Read the last token of each active text, in all slots at once; others write where nothing is looked up."""
        places = np.full((len(self.texts), 2), (0, self.context - 1))
        for text in active:
            places[text.slot] = text.ids[-1], self.lengths[text.slot]
            self.known[text.slot, self.lengths[text.slot]] = text.ids[-1]
            self.lengths[text.slot] += 1
        longest = int(self.lengths[[text.slot for text in active]].max())
        ids, begins = torch.from_numpy(places).to(self.device).unbind(1)
        logits = self.network.logits(ids[:, None], None, begins, torch.zeros_like(begins), longest)
        self.steps += 1
        return logits[torch.tensor([text.slot for text in active], device=self.device)]

    def _advance(self, texts: Sequence[_Text], logits: Tensor) -> None:
        """Write the next token of each text, and answer those that are finished."""
        chosen = logits.argmax(-1)
        drawn = [row for row, text in enumerate(texts) if text.request.temperature > 0]
        if drawn:
            warmth = torch.tensor([texts[row].request.temperature for row in drawn], device=self.device)
            shares = torch.softmax(logits[drawn] / warmth[:, None], -1).cumsum(-1)
            at = torch.tensor([texts[row].rng.random() for row in drawn], device=self.device)
            chosen[drawn] = (shares < at[:, None] * shares[:, -1:]).sum(-1).clamp_max(logits.shape[1] - 1)
        for text, token in zip(texts, chosen.tolist(), strict=True):
            self._add(text, token)

    def _add(self, text: _Text, token: int) -> None:
        self.wrote += 1
        ended = token == self.tokenizer.eos_token_id
        if not ended:
            text.written += self.pieces[token]
        text.ids.append(token)
        written = text.written.decode("utf-8", "replace")
        at = min((place for stop in text.request.stop if (place := written.find(stop)) >= 0), default=-1)
        full = len(text.ids) >= text.request.max_tokens
        if not ended and at < 0 and not full:
            return
        counts = {"prompt_tokens": len(text.prompt), "completion_tokens": len(text.ids), "cached_tokens": text.cached}
        reason: Any = "length" if full and at < 0 and not ended else "stop"
        self.texts[text.slot] = None
        self.used[text.slot] = self.steps
        text.answer.set_result(Completion(written if at < 0 else written[:at], counts, finish_reason=reason))


def _bytes(token: str) -> bytes:
    """Return the bytes that a token of a byte-level vocabulary stands for."""
    return bytes(_BYTES[letter] for letter in token) if all(letter in _BYTES for letter in token) else token.encode()


def _byte_letters() -> dict[str, int]:
    """Return the byte of each letter that byte-level vocabularies write for one: itself, or one above 255."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + number): byte for number, byte in enumerate(others)}


_BYTES = _byte_letters()
