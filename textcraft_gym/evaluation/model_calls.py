"""Calls to models: in an event loop, in batches, or from threads, whichever a model can."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeAlias

from textcraft_gym.agents.contract.model import (
    Completion,
    CompletionRequest,
    Model,
    ModelError,
    ModelLimit,
    ModelUnavailable,
    async_method,
    batch_method,
)
from textcraft_gym.agents.models.event_loop import event_loop

DEFAULT_THREADS = 128
"""Maximum number of threads of a run; a run with more environments may have one thread each."""

Answer: TypeAlias = Completion | Exception


@dataclass(eq=False)
class ModelCall:
    """Requests of one episode to one model that are sent together: one for each sample.

    Attributes:
        model: The model to ask.
        requests: The requests, equal but for their seeds.
        answers: The answers so far, by index of the request.
        seconds: Time that the answers so far took, summed over the requests; each request of a batch counts the time
            of the whole batch.
    """

    model: Model
    requests: Sequence[CompletionRequest]
    answers: dict[int, Answer] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def answered(self) -> bool:
        """Whether every request has its answer."""
        return len(self.answers) == len(self.requests)

    def refuse(self, error: Exception) -> None:
        """Answer every request by an error, without asking the model."""
        self.answers = dict.fromkeys(range(len(self.requests)), error)


class _Sample(NamedTuple):
    """One request of a call."""

    call: ModelCall
    position: int

    @property
    def request(self) -> CompletionRequest:
        return self.call.requests[self.position]


class _Done(NamedTuple):
    """Samples that were requested together, with their answers."""

    samples: Sequence[_Sample]
    answers: Sequence[Answer]
    seconds: float
    from_thread: bool = True


class ModelCalls:
    """Calls models, each in the way that it is best at.

    One that waits in an event loop gets every request at once, a batching one all pending requests as one batch at a
    time, any other one request in each of a pool of threads.

    Not thread-safe: all methods are called from the thread that made it.

    Args:
        max_threads: Maximum number of concurrent requests from threads; further ones are queued.
    """

    def __init__(self, max_threads: int = DEFAULT_THREADS) -> None:
        # Daemon threads, so that an interrupted run ends without waiting for a slow server. concurrent.futures joins
        # its threads at exit.
        self._threads: list[threading.Thread] = []
        self._max_threads = max_threads
        self._under_way = 0
        self._work: SimpleQueue[Sequence[_Sample] | None] = SimpleQueue()
        self._done: SimpleQueue[_Done] = SimpleQueue()
        self._answered: deque[ModelCall] = deque()
        self._pending: dict[int, list[_Sample]] = {}
        self._busy: set[int] = set()
        self._unsent: list[_Sample] = []
        self._tasks: set[asyncio.Task[None]] = set()  # touched in the event loop only
        self._closed = False

    def answer(self, call: ModelCall) -> None:
        """Answer a call when no other is in progress: in this thread if it is one request or one batch."""
        samples = _samples(call)
        if async_method(call.model) is None and (len(samples) == 1 or batch_method(call.model)):
            self._keep(_ask(samples))
        else:
            self.send(call)
        self.receive()

    def send(self, call: ModelCall) -> None:
        """Send the requests of a call; ``receive`` returns the call once they are answered."""
        samples = _samples(call)
        if async_method(call.model):
            self._unsent.extend(samples)
        elif batch_method(call.model):
            self._pending.setdefault(id(call.model), []).extend(samples)
        else:
            for sample in samples:
                self._start([sample])

    def receive(self) -> ModelCall:
        """Wait for a call that was sent and return it, answered."""
        while not self._answered:
            # Only when no answer is ready: the episode of a ready answer may add a request to the next batch.
            if self._done.empty():
                self._start_batches()
                self._start_tasks()
            done = self._done.get()
            self._under_way -= done.from_thread
            self._keep(done)
        return self._answered.popleft()

    def close(self) -> None:
        """Tell the threads to stop, without waiting; those that wait for a model stop when it answers."""
        self._closed = True
        for _ in self._threads:
            self._work.put(None)
        if self._tasks:
            event_loop().call_soon_threadsafe(self._cancel_tasks)

    def _start_batches(self) -> None:
        # Those of all models together, and not before the last ones are back: which requests a batch has must not
        # depend on which of two models is the faster one.
        if not self._busy:
            for model in list(self._pending):
                self._busy.add(model)
                self._start(self._pending.pop(model))

    def _start(self, samples: Sequence[_Sample]) -> None:
        self._under_way += 1
        self._work.put(samples)
        if len(self._threads) < min(self._under_way, self._max_threads):
            self._threads.append(threading.Thread(target=self._serve, daemon=True))
            self._threads[-1].start()

    def _start_tasks(self) -> None:
        # Many at a time, since each wake-up of the event loop's thread costs as much as a request.
        if self._unsent:
            event_loop().call_soon_threadsafe(self._create_tasks, self._unsent)
            self._unsent = []

    def _create_tasks(self, samples: Sequence[_Sample]) -> None:
        for sample in samples:
            task = asyncio.get_running_loop().create_task(self._serve_async(sample))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _cancel_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _serve_async(self, sample: _Sample) -> None:
        start = time.perf_counter()
        answer: Answer
        try:
            complete = async_method(sample.call.model)
            answer = await complete(sample.request) if complete else ModelError("the model is no longer asynchronous")
        except Exception as error:  # a model is foreign code
            answer = error
        self._done.put(_Done([sample], [answer], time.perf_counter() - start, from_thread=False))

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
    """Request one sample, or a batch of samples, from a model.

    Exceptions are returned as answers, so that no thread dies silently; an interrupt is passed on.
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
    if request.tools and not getattr(model, "takes_tools", False):
        raise ModelError("this model takes no tools: play it with form=chat or form=line")
    offered: dict[str, Any] = {"tools": request.tools} if request.tools else {}
    return model.complete(
        request.prompt,
        stop=request.stop,
        max_tokens=request.max_tokens,
        temperature=request.temperature,
        sample=request.sample,
        **offered,
    )


def _failures(error: BaseException, count: int) -> list[Exception]:
    """Return ``count`` copies of an error: one object raised in many episodes would collect all their tracebacks."""
    if count == 1 and isinstance(error, Exception):
        return [error]
    message = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
    if isinstance(error, ModelLimit):
        return [ModelLimit(message, error.limit) for _ in range(count)]
    kind = ModelUnavailable if isinstance(error, ModelUnavailable) else ModelError
    return [kind(message) for _ in range(count)]
