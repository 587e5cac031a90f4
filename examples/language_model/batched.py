"""The language model for many episodes at once, by PyTorch: hundreds on a GPU, dozens on a CPU.

Its name is ``--model batched:BatchedModel,adapter=FILE.gguf``.

The weights are those of ``--model local``, with the adapter worked in, computed in bfloat16 where
the device has instructions for it, else in float32. Requests join the others as soon as they are
asked, and leave when they are done; a prompt that begins as an earlier one is read from there on.
A CPU with such instructions reads several tokens in little more time than one, so it guesses what
comes next, by what followed the last two tokens where they stood before (prompt lookup decoding,
Saxena, 2023). A guess that the model would not have written is dropped, so that answers stay the
same.
Needs torch, transformers (for the tokenizer) and gguf.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import gguf
import numpy as np
import torch
from encoding import load_tokenizer
from network import fastest_dtype
from torch import Tensor
from torch.nn.functional import embedding, linear, rms_norm, scaled_dot_product_attention, silu

from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    ModelError,
    ModelLimit,
    prompt_text,
)
from textcraft_gym.agents.models.weights import find_files

STEP, WRITTEN_STEP = 64, 512
"""Attended cache lengths are rounded up to these: for reading prompts, and for writing tokens."""
GRACE = 16
"""Number of tokens written into other slots before a slot goes to another dialogue.

