"""Random choices that are alike in every version of Python."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def pick(options: Sequence[T], rng: Random) -> T:
    """Return one of some options: ``choice()`` need not draw alike in every version of Python."""
    return options[int(rng.random() * len(options))]
