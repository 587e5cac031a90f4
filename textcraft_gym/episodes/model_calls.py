"""Calls to models: in an event loop, in batches, or from threads, whichever a model can."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeAlias
from warnings import warn

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
        deadline: When to stop waiting for it, by ``time.monotonic``; None to wait without end.
        seconds: Time that the answers so far took, summed over the requests; each request of a
            batch counts the time of the whole batch.
        abandoned: Whether nobody waits for it any more.
    """

    model: Model
    requests: Sequence[CompletionRequest]
    deadline: float | None = None
    answers: dict[int, Answer] = field(default_factory=dict)
    seconds: float = 0.0
    abandoned: bool = False

    @property
    def answered(self) -> bool:
        """Whether every request has its answer."""
        return len(self.answers) == len(self.requests)

    def refuse(self, error: Exception) -> None:
        """Answer by an error, in place of the model, every request that has no answer."""
        self.answers = {**dict.fromkeys(range(len(self.requests)), error), **self.answers}


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

    One that waits in an event loop gets every request at once, a batching one all pending requests
    as one batch at a time, any other one request in each of a pool of threads.

    Not thread-safe: all methods are called from the thread that made it.

    Args:
        max_threads: Maximum number of concurrent requests from threads; further ones are queued.
    """

    def __init__(self, max_threads: int = DEFAULT_THREADS) -> None:
        # Daemon threads, so that an interrupted run ends without waiting for a slow server.
        # concurrent.futures joins its threads at exit.
        self._threads: list[threading.Thread] = []
        self._max_threads = max_threads
        self._can_grow = True
        self._under_way = 0
        self._work: SimpleQueue[Sequence[_Sample] | None] = SimpleQueue()
        self._done: SimpleQueue[_Done] = SimpleQueue()
        self._answered: deque[ModelCall] = deque()
        self._pending: dict[int, list[_Sample]] = {}
        self._busy: set[int] = set()
        self._unsent: list[_Sample] = []
        self._in_loop = False
        self._tasks: dict[asyncio.Task[None], ModelCall] = {}  # touched in the event loop only
        self._dated: list[
            tuple[float, int, ModelCall]
        ] = []  # a heap of the calls that have a deadline
        self._closed = False

    def answer(self, call: ModelCall) -> None:
        """Answer a call when no other is in progress: in this thread if it is one request or one batch.

        A call with a deadline may come back without its answers, as by ``receive``.
        """
        samples = _samples(call)
        may_wait = async_method(call.model) is None and call.deadline is None
        if may_wait and (len(samples) == 1 or batch_method(call.model)):
            self._keep(_ask(samples))
        else:
            self.send(call)
        self.receive()

    def send(self, call: ModelCall) -> None:
        """Send the requests of a call; ``receive`` returns the call once they are answered."""
        samples = _samples(call)
        if call.deadline is not None:
            heappush(self._dated, (call.deadline, id(call), call))
        if async_method(call.model):
            self._unsent.extend(samples)
        elif batch_method(call.model):
            self._pending.setdefault(id(call.model), []).extend(samples)
        else:
            for sample in samples:
                self._start([sample])

    def receive(self) -> ModelCall:
        """Wait for a call that was sent and return it: answered, or at its deadline with the answers it has."""
        while not self._answered:
            # Only when no answer is ready: the episode of a ready answer may add a request to the
            # next batch.
            if self._done.empty():
                self._start_batches()
                self._start_tasks()
            try:
                done = self._done.get(timeout=self._seconds_left())
            except Empty:
                self._abandon(heappop(self._dated)[-1])
            else:
                self._under_way -= done.from_thread
                self._keep(done)
        return self._answered.popleft()

    def close(self) -> None:
        """Tell the threads to stop, without waiting; those that wait for a model stop when it answers."""
        self._closed = True
        for _ in self._threads:
            self._work.put(None)
        if self._in_loop:
            event_loop().call_soon_threadsafe(self._cancel_tasks)

    def _seconds_left(self) -> float | None:
        """Return the seconds to the first deadline of a call that waits; None if there is none."""
        while self._dated and self._dated[0][-1].answered:
            heappop(self._dated)
        return max(0.0, self._dated[0][0] - time.monotonic()) if self._dated else None

    def _abandon(self, call: ModelCall) -> None:
        """Stop waiting for a call; what its model still answers is dropped, since nobody can play on with it."""
        call.abandoned = True
        if async_method(call.model):
            event_loop().call_soon_threadsafe(self._cancel_tasks, call)
        else:
            # A thread cannot be stopped: others take the place of those that may not come back.
            self._max_threads += len(call.requests) - len(call.answers)
        self._answered.append(call)

    def _start_batches(self) -> None:
        # Those of all models together, and not before the last ones are back: which requests a
        # batch has must not depend on which of two models is the faster one.
        if not self._busy:
            for model in list(self._pending):
                if batch := _wanted(self._pending.pop(model)):
                    self._busy.add(model)
                    self._start(batch)

    def _start(self, samples: Sequence[_Sample]) -> None:
        self._under_way += 1
        if len(self._threads) < min(self._under_way, self._max_threads) and self._can_grow:
            self._can_grow = self._add_thread()
        if self._threads:
            self._work.put(samples)
        else:
            self._done.put(_ask(samples))

    def _add_thread(self) -> bool:
        """Start a thread; return whether the system let it."""
        thread = threading.Thread(target=self._serve, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            warn(
                f"models are asked from {len(self._threads) or 1} threads at most: {error}",
                stacklevel=2,
            )
            return False
        self._threads.append(thread)
        return True

    def _start_tasks(self) -> None:
        # Many at a time, since each wake-up of the event loop's thread costs as much as a request.
        if self._unsent:
            self._in_loop = True
            event_loop().call_soon_threadsafe(self._create_tasks, self._unsent)
            self._unsent = []

    def _create_tasks(self, samples: Sequence[_Sample]) -> None:
        for sample in samples:
            task = asyncio.get_running_loop().create_task(self._serve_async(sample))
            self._tasks[task] = sample.call
            task.add_done_callback(self._tasks.pop)

    def _cancel_tasks(self, of: ModelCall | None = None) -> None:
        """Cancel the tasks of a call, or all."""
        for task, call in self._tasks.items():
            if of in (None, call):
                task.cancel()

    async def _serve_async(self, sample: _Sample) -> None:
        start = time.perf_counter()
        answer: Answer
        try:
            complete = async_method(sample.call.model)
            answer = (
                await complete(sample.request)
                if complete
                else ModelError("the model is no longer asynchronous")
            )
        except Exception as error:  # a model is foreign code
            answer = error
        self._done.put(_Done([sample], [answer], time.perf_counter() - start, from_thread=False))

    def _keep(self, done: _Done) -> None:
        for (call, position), answer in zip(done.samples, done.answers, strict=True):
            self._busy.discard(id(call.model))
            if call.abandoned:
                continue
            call.answers[position] = answer
            call.seconds += done.seconds
            if call.answered:
                self._answered.append(call)

    def _serve(self) -> None:
        while (samples := self._work.get()) is not None and not self._closed:
            self._done.put(_ask(samples) if _wanted(samples) else _unasked(samples))


def _samples(call: ModelCall) -> list[_Sample]:
    return [_Sample(call, position) for position in range(len(call.requests))]


def _wanted(samples: Sequence[_Sample]) -> list[_Sample]:
    """Return the samples that somebody waits for."""
    return [sample for sample in samples if not sample.call.abandoned]


def _unasked(samples: Sequence[_Sample]) -> _Done:
    return _Done(samples, [ModelError("nobody waits for it any more") for _ in samples], 0.0)


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
                raise ModelError(
                    f"expected {len(requests)} completions of a batch, got {len(answers)}"
                )
        else:
            answers = [_complete(model, request) for request in requests]
    except BaseException as error:
        if (
            isinstance(error, KeyboardInterrupt)
            and threading.current_thread() is threading.main_thread()
        ):
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