Its own may be back by then, after a short question elsewhere: to read a dialogue anew takes longer.
"""
BLOCK = 4
"""Slots that a CPU attends together, up to the longest of their texts."""
PREFILL = 1 << 16
"""Tokens of prompts, with their padding, that are read at once."""
PADDING = 64
"""Tokens of padding that a CPU reads rather than pass over the weights once more."""
CHUNK = 512
"""Tokens of each prompt that a CPU reads at once; it attends to all before them."""
GUESSES = 7
"""Maximum number of tokens that are guessed for a text at a time."""
ENDED = "the process that computes the model has ended"

_Answers: TypeAlias = dict[int, Future[Completion]]
"""What is waited for, by number."""


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
    """A Llama that reads and writes caches of keys and values.

    Args:
        weights: A GGUF file.
        adapter: A LoRA adapter in a GGUF file, which is worked into the weights.
        device: Where it computes.
        context: Maximum number of tokens of a text.
    """

    def __init__(
        self, weights: Path, adapter: Path | None, device: torch.device, context: int
    ) -> None:
        self.device = device
        self.dtype = fastest_dtype(device)
        reader = gguf.GGUFReader(weights)
        tensors = {
            tensor.name: gguf.dequantize(tensor.data, tensor.tensor_type)
            for tensor in reader.tensors
        }
        if adapter:
            _work_in(tensors, gguf.GGUFReader(adapter))
        about = {
            name: reader.get_field(f"llama.{name}").contents()  # type: ignore[union-attr]
            for name in _FIELDS
        }
        self.heads, self.groups = about["attention.head_count"], about["attention.head_count_kv"]
        self.epsilon = about["attention.layer_norm_rms_epsilon"]
        placed = {
            name: torch.from_numpy(np.array(data)).to(device, self.dtype)
            for name, data in tensors.items()
        }
        self.embeddings = placed["token_embd.weight"]
        self.head = placed.get("output.weight", self.embeddings)
        self.norm = placed["output_norm.weight"]
        self.layers = [
            Layer(*(placed[f"blk.{number}.{name}.weight"] for name in Layer._fields))
            for number in range(about["block_count"])
        ]
        self.width = self.embeddings.shape[1] // self.heads
        powers = torch.arange(0, self.width, 2, device=device) / self.width
        angles = torch.arange(context, device=device)[:, None] / about["rope.freq_base"] ** powers
        self.turns = torch.stack((angles.cos(), angles.sin()), -1)

    def cache(self, slots: int, context: int) -> Tensor:
        """Return an empty cache for a number of texts of a number of tokens."""
        shape = (len(self.layers), 2, slots, self.groups, context, self.width)
        return torch.zeros(shape, dtype=self.dtype, device=self.device)

    @torch.inference_mode()
    def logits(
        self,
        cache: Tensor,
        ids: Tensor,
        slots: Tensor | None,
        begins: Tensor,
        after: Tensor,
        lengths: Sequence[int],
    ) -> Tensor:
        """Read tokens into slots of a cache, and return the logits after some of each.

        Args:
            cache: The cache.
            ids: Tokens, (texts, tokens).
            slots: The slot of each text; None for all slots in order, of which no cache is copied.
            begins: Number of tokens that each slot has before.
            after: The places in ``ids`` after which logits are returned, (texts, places).
            lengths: How far the cache is looked at: for each of equal blocks of texts a multiple
                of 8 beyond them.

        Returns:
            Logits, (texts, places, vocabulary).
        """
        places = (begins[:, None] + torch.arange(ids.shape[1], device=ids.device)).clamp_max(
            cache.shape[4] - 1
        )
        seen = torch.arange(max(lengths), device=ids.device) <= places[..., None]
        hidden_from = torch.zeros(seen.shape, dtype=self.dtype, device=ids.device).masked_fill_(
            ~seen, -torch.inf
        )
        # The heads that share keys stand one after another as further queries, so that no key is
        # copied for them.
        mask = hidden_from[:, None].repeat(1, 1, self.heads // self.groups, 1)
        rows = torch.arange(cache.shape[2], device=ids.device) if slots is None else slots
        spans = np.array_split(np.arange(len(ids)), len(lengths))
        texts = [slice(span[0], span[-1] + 1) for span in spans]
        blocks = [
            _Block(block, block if slots is None else rows[block], mask[block, ..., :length])
            for block, length in zip(texts, lengths, strict=True)
        ]
        seat = _Seat(rows, places, self.turns[places][:, :, None], blocks)
        hidden = embedding(ids, self.embeddings)
        for layer, (keys, values) in zip(self.layers, cache, strict=True):
            hidden = hidden + self._attend(layer, hidden, keys, values, seat)
            normed = rms_norm(hidden, layer.ffn_norm.shape, layer.ffn_norm, self.epsilon)
            gated = silu(linear(normed, layer.ffn_gate)) * linear(normed, layer.ffn_up)
            hidden = hidden + linear(gated, layer.ffn_down)
        ends = hidden[torch.arange(len(ids), device=ids.device)[:, None], after]
        return linear(rms_norm(ends, self.norm.shape, self.norm, self.epsilon), self.head)

    def _attend(
        self, layer: Layer, hidden: Tensor, keys: Tensor, values: Tensor, seat: _Seat
    ) -> Tensor:
        normed = rms_norm(hidden, layer.attn_norm.shape, layer.attn_norm, self.epsilon)
        query, key, value = (
            linear(normed, weight).unflatten(-1, (-1, self.width)) for weight in layer[1:4]
        )
        keys[seat.rows[:, None], :, seat.places] = _turned(key, seat.turns)
        values[seat.rows[:, None], :, seat.places] = value
        texts, tokens = seat.places.shape
        queries = (
            _turned(query, seat.turns)
            .unflatten(2, (self.groups, -1))
            .permute(0, 2, 3, 1, 4)
            .flatten(2, 3)
        )
        parts = [
            scaled_dot_product_attention(
                queries[block.texts],
                keys[:, :, : block.mask.shape[-1]][block.slots],
                values[:, :, : block.mask.shape[-1]][block.slots],
                attn_mask=block.mask,
            )
            for block in seat.blocks
        ]
        answers = torch.cat(parts) if len(parts) > 1 else parts[0]
        answers = answers.unflatten(2, (-1, tokens)).permute(0, 3, 1, 2, 4)
        return linear(answers.reshape(texts, tokens, -1), layer.attn_output)


class _Block(NamedTuple):
    """Texts that attend together: which, their slots in the cache, the mask as far as they look.

    Slots that a slice names are seen in the cache itself, and others are copied.
    """

    texts: slice
    slots: slice | Tensor
    mask: Tensor


class _Seat(NamedTuple):
    """Where tokens stand: cache rows, positions, angles, and the blocks of their texts."""

    rows: Tensor
    places: Tensor
    turns: Tensor
    blocks: Sequence[_Block]


class Writer:
    """Writes tokens into each slot of a cache; a GPU launches one graph for each attended length.

    Args:
        network: The network.
        cache: The cache.
    """

    def __init__(self, network: Network, cache: Tensor) -> None:
        self.network, self.cache = network, cache
        slots = cache.shape[2]
        self.ids = torch.zeros((slots, 1), dtype=torch.long, device=network.device)
        self.begins = torch.zeros(slots, dtype=torch.long, device=network.device)
        self.graphs: dict[int, tuple[Any, Tensor]] = {}

    def logits(self, ids: np.ndarray, begins: np.ndarray, active: np.ndarray) -> Tensor:
        """Return the logits of each active slot after each of its tokens; see ``Network.logits``.

        Args:
            ids: Tokens, (slots, tokens); one token of each on a GPU.
            begins: Number of tokens that each slot has before.
            active: The slots that tokens are written into; the others' are padding.
        """
        tokens, begun, slots = map(torch.from_numpy, (ids, begins, active))
        ends = np.zeros_like(begins)
        ends[active] = begins[active] + ids.shape[1]
        if self.network.device.type == "cuda":
            self.ids.copy_(tokens)
            self.begins.copy_(begun)
            launched = self._launched(_rounded(ends.max(), WRITTEN_STEP, self.cache))
            return launched[slots.to(self.network.device)]
        # What a CPU computes for slots that are not active costs more than copying a few of them.
        if 2 * len(active) >= len(ids):
            return self._written(tokens, None, begun, self._lengths(ends))[slots]
        return self._written(tokens[slots], slots, begun[slots], self._lengths(ends[active]))

    def _lengths(self, ends: np.ndarray) -> list[int]:
        """Return how far each block of slots is looked at."""
        blocks = np.array_split(ends, -(-len(ends) // BLOCK))
        # Without an active slot one has 0, and is looked at all the same.
        return [_rounded(max(block.max(), 1), STEP, self.cache) for block in blocks]

    def _launched(self, length: int) -> Tensor:
        if length not in self.graphs:
            # once outside of a graph, which loads the kernels
            self._written(self.ids, None, self.begins, [length])
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                result = self._written(self.ids, None, self.begins, [length])
            self.graphs[length] = graph, result
        graph, result = self.graphs[length]
        graph.replay()
        return result

    def _written(
        self, ids: Tensor, slots: Tensor | None, begins: Tensor, lengths: Sequence[int]
    ) -> Tensor:
        after = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
        return self.network.logits(self.cache, ids, slots, begins, after, lengths)


def _rounded(length: int, step: int, cache: Tensor) -> int:
    return min(cache.shape[4], -(-int(length) // step) * step)


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
            scale = alpha.contents() / len(first)  # type: ignore[union-attr]
            tensors[name] = weight + scale * second @ first


def _turned(heads: Tensor, turns: Tensor) -> Tensor:
    """Turn each pair of neighbours by the angle of its place."""
    (even, odd), (cos, sin) = heads.float().unflatten(-1, (-1, 2)).unbind(-1), turns.unbind(-1)
    return (
        torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1)
        .flatten(-2)
        .to(heads.dtype)
    )


@dataclass(eq=False)
class _Text:
    """A request that is being answered."""

    number: int
    request: CompletionRequest
    prompt: np.ndarray
    rng: np.random.Generator
    slot: int = -1
    cached: int = 0
    guesses: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    written: bytearray = field(default_factory=bytearray)

    @property
    def unread(self) -> int:
        """Number of tokens of the prompt that its slot does not hold."""
        return len(self.prompt) - self.cached


def _batches(texts: Sequence[_Text], padding: int) -> list[list[_Text]]:
    """Divide texts, by the number of tokens to read, into batches with little padding.

    Args:
        texts: The texts.
        padding: Tokens of padding that the next text of a batch may cost.
    """
    batches: list[list[_Text]] = []
    for text in sorted(texts, key=lambda text: text.unread):
        batch = batches[-1] if batches else []
        added = len(batch) * (text.unread - batch[-1].unread) if batch else 0
        if batch and added <= padding and (len(batch) + 1) * text.unread <= PREFILL:
            batch.append(text)
        else:
            batches.append([text])
    return batches


class _Lane:
    """Slots for texts of up to one length.

    Args:
        network: The network.
        slots: Number of texts at once.
        context: Maximum number of tokens of each; the last one's place is of those that are not
            under way.
    """

    def __init__(self, network: Network, slots: int, context: int) -> None:
        self.network, self.context = network, context
        self.writer = Writer(network, network.cache(slots, context))
        self.texts: list[_Text | None] = [None] * slots
        self.known = np.zeros((slots, context), np.uint16)  # the tokens that the cache is of
        self.asked, self.lengths = np.zeros((2, slots), np.int64)  # of prompts, and with answers
        self.used = np.zeros(slots, np.int64)
        self.waiting: deque[_Text] = deque()
        self.steps = 0
        quick = network.device.type == "cpu" and network.dtype == torch.bfloat16
        self.max_guesses = GUESSES if quick else 0

    @property
    def active(self) -> list[_Text]:
        """The texts that are under way."""
        return [text for text in self.texts if text]

    def admitted(self) -> list[_Text]:
        """Give slots to texts that wait, and return these."""
        admitted: list[_Text] = []
        while seat := self._seat():
            text, text.slot, text.cached = seat
            self.texts[text.slot] = text
            self.waiting.remove(text)
            admitted.append(text)
        return admitted

    def _seat(self) -> tuple[_Text, int, int] | None:
        """Return a text that may be read, a free slot for it, and the length that they share.

        One that goes on from what a slot was asked is first: the answer that follows may be in
        other tokens. Any other gets a slot that holds most of it, else the one that was left first;
        not one that was just left, whose dialogue may be about to go on.
        """
        free = np.array([number for number, text in enumerate(self.texts) if text is None], int)
        if not len(free):
            return None
        for text in self.waiting:
            alike = self._alike(free, text.prompt)
            alike[alike < self.asked[free] - STEP] = -1
            if alike.max() >= 0:
                best = alike.argmax()
                return text, int(free[best]), int(alike[best])
        left = free[self.used[free] <= self.steps - GRACE] if self.active else free
        if not self.waiting or not len(left):
            return None
        text = self.waiting[0]
        alike = self._alike(left, text.prompt)
        best = alike.argmax() if 2 * alike.max() > len(text.prompt) else self.used[left].argmin()
        return text, int(left[best]), int(alike[best])

    def held(self, prompt: np.ndarray) -> int:
        """Return how much of a prompt a slot holds if that is most of it, else 0."""
        alike = int(self._alike(np.arange(len(self.texts)), prompt).max())
        return alike if 2 * alike > len(prompt) else 0

    def _alike(self, slots: np.ndarray, prompt: np.ndarray) -> np.ndarray:
        """Return how much of a prompt slots hold; its last token is read in any case."""
        other = self.known[slots, : len(prompt)] != prompt
        alike = np.where(other.any(1), other.argmax(1), len(prompt))
        return np.minimum(np.minimum(alike, self.lengths[slots]), len(prompt) - 1)

    def read(self, batch: Sequence[_Text]) -> Tensor:
        """Read the rest of the prompts of texts, and return the logits after them."""
        ids = np.zeros((len(batch), -(-max(text.unread for text in batch) // 16) * 16), np.int64)
        for row, text in zip(ids, batch, strict=True):
            row[: text.unread] = text.prompt[text.cached :]
            self.known[text.slot, : len(text.prompt)] = text.prompt
            self.asked[text.slot] = self.lengths[text.slot] = len(text.prompt)
        numbers = np.array([(text.slot, text.cached, text.unread - 1) for text in batch])
        slots, begins, last = torch.from_numpy(numbers).to(self.network.device).unbind(1)
        tokens = torch.from_numpy(ids).to(self.network.device)
        chunk = CHUNK if self.network.device.type == "cpu" else PREFILL
        # The chunk in which the first of the texts ends holds the ends of all.
        rest = (min(text.unread for text in batch) - 1) // chunk * chunk
        spans = [slice(begin, begin + chunk) for begin in range(0, rest, chunk)]
        cached = max(text.cached for text in batch)
        for span in (*spans, slice(rest, tokens.shape[1])):
            logits = self.network.logits(
                self.writer.cache,
                tokens[:, span],
                slots,
                begins + span.start,
                (last - span.start).clamp_max(span.stop - span.start - 1)[:, None],
                [_rounded(cached + span.stop, STEP, self.writer.cache)],
            )
        return logits

    def write(self, active: Sequence[_Text]) -> Tensor:
        """Read the last token of each text and guesses; return the logits after each of them."""
        begins = np.full(len(self.texts), self.context - 1)
        for text in active:
            begins[text.slot] = self.lengths[text.slot]
            self.keep(text)
            text.guesses = self._guesses(text)
        width = 1 + max(len(text.guesses) for text in active)
        ids = np.zeros((len(self.texts), width), np.int64)
        for text in active:
            ids[text.slot, : 1 + len(text.guesses)] = text.ids[-1], *text.guesses
        self.steps += 1
        return self.writer.logits(ids, begins, np.array([text.slot for text in active]))

    def keep(self, text: _Text) -> None:
        """Note that the cache holds a text's last token."""
        place = self.lengths[text.slot]
        self.known[text.slot, place] = text.ids[-1]
        self.lengths[text.slot] = place + 1

    def _guesses(self, text: _Text) -> list[int]:
        """Return what followed the last two tokens of a text where they stood before."""
        if not self.max_guesses:
            return []
        ids = self.known[text.slot, : self.lengths[text.slot]]
        (places,) = np.nonzero((ids[:-2] == ids[-2]) & (ids[1:-1] == ids[-1]))
        if not len(places):
            return []
        room = min(self.max_guesses, text.request.max_tokens - len(text.ids) - 1)
        return ids[places[-1] + 2 :][:room].tolist()

    def leave(self, text: _Text) -> None:
        """Free the slot of a text, which keeps what it read for a prompt that begins alike."""
        self.texts[text.slot] = None
        self.used[text.slot] = self.steps


