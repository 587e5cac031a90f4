"""SIGTERM, by which service managers and containers end a command, is handled as Ctrl-C."""

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
    """Have SIGTERM interrupt what runs in the ``with`` block, which then exits with ``TERMINATED``.

    What cleans up after Ctrl-C and says what is kept does the same after SIGTERM. A second SIGTERM
    is ignored, so that it does not break off the clean-up; Ctrl-C can.
    """
    is_told = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal is_told
        is_told = True
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except SystemExit as leaving:
        if is_told and leaving.code == INTERRUPTED:
            sys.exit(TERMINATED)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
