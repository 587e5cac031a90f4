"""Random draws that are the same on every machine and Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

Uniform: TypeAlias = Callable[[], float]
"""Draws from 0 to 1, as ``random.Random(seed).random``: the one method that Pythons keep stable."""

T = TypeVar("T")


def pick(rng: Uniform, items: Sequence[T]) -> T:
    """Draw one of the items."""
    return items[int(rng() * len(items))]


def shuffle(rng: Uniform, items: Sequence[T]) -> list[T]:
    """Return the items in random order."""
    # Sorted by a draw; the index keeps the order of equal draws, and items from being compared.
    drawn = sorted([(rng(), index) for index in range(len(items))])
    return [items[index] for _, index in drawn]
