"""Calls to models: from this thread, from threads beside it, or in batches where a model takes batches."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import NamedTuple, TypeAlias

from textcraft_gym.agents.contract.agent import Completion, CompletionRequest, Model, ModelError, batch_method

DEFAULT_THREADS = 128
"""Maximum number of threads of one run, where it has no more environments than that."""

Answer: TypeAlias = Completion | Exception


@dataclass(eq=False)
class ModelCall:
    """Requests of one episode to one model that go out together: one for each sample.

    Attributes:
        model: The model to ask.
        requests: The requests, equal but for their seeds.
        answers: The answers so far, by index of the request.
        seconds: Time that the answers so far took, summed over the requests; of a batch each took as long as the whole.
    """

    model: Model
    requests: Sequence[CompletionRequest]
    answers: dict[int, Answer] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def answered(self) -> bool:
        """Whether every request has its answer."""
        return len(self.answers) == len(self.requests)


class _Sample(NamedTuple):
    """One request of a call."""

    call: ModelCall
    position: int

    @property
    def request(self) -> CompletionRequest:
        return self.call.requests[self.position]


class _Done(NamedTuple):
    """Samples that were asked for together, with their answers."""

    samples: Sequence[_Sample]
    answers: Sequence[Answer]
    seconds: float


class ModelThreads:
    """Asks models from threads of its own; a batching model is asked one batch at a time, of all that is pending.

    All methods are for the one thread that owns it.

    Args:
        max_threads: Maximum number of requests that are under way at once; further ones wait their turn.
    """

    def __init__(self, max_threads: int = DEFAULT_THREADS) -> None:
        # Daemons: an interrupted run does not wait for a slow server before it ends. That, and that they are told to
        # stop without being waited for, is what concurrent.futures does not offer.
        self._threads: list[threading.Thread] = []
        self._max_threads = max_threads
        self._under_way = 0
        self._work: SimpleQueue[Sequence[_Sample] | None] = SimpleQueue()
        self._done: SimpleQueue[_Done] = SimpleQueue()
        self._answered: deque[ModelCall] = deque()
        self._pending: dict[int, list[_Sample]] = {}
        self._busy: set[int] = set()
        self._closed = False

    def answer(self, call: ModelCall) -> None:
        """Answer a call while no other is under way: in this thread if it is one request or one batch."""
        samples = _samples(call)
        if len(samples) == 1 or batch_method(call.model):
            self._keep(_ask(samples))
        else:
            self.send(call)
        self.receive()

    def send(self, call: ModelCall) -> None:
        """Send the requests of a call out; ``receive`` returns the call once they are answered."""
        samples = _samples(call)
        if batch_method(call.model):
            self._pending.setdefault(id(call.model), []).extend(samples)
        else:
            for sample in samples:
                self._start([sample])

    def receive(self) -> ModelCall:
        """Wait for a call that was sent and return it, answered."""
        while not self._answered:
            # Only with no answer at hand: the episode of each answer may have another request for the next batch.
            if self._done.empty():
                self._start_batches()
            self._keep(self._done.get())
            self._under_way -= 1
        return self._answered.popleft()

    def close(self) -> None:
        """Tell the threads to stop; those that wait for a model stop when it answers."""
        self._closed = True
        for _ in self._threads:
            self._work.put(None)

    def _start_batches(self) -> None:
        for model in [model for model in self._pending if model not in self._busy]:
            self._busy.add(model)
            self._start(self._pending.pop(model))

    def _start(self, samples: Sequence[_Sample]) -> None:
        self._under_way += 1
        self._work.put(samples)
        if len(self._threads) < min(self._under_way, self._max_threads):
            self._threads.append(threading.Thread(target=self._serve, daemon=True))
            self._threads[-1].start()

    def _keep(self, done: _Done) -> None:
        for (call, position), answer in zip(done.samples, done.answers, strict=True):
            self._busy.discard(id(call.model))
            call.answers[position] = answer
            call.seconds += done.seconds
            if call.answered:
                self._answered.append(call)

    def _serve(self) -> None:
        while (samples := self._work.get()) is not None and not self._closed:
            self._done.put(_ask(samples))


def _samples(call: ModelCall) -> list[_Sample]:
    return [_Sample(call, position) for position in range(len(call.requests))]


def _ask(samples: Sequence[_Sample]) -> _Done:
    """Ask for samples of one model: one, or a batch.

    Exceptions are answers, too, so that no thread dies without a word; an interrupt is passed on.
    """
    start = time.perf_counter()
    model = samples[0].call.model
    complete_many = batch_method(model)
    requests = [sample.request for sample in samples]
    answers: Sequence[Answer]
    try:
        if complete_many:
            answers = complete_many(requests)
            if len(answers) != len(requests):
                raise ModelError(f"expected {len(requests)} completions of a batch, got {len(answers)}")
        else:
            answers = [_complete(model, request) for request in requests]
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise
        answers = _failures(error, len(requests))
    return _Done(samples, answers, time.perf_counter() - start)


def _complete(model: Model, request: CompletionRequest) -> Completion:
    return model.complete(
        request.prompt,
        stop=request.stop,
        max_tokens=request.max_tokens,
        temperature=request.temperature,
        sample=request.sample,
    )


def _failures(error: BaseException, count: int) -> list[Exception]:
    """Return an error as that many exceptions: one object raised in many episodes would gather all their tracebacks."""
    if count == 1 and isinstance(error, Exception):
        return [error]
    message = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
    return [ModelError(message) for _ in range(count)]
