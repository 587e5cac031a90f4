"""Random draws that are the same on every machine and Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

Uniform: TypeAlias = Callable[[], float]
"""Draws from 0 to 1, as ``random.Random(seed).random``: the only method of it that later Pythons promise to keep."""

T = TypeVar("T")


def pick(rng: Uniform, items: Sequence[T]) -> T:
    """Draw one of the items."""
    return items[int(rng() * len(items))]


def shuffle(rng: Uniform, items: Sequence[T]) -> list[T]:
    """Return the items in random order."""
    return [
        item for _, _, item in sorted([(rng(), index, item) for index, item in enumerate(items)])
    ]
