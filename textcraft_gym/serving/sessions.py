"""The open sessions of a server."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from threading import RLock
from typing import Generic, TypeVar

from textcraft_gym.errors import TextCraftGymError, at_least, number

MAX_SESSIONS = 1024
SESSION_SECONDS = 3600.0

Held = TypeVar("Held")


class TooManySessions(TextCraftGymError):
    """All sessions of a server are open and in use."""


@dataclass
class _Entry(Generic[Held]):
    held: Held
    used: float


class Sessions(Generic[Held]):
    """What clients have open, by number; the numbers count up from 0 and are never given again.

    A session that was not used for ``seconds`` is closed when the table is next used, since clients
    vanish without a word. Any thread may use the table; what it holds is the caller's to lock.

    Args:
        maximum: Maximum number of open sessions.
        seconds: Seconds without use after which a session ends.
        on_close: Called with what a session held when it ends.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        maximum: int = MAX_SESSIONS,
        seconds: float = SESSION_SECONDS,
        *,
        on_close: Callable[[Held], object] = lambda held: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        at_least("maximum", maximum, 1)
        number("seconds", seconds)
        if not seconds > 0:
            raise ValueError(f"expected more than 0 seconds, got {seconds!r}")
        self.maximum = maximum
        self.seconds = seconds
        self._on_close = on_close
        self._clock = clock
        self._numbers = count()
        # The least recently used one first.
        self._entries: OrderedDict[int, _Entry[Held]] = OrderedDict()
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def numbers(self) -> list[int]:
        """The numbers of the open sessions, in order."""
        with self._lock:
            self._close_old()
            return sorted(self._entries)

    def open(self, make: Callable[[], Held]) -> int:
        """Return the number of a new session, which holds what ``make`` returns.

        Raises:
            TooManySessions: If there is no room for it.
        """
        with self._lock:
            self._close_old()
            if len(self._entries) >= self.maximum:
                raise TooManySessions(
                    f"{self.maximum} sessions are open, the maximum: close some, or wait until "
                    f"those unused for {self.seconds:g} seconds are closed"
                )
            # Under the lock, so that nobody else takes the last place meanwhile.
            held = make()
            number = next(self._numbers)
            self._entries[number] = _Entry(held, self._clock())
            return number

    def find(self, number: int) -> Held:
        """Return what a session holds, and note that it was used.

        Raises:
            LookupError: If there is no such session, or it has ended.
        """
        with self._lock:
            self._close_old()
            entry = self._entries[number]
            entry.used = self._clock()
            self._entries.move_to_end(number)
            return entry.held

    def close(self, number: int) -> bool:
        """End a session; return whether it was open."""
        with self._lock:
            self._close_old()
            entry = self._entries.pop(number, None)
            if entry:
                self._on_close(entry.held)
            return entry is not None

    def close_all(self) -> None:
        """End every session."""
        with self._lock:
            for number in list(self._entries):
                self._on_close(self._entries.pop(number).held)

    def _close_old(self) -> None:
        oldest = self._clock() - self.seconds
        while self._entries:
            number, entry = next(iter(self._entries.items()))
            if entry.used > oldest:
                return
            self._on_close(self._entries.pop(number).held)
