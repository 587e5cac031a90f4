"""Calls to models: in an event loop, in batches, or from threads, whichever a model can."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
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


class Function(NamedTuple):
    """A function in the place of a model, which answers by what it returns."""

    call: Callable[[], Any]

    def complete(self, prompt: object, **how: object) -> Any:
        """Call the function."""
        return self.call()


@dataclass(eq=False)
class ModelCall:
    """Requests to one model that are sent together, such as the samples of one prompt.

    Attributes:
        model: The model to ask.
        requests: The requests; none once the call is cancelled.
        answers: The answers so far, by index of the request.
        deadline: When to stop waiting for it, by ``time.monotonic``; None to wait without end.
        durations: Time that the answers so far took, likewise; each request of a batch counts the
            time of the whole batch.
        abandoned: Whether nobody waits for its answers.
    """

    model: Model
    requests: Sequence[CompletionRequest]
    deadline: float | None = None
    answers: dict[int, Answer] = field(default_factory=dict)
    durations: dict[int, float] = field(default_factory=dict)
    abandoned: bool = False

    @property
    def seconds(self) -> float:
        """The durations of all answers together."""
        return sum(self.durations.values())

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
    def request(self) -> CompletionRequest | None:
        """The request; None if nobody waits for its answer."""
        requests = self.call.requests  # read once, since another thread may cancel the call
        return None if self.call.abandoned or not requests else requests[self.position]


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

    One thread sends and receives. Others may ``post`` and ``cancel`` calls, and ``close``.

    Args:
        max_threads: Maximum number of concurrent requests from threads; further ones are queued.
        max_batch: Maximum number of requests of a batch; None for no limit.
    """

    def __init__(
        self,
        max_threads: int = DEFAULT_THREADS,
        max_batch: int | None = None,
    ) -> None:
        # Daemon threads, so that an interrupted run ends without waiting for a slow server.
        # concurrent.futures joins its threads at exit.
        self._threads: list[threading.Thread] = []
        self._max_threads = max_threads
        self._max_batch = max_batch
        self._can_grow = True
        self._under_way = 0
        self._work: SimpleQueue[Sequence[_Sample] | None] = SimpleQueue()
        self._events: SimpleQueue[_Done | ModelCall] = SimpleQueue()
        self._answered: deque[ModelCall] = deque()
        self._pending: dict[int, list[_Sample]] = {}
        self._busy: set[int] = set()
        self._unsent: list[_Sample] = []
        self._in_loop = False
        # Touched in the event loop only.
        self._tasks: dict[asyncio.Task[None], ModelCall] = {}
        # A heap of the calls that have a deadline.
        self._dated: list[tuple[float, int, ModelCall]] = []
        self._closed = False

    def answer(self, call: ModelCall) -> None:
        """Answer a call when no other is in progress.

        One request or one batch is asked from this thread. A call with a deadline may come back
        without its answers, as by ``receive``.
        """
        samples = _samples(call)
        # This thread could not stop waiting at a deadline; another one can be left behind.
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
            # The id decides between equal deadlines, since calls have no order.
            heappush(self._dated, (call.deadline, id(call), call))
        if async_method(call.model):
            self._unsent.extend(samples)
        elif batch_method(call.model):
            self._pending.setdefault(id(call.model), []).extend(samples)
        else:
            for sample in samples:
                self._start([sample])

    def post(self, call: ModelCall) -> None:
        """Have the thread that receives send a call."""
        self._events.put(call)

    def receive(self) -> ModelCall:
        """Wait for a call that was sent; at its deadline it returns with the answers it has."""
        while not self._answered:
            self._wait()
        return self._answered.popleft()

    def serve(self) -> Iterator[ModelCall]:
        """Yield the calls that other threads post, each as it is answered, until ``close``."""
        while not self._closed:
            self._wait()
            while self._answered:
                yield self._answered.popleft()

    def cancel(self, call: ModelCall) -> None:
        """Drop a call: it is not received, and requests not yet sent to its model never are."""
        call.abandoned = True
        call.requests = ()  # frees the prompts, however long the call stays queued
        self._cancel_in_loop(call)

    def close(self) -> None:
        """Tell the threads to stop, without waiting; a busy one stops when its model answers."""
        self._closed = True
        self._events.put(_Done([], [], 0.0, from_thread=False))  # wakes ``serve``
        for _ in self._threads:
            self._work.put(None)
        if self._in_loop:
            event_loop().call_soon_threadsafe(self._cancel_tasks)

    def _wait(self) -> None:
        """Wait for an answer, a call from another thread, or a deadline."""
        # Only when no answer is ready: the episode of a ready answer may add a request to the
        # next batch.
        if self._events.empty():
            self._start_batches()
            self._start_tasks()
        try:
            event = self._events.get(timeout=self._seconds_left())
        except Empty:
            self._abandon(heappop(self._dated)[-1])
            return
        if isinstance(event, ModelCall):
            self.send(event)
        else:
            self._under_way -= event.from_thread
            self._keep(event)

    def _seconds_left(self) -> float | None:
        """Return the seconds to the first deadline of a call that waits; None if there is none."""
        # An answered call stays in the heap until it is on top: it cannot be removed from the
        # middle.
        while self._dated and self._dated[0][-1].answered:
            heappop(self._dated)
        if not self._dated:
            return None
        deadline = self._dated[0][0]
        return max(0.0, deadline - time.monotonic())

    def _abandon(self, call: ModelCall) -> None:
        """Stop waiting for a call; answers that still arrive are dropped."""
        call.abandoned = True
        self._cancel_in_loop(call)
        if not async_method(call.model):
            # A thread cannot be stopped: others take the place of those that may not come back.
            self._max_threads += len(call.requests) - len(call.answers)
        self._answered.append(call)

    def _cancel_in_loop(self, call: ModelCall) -> None:
        if async_method(call.model):
            event_loop().call_soon_threadsafe(self._cancel_tasks, call)

    def _start_batches(self) -> None:
        # Those of all models together, and not before the last ones are back: which requests a
        # batch has must not depend on which of two models is the faster one.
        if self._busy:
            return
        for model in list(self._pending):
            samples = [sample for sample in self._pending.pop(model) if not sample.call.abandoned]
            batch = samples[: self._max_batch]
            rest = samples[len(batch) :]
            if rest:
                self._pending[model] = rest
            if batch:
                self._busy.add(model)
                self._start(batch)

    def _start(self, samples: Sequence[_Sample]) -> None:
        self._under_way += 1
        if len(self._threads) < min(self._under_way, self._max_threads) and self._can_grow:
            self._can_grow = self._add_thread()
        if self._threads:
            self._work.put(samples)
        else:  # the system lets none start
            self._events.put(_ask(samples))

    def _add_thread(self) -> bool:
        """Start a thread; return whether the system let it."""
        thread = threading.Thread(target=self._serve, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            count = len(self._threads) or 1
            warn(f"models are asked from at most {count} threads: {error}", stacklevel=2)
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

    def _cancel_tasks(self, cancelled: ModelCall | None = None) -> None:
        """Cancel the tasks of a call, or all."""
        for task, call in self._tasks.items():
            if cancelled in (None, call):
                task.cancel()

    async def _serve_async(self, sample: _Sample) -> None:
        start = time.perf_counter()
        answer: Answer
        try:
            answer = await _complete_async(sample)
        except Exception as error:  # a model is foreign code
            answer = error
        self._events.put(_Done([sample], [answer], time.perf_counter() - start, from_thread=False))

    def _keep(self, done: _Done) -> None:
        for (call, position), answer in zip(done.samples, done.answers, strict=True):
            self._busy.discard(id(call.model))
            if call.abandoned:
                continue
            call.answers[position] = answer
            call.durations[position] = done.seconds
            if call.answered:
                self._answered.append(call)

    def _serve(self) -> None:
        while (samples := self._work.get()) is not None and not self._closed:
            self._events.put(_ask(samples))


def _samples(call: ModelCall) -> list[_Sample]:
    return [_Sample(call, position) for position in range(len(call.requests))]


async def _complete_async(sample: _Sample) -> Answer:
    complete = async_method(sample.call.model)
    request = sample.request
    if complete is None:
        return ModelError("the model is no longer asynchronous")
    if request is None:
        return _dropped()
    return await complete(request)


def _ask(samples: Sequence[_Sample]) -> _Done:
    """Request one sample, or a batch of samples, from a model; dropped ones are left out."""
    start = time.perf_counter()
    requests = [sample.request for sample in samples]
    wanted = [request for request in requests if request]
    completions = iter(_answers(samples[0].call.model, wanted))
    answers = [next(completions) if request else _dropped() for request in requests]
    return _Done(samples, answers, time.perf_counter() - start)


def _dropped() -> ModelError:
    return ModelError("nobody waits for this answer")


def _answers(model: Model, requests: Sequence[CompletionRequest]) -> Sequence[Answer]:
    """Request completions from a model, as one batch if it takes batches.

    Exceptions are returned as answers, so that no thread dies silently; an interrupt is passed on.
    """
    if not requests:
        return []
    complete_many = batch_method(model)
    try:
        if complete_many is None:
            return [_complete(model, request) for request in requests]
        answers: Sequence[Answer] = complete_many(requests)
        if len(answers) != len(requests):
            raise ModelError(f"expected {len(requests)} completions of a batch, got {len(answers)}")
    except BaseException as error:
        in_main_thread = threading.current_thread() is threading.main_thread()
        if isinstance(error, KeyboardInterrupt) and in_main_thread:
            raise
        return _failures(error, len(requests))
    return answers


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
    """Return ``count`` copies of an error."""
    # One object raised in many episodes would collect the tracebacks of all.
    if count == 1 and isinstance(error, Exception):
        return [error]
    return [_copy(error) for _ in range(count)]


def _copy(error: BaseException) -> ModelError:
    if isinstance(error, ModelLimit):
        return ModelLimit(str(error), error.limit)
    if isinstance(error, ModelUnavailable):
        return ModelUnavailable(str(error))
    if isinstance(error, ModelError):
        return ModelError(str(error))
    return ModelError(f"{type(error).__name__}: {error}")
