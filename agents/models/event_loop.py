"""One asyncio event loop for all models of a process that wait for a network, in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def event_loop() -> asyncio.AbstractEventLoop:
    """Return the loop, which is started with the first call."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            # A daemon, so that an interrupted run does not wait for a slow server.
            threading.Thread(target=_loop.run_forever, name="models", daemon=True).start()
        return _loop


def submit(coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
    """Run a coroutine in the loop, from any other thread."""
    return asyncio.run_coroutine_threadsafe(coroutine, event_loop())


def _forget() -> None:
    """Have a forked process start its own loop: threads do not survive a fork."""
    global _lock, _loop
    _lock, _loop = threading.Lock(), None


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget)
