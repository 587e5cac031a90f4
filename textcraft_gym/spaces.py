"""The space of all observations and actions: any text, up to a length."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any, TypeAlias

import numpy as np
from gymnasium.spaces import Box, Text
from gymnasium.spaces.utils import flatten, flatten_space, unflatten
from gymnasium.vector.utils import (
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

Points: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"
"""Code points of Unicode."""

_MAX_LENGTH = 1 << 16
_LAST_POINT = 0x10FFFF
_SAMPLE_LENGTH = 32
_SAMPLE_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789 "


class AnyText(Text):
    """Every string of at most ``max_length`` characters of Unicode.

    Gymnasium's ``Text`` wants a set of characters; the whole of Unicode in one would take seconds
    and hundreds of megabytes, and its shared memory and its flat form fail at a character outside
    the set. Here membership is a length, these hold code points, and samples are short and drawn
    from letters, digits and spaces.
    """

    def __init__(
        self,
        max_length: int = _MAX_LENGTH,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(max_length, min_length=0, charset=_SAMPLE_CHARACTERS, seed=seed)
        # One text is a scalar. Without a shape, Stable-Baselines3 would fail before it says that it
        # takes no text.
        self._shape = ()

    def contains(self, x: Any) -> bool:
        """Return whether ``x`` is a string that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Draw a short string. ``mask`` and ``probability`` are those of Gymnasium's ``Text``."""
        if mask is None and probability is None:
            length = int(self.np_random.integers(0, min(_SAMPLE_LENGTH, self.max_length) + 1))
            return super().sample(mask=(length, None))
        # Gymnasium has probabilities since 1.1; an older version raises by itself.
        return super().sample(mask) if probability is None else super().sample(mask, probability)

    def __deepcopy__(self, memo: dict[int, Any]) -> AnyText:
        """Copy the random state alone: a vector of Gymnasium's copies its spaces for each game."""
        twin = copy(self)
        twin._np_random = deepcopy(self._np_random, memo)
        return twin

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyText) and self.max_length == other.max_length

    # Like Gymnasium's spaces, which compare by value and are mutable.
    __hash__ = None  # type: ignore[assignment]


@flatten_space.register(AnyText)
def _flat_space(space: AnyText) -> Box:
    """Return the space of flat texts: code points from 1, and 0 after the end of the text."""
    return Box(0, _LAST_POINT + 1, (space.max_length,), np.int32)


@flatten.register(AnyText)
def _flat_text(space: AnyText, x: str) -> Points:  # type: ignore[misc]  # Space[T]
    flat = np.zeros(space.max_length, np.int32)
    flat[: len(x)] = _points(x) + 1
    return flat


@unflatten.register(AnyText)
def _text_of_flat(space: AnyText, x: Points) -> str:  # type: ignore[misc]
    return _text(x[x > 0] - 1)


@create_shared_memory.register(AnyText)
def _create_shared_text(
    space: AnyText,
    n: int = 1,
    ctx: Any = None,
) -> Any:
    """Create a row for each environment: the length of its text, then the text's code points."""
    import multiprocessing

    return (ctx or multiprocessing).Array(np.dtype(np.int32).char, n * (1 + space.max_length))


@write_to_shared_memory.register(AnyText)
def _write_shared_text(
    space: AnyText,
    index: int,
    value: str,
    shared_memory: Any,
) -> None:
    row = _rows(space, shared_memory)[index]
    points = _points(value)
    row[0] = len(points)
    row[1 : 1 + len(points)] = points


@read_from_shared_memory.register(AnyText)
def _read_shared_text(space: AnyText, shared_memory: Any, n: int = 1) -> _SharedTexts:
    return _SharedTexts(_rows(space, shared_memory)[:n])


class _SharedTexts(Sequence[str]):
    """A view of the texts in shared memory.

    ``AsyncVectorEnv`` reads shared memory once and expects the result to show later observations,
    as NumPy views do and a tuple of strings does not. It returns deep copies to callers: these are
    plain tuples.
    """

    def __init__(self, rows: Points) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self)[index]
        row = self._rows[index]
        return _text(row[1 : 1 + row[0]])

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return repr(tuple(self))


def _rows(space: AnyText, shared_memory: Any) -> Points:
    return np.frombuffer(shared_memory.get_obj(), dtype=np.int32).reshape(-1, 1 + space.max_length)


def _points(text: str) -> Points:
    """Return the code points of a text.

    A model or JSON may produce lone surrogates, hence ``surrogatepass``.
    """
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4")


def _text(points: Points) -> str:
    return points.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")
