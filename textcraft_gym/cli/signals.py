"""SIGTERM, with which service managers and containers end a command, acts as Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
"""Exit statuses of a command that a signal ended, as shells count them."""


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Make SIGTERM interrupt the ``with`` block, which then exits with ``TERMINATED``.

    So whatever handles Ctrl-C, such as saving what was played, handles SIGTERM. A second SIGTERM is
    ignored, so that it does not cut the clean-up short; Ctrl-C can.
    """
    is_terminated = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal is_terminated
        is_terminated = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except SystemExit as leaving:
        if is_terminated and leaving.code == INTERRUPTED:
            sys.exit(TERMINATED)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