class BatchedModel:
    """A language model that answers many requests at once.

    It computes in a process of its own, which the threads that play do not hold up.

    Args:
        adapter: A LoRA adapter; by default the suite's; ``none`` for none.
        digest: The digest that the files must have; by default any.
        slots: Number of requests at once, of up to a quarter of the context, and of a quarter as
            many longer ones.
        context: Maximum number of tokens of a prompt with its answer.

    Raises:
        ModelError: If the files are missing, or have another digest.
    """

    prompts = "short"

    def __init__(
        self,
        adapter: str | None = None,
        *,
        digest: str | None = None,
        slots: int = 48,
        context: int = 8192,
    ) -> None:
        files = find_files(None, adapter)
        if digest is not None:
            files.expect(digest)
        processes = get_context("spawn")
        self._pipe, theirs = processes.Pipe()
        engine = processes.Process(
            target=_compute, args=(theirs, *files, slots, context), daemon=True
        )
        engine.start()
        theirs.close()
        self._sending = threading.Lock()
        self._answers: _Answers = {}
        self._numbers = count()
        # The thread has no reference to the model, whose end ends the process.
        threading.Thread(target=_receive, args=(self._pipe, self._answers), daemon=True).start()
        weakref.finalize(self, _end, self._pipe)

    def complete(
        self,
        prompt: Any,
        *,
        stop: tuple[str, ...],
        max_tokens: int,
        temperature: float,
        sample: int,
    ) -> Any:
        """Return the completion of one request.

        Raises:
            ModelLimit: If the prompt is too long.
            ModelError: If the process that computes has ended.
        """
        return self._ask(CompletionRequest(prompt, stop, max_tokens, temperature, sample)).result()

    async def complete_async(self, request: CompletionRequest) -> Completion:
        """Return the completion of one request, computed together with others."""
        return await asyncio.wrap_future(self._ask(request))

    def _ask(self, request: CompletionRequest) -> Future[Completion]:
        answer: Future[Completion] = Future()
        answer.set_running_or_notify_cancel()  # the process answers whoever waits no more, too
        with self._sending:
            number = next(self._numbers)
            self._answers[number] = answer
            try:
                self._pipe.send((number, request))
            except OSError:
                if self._answers.pop(number, None):
                    answer.set_exception(ModelError(ENDED))
        return answer


