"""One asyncio event loop, in a thread of its own, for all models of a process on a network."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TimedOut
from contextlib import suppress
from typing import Any, TypeVar

from textcraft_gym.agents.contract.model import ModelError

Result = TypeVar("Result")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None


def event_loop() -> asyncio.AbstractEventLoop:
    """Return the loop, which is started with the first call.

    Raises:
        ModelError: If the system has no thread for it.
    """
    global _loop, _thread
    with _lock:
        if _loop is None:
            loop = asyncio.new_event_loop()
            # A daemon, so that an interrupted run does not wait for a slow server.
            thread = threading.Thread(target=loop.run_forever, name="models", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                loop.close()
                raise ModelError(f"models need a thread of their own: {error}") from error
            _loop, _thread = loop, thread
        return _loop


def submit(coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
    """Run a coroutine in the loop, from any other thread."""
    return asyncio.run_coroutine_threadsafe(coroutine, event_loop())


def close(coroutine: Coroutine[Any, Any, None], seconds: float = 2.0) -> None:
    """Run a coroutine that closes something, and wait for it, but not in the loop's thread.

    There the collector of garbage may close a model, and waiting would stop every request.
    """
    closing = submit(coroutine)
    with suppress(RuntimeError, TimedOut):  # the loop may have ended with the interpreter
        if threading.current_thread() is not _thread:
            closing.result(timeout=seconds)


def _forget() -> None:
    """Have a forked process start its own loop: threads do not survive a fork."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), None


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget)
