from __future__ import annotations

import threading

from textcraft_gym.agents.models.event_loop import close, submit


def test_close__waits_but_in_the_thread_of_the_loop():
    closed = threading.Event()

    async def closing() -> None:
        closed.set()

    async def collected() -> bool:
        close(closing(), seconds=30.0)
        return closed.is_set()

    assert submit(collected()).result(timeout=10) is False
    assert closed.wait(timeout=10)
    closed.clear()
    close(closing())
    assert closed.is_set()
