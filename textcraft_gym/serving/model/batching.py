"""Requests of many clients to one model, sent to it in batches where it takes batches."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from threading import Condition, Thread
from typing import NamedTuple

from textcraft_gym.agents.contract.model import CompletionRequest, Model, batch_method
from textcraft_gym.episodes.model_calls import Answer, ModelCall, ModelCalls
from textcraft_gym.errors import TextCraftGymError

MAX_WAITING = 1024
MAX_BATCH = 32
"""Maximum number of requests of a batch: all of them wait for the last."""
THREADS = 16
"""Number of requests under way at once to a model that takes no batches."""


class Overloaded(TextCraftGymError):
    """So many requests wait for the model that it takes no further ones."""


class _Job(NamedTuple):
    request: CompletionRequest
    answer: asyncio.Future[Answer]
    loop: asyncio.AbstractEventLoop


class Batcher:
    """Asks a model from threads of its own, while an event loop goes on.

    A model that takes batches is asked from one thread: what has come while it was busy is its next
    batch, up to ``MAX_BATCH`` requests. A request whose client has gone before its turn is left
    out.

    Args:
        model: The model.
        max_waiting: Maximum number of requests that wait or are under way.
    """

    def __init__(self, model: Model, max_waiting: int = MAX_WAITING) -> None:
        self.model = model
        self.max_waiting = max_waiting
        self._waiting = 0
        self._closed = False
        self._queue: deque[_Job] = deque()
        self._changed = Condition()  # held by whoever reads or changes the queue
        self._max_batch, threads = (MAX_BATCH, 1) if batch_method(model) else (1, THREADS)
        for _ in range(threads):
            # Daemon threads, so that a slow model does not keep a server from ending.
            Thread(target=self._serve, daemon=True).start()

    async def answers(self, requests: Sequence[CompletionRequest]) -> list[Answer]:
        """Return the completion of each request, or what the model raised in its place.

        Raises:
            Overloaded: If too many requests wait already.
        """
        if self._waiting + len(requests) > self.max_waiting:
            raise Overloaded(
                f"{self._waiting} requests wait for the model, and at most {self.max_waiting} may"
            )
        loop = asyncio.get_running_loop()
        jobs = [_Job(request, loop.create_future(), loop) for request in requests]
        self._waiting += len(jobs)
        with self._changed:
            self._queue.extend(jobs)
            self._changed.notify(len(jobs))
        try:
            return await asyncio.gather(*(job.answer for job in jobs))
        except asyncio.CancelledError:
            with self._changed:
                self._queue = deque(job for job in self._queue if not job.answer.cancelled())
            raise
        finally:
            self._waiting -= len(jobs)

    def close(self) -> None:
        """Tell the threads to stop, without waiting, and close the model if it can be closed."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        close = getattr(self.model, "close", None)
        if close:
            close()

    def _serve(self) -> None:
        while jobs := self._next_batch():
            self._answer(jobs)

    def _next_batch(self) -> list[_Job]:
        """Wait for requests and return those to send together; none once this is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closed)
            if self._closed:
                return []
            return [self._queue.popleft() for _ in range(min(len(self._queue), self._max_batch))]

    def _answer(self, jobs: Sequence[_Job]) -> None:
        threads, call = ModelCalls(), ModelCall(self.model, [job.request for job in jobs])
        threads.answer(call)  # what the model raises is an answer, too
        threads.close()
        for index, job in enumerate(jobs):
            try:
                job.loop.call_soon_threadsafe(_tell, job.answer, call.answers[index])
            except RuntimeError:  # the loop was closed: nobody waits any more
                return


def _tell(waiting: asyncio.Future[Answer], answer: Answer) -> None:
    if not waiting.done():
        waiting.set_result(answer)
