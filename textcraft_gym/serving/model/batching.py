"""Batches requests from many clients to one model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

from textcraft_gym.agents.contract.model import CompletionRequest, Model
from textcraft_gym.episodes.model_calls import Answer, ModelCall, ModelCalls
from textcraft_gym.errors import TextCraftGymError

MAX_WAITING = 1024
MAX_BATCH = 32
"""Maximum number of requests of a batch: all of them wait for the last."""
THREADS = 16
"""Maximum number of concurrent requests to a model that takes no batches."""


class Overloaded(TextCraftGymError):
    """Too many requests wait for the model."""


class Batcher:
    """Asks a model from threads of its own, while an event loop goes on.

    What arrives while a model that takes batches is busy is its next batch, up to ``MAX_BATCH``
    requests. A request whose client leaves before its turn is left out.

    Args:
        model: The model.
        max_waiting: Maximum number of requests that wait or are under way.
    """

    def __init__(self, model: Model, max_waiting: int = MAX_WAITING) -> None:
        self.model = model
        self.max_waiting = max_waiting
        self._waiting = 0
        self._calls = ModelCalls(THREADS, MAX_BATCH)
        self._futures: dict[ModelCall, asyncio.Future[None]] = {}
        # A daemon thread, so that a slow model does not keep a server from ending.
        Thread(target=self._serve, daemon=True).start()

    async def answers(self, requests: Sequence[CompletionRequest]) -> list[Answer]:
        """Return the completion of each request, or what the model raised in its place.

        Raises:
            Overloaded: If too many requests wait already.
        """
        count = len(requests)
        if self._waiting + count > self.max_waiting:
            raise Overloaded(
                f"too many requests: {self._waiting} of at most {self.max_waiting} are waiting"
            )
        call = ModelCall(self.model, requests)
        future = self._futures[call] = asyncio.get_running_loop().create_future()
        self._waiting += count
        self._calls.post(call)
        try:
            await future
        except asyncio.CancelledError:
            self._calls.cancel(call)
            raise
        finally:
            self._waiting -= count
            self._futures.pop(call, None)
        return [call.answers[position] for position in range(count)]

    def close(self) -> None:
        """Tell the threads to stop, without waiting, and close the model if it can be closed."""
        self._calls.close()
        close = getattr(self.model, "close", None)
        if close:
            close()

    def _serve(self) -> None:
        for call in self._calls.serve():
            future = self._futures.get(call)
            if future:
                with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                    future.get_loop().call_soon_threadsafe(_wake, future)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
