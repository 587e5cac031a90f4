"""Shuffling that gives the same order on every machine and Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

Number: TypeAlias = Callable[[], float]
"""Draws a number from 0 to 1, as ``random.Random(seed).random`` does."""

T = TypeVar("T")


def shuffle(number: Number, items: Sequence[T]) -> list[T]:
    """Shuffle. Of all that ``random`` offers, only ``random()`` is promised to stay the same in later Pythons."""
    return [item for _, _, item in sorted([(number(), place, item) for place, item in enumerate(items)])]
