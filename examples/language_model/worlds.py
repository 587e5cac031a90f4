"""The worlds whose dialogues a model learns, mixed by shares: ``textcraft=0.6,alfworld=0.4``."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from importlib import import_module
from typing import TypeVar

from dialogue import Example

T = TypeVar("T")

MODULES = {
    "textcraft": "textcraft",
    "alfworld": "households",  # the real ALFWorld is a package of that name
    "minetechtree": "minetechtree",
    "webshop": "webshop",
    "tabletop": "tables",
    "alfworld_goals": "houseplans",
    "minetechtree_goals": "techplans",
    "hotpotqa": "hotpotqa",
    "autoplan": "autoplan",
    "adaplanner": "adaplanner",
    "search": "search",
}
"""The module of each world, whose ``examples(seed)`` yields examples without end."""


def examples(shares: str, seed: int) -> Iterator[Example]:
    """Return examples of some worlds without end; the same shares and seed give the same ones.

    Args:
        shares: Worlds and their shares of the examples, ``textcraft=0.6,alfworld=0.4``; the shares
            are weights, and need not add up to 1. The examples of a world alone are those of its
            module.
        seed: Seed of the order and of every world's examples.

    Raises:
        ValueError: If there is no such world, it is named twice, or its share is not above 0.
    """
    weights = read_shares(shares)
    streams = {world: import_module(MODULES[world]).examples(seed) for world in weights}
    return mixed(streams, weights, random.Random(f"worlds/{seed}"))


def read_shares(shares: str) -> dict[str, float]:
    """Return the weight of each world.

    Raises:
        ValueError: If there is no such world, it is named twice, or its share is not above 0.
    """
    weights: dict[str, float] = {}
    for part in shares.split(","):
        world, _, share = (side.strip() for side in part.partition("="))
        if world not in MODULES or world in weights:
            raise ValueError(
                f"expected each of {', '.join(MODULES)} at most once, got {world!r} in {shares!r}"
            )
        try:
            weights[world] = float(share)
        except ValueError:
            weights[world] = 0.0
        if not 0 < weights[world] < math.inf:
            raise ValueError(f"expected {world}=SHARE with a share above 0, got {part.strip()!r}")
    return weights


def mixed(
    streams: dict[str, Iterator[T]], weights: dict[str, float], rng: random.Random
) -> Iterator[T]:
    """Yield from the streams of some worlds without end, drawn by weights."""
    while True:
        (world,) = rng.choices([*weights], [*weights.values()])
        yield next(streams[world])