def _receive(pipe: Connection, answers: _Answers) -> None:
    """Hand out answers until the process ends."""
    try:
        while True:
            number, completion = pipe.recv()
            answer = answers.pop(number)
            if isinstance(completion, Exception):
                answer.set_exception(completion)
            else:
                answer.set_result(completion)
    except (EOFError, OSError):
        pipe.close()
        while answers:
            answers.popitem()[1].set_exception(ModelError(ENDED))


def _end(pipe: Connection) -> None:
    with suppress(OSError):
        pipe.send(None)


def _compute(pipe: Connection, *options: Any) -> None:
    """Answer requests until the other end of a pipe is closed, or sends None."""
    with suppress(EOFError, OSError):
        _Engine(*options).serve(pipe)


class _Engine:
    """Answers requests, many at once.

    Args:
        weights: A GGUF file.
        adapter: A LoRA adapter in a GGUF file.
        slots: See ``BatchedModel``, as for ``context``.
    """

    def __init__(self, weights: Path, adapter: Path | None, slots: int, context: int) -> None:
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.backends.cuda.enable_cudnn_sdp(False)  # it would prepare each new shape anew
        self.tokenizer = load_tokenizer(weights)
        self.pieces = [
            _bytes(token)
            for token in self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer)))
        ]
        network = Network(weights, adapter, self.device, context)
        # Each takes as much memory as the other.
        self.lanes = [
            _Lane(network, slots, context // 4),
            _Lane(network, -(-slots // 4), context),
        ]

    def serve(self, pipe: Connection) -> None:
        """Answer the requests of a pipe, each by its number."""
        while True:
            idle = not any(lane.waiting or lane.active for lane in self.lanes)
            while idle or pipe.poll():
                message = pipe.recv()
                if message is None:
                    return
                number, request = message
                try:
                    self._take(number, request)
                except ModelLimit as error:
                    pipe.send((number, error))
                    continue
                idle = False
            for lane in self.lanes:
                for number, completion in self._turn(lane):
                    pipe.send((number, completion))

    def _take(self, number: int, request: CompletionRequest) -> None:
        """Have a request wait in a lane: the first that is long enough, or that holds most of it.

        Raises:
            ModelLimit: If none is.
        """
        text = prompt_text(request.prompt)
        encoded = self.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False)
        prompt = np.array(encoded.ids, np.uint16)
        seed = request.sample if request.temperature > 0 else 0
        needed = len(prompt) + request.max_tokens
        lanes = [lane for lane in self.lanes if needed < lane.context]
        if not lanes:
            raise ModelLimit(f"the prompt has {len(prompt)} tokens", "context")
        lane = max(lanes, key=lambda lane: lane.held(prompt))
        rng = np.random.default_rng(seed % 2**32)
        lane.waiting.append(_Text(number, request, prompt, rng))

    def _turn(self, lane: _Lane) -> Iterator[tuple[int, Completion]]:
        """Read the prompts that have room in a lane, and write a token of each of its texts."""
        padding = PADDING if self.device.type == "cpu" else PREFILL
        for batch in _batches(lane.admitted(), padding):
            yield from self._advance(lane, batch, lane.read(batch))
        active = lane.active
        if active:
            yield from self._advance(lane, active, lane.write(active))

    def _advance(
        self, lane: _Lane, texts: Sequence[_Text], logits: Tensor
    ) -> Iterator[tuple[int, Completion]]:
        """Write the next tokens of each text, and yield the completions that are finished.

        They are its guesses, as far as the model would have written them, and one more token.
        """
        rows = [*range(len(texts))]
        for place in range(logits.shape[1]):
            tokens = self._chosen([texts[row] for row in rows], logits[rows, place])
            guessed = []
            for row, token in zip(rows, tokens, strict=True):
                text = texts[row]
                completion = self._add(text, token)
                if completion:
                    lane.leave(text)
                    yield text.number, completion
                elif text.guesses[place : place + 1] == [token]:
                    lane.keep(text)
                    guessed.append(row)
            rows = guessed
            if not rows:
                return

    def _chosen(self, texts: Sequence[_Text], logits: Tensor) -> list[int]:
        """Return the next token of each text: the likeliest one, or one drawn at random."""
        chosen = logits.argmax(-1)
        drawn = [row for row, text in enumerate(texts) if text.request.temperature > 0]
        if drawn:
            temperatures = [texts[row].request.temperature for row in drawn]
            warmth = torch.tensor(temperatures, device=self.device)
            shares = torch.softmax(logits[drawn].float() / warmth[:, None], -1).cumsum(-1)
            at = torch.tensor([texts[row].rng.random() for row in drawn], device=self.device)
            below = (shares < at[:, None] * shares[:, -1:]).sum(-1)
            chosen[drawn] = below.clamp_max(logits.shape[1] - 1)
        return chosen.tolist()

    def _add(self, text: _Text, token: int) -> Completion | None:
        """Add a token to a text, and return the completion if that ends it."""
        ended = token == self.tokenizer.eos_token_id
        if not ended:
            text.written += self.pieces[token]
        text.ids.append(token)
        written = text.written.decode("utf-8", "replace")
        cut = _before_stops(written, text.request.stop)
        ended = ended or len(cut) < len(written)
        full = len(text.ids) >= text.request.max_tokens
        if not ended and not full:
            return None
        counts = {
            "prompt_tokens": len(text.prompt),
            "completion_tokens": len(text.ids),
            "cached_tokens": text.cached,
        }
        return Completion(cut, counts, finish_reason="stop" if ended else "length")


def _before_stops(text: str, stops: Sequence[str]) -> str:
    """Return a text up to the first of some stop sequences; all of it if it has none."""
    ends = [text.find(stop) for stop in stops if stop in text]
    return text[: min(ends)] if ends else text


def _bytes(token: str) -> bytes:
    """Return the bytes that a token of a byte-level vocabulary stands for."""
    if all(letter in _BYTES for letter in token):
        return bytes(_BYTES[letter] for letter in token)
    return token.encode()


def _byte_letters() -> dict[str, int]:
    """Return each letter's byte in byte-level vocabularies, which shift unprintable bytes up."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    letters = {chr(byte): byte for byte in shown}
    for number, byte in enumerate(others):
        letters[chr(256 + number)] = byte
    return letters


_BYTES = _byte_letters()
