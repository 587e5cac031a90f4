"""Goals of customers: written by people, or made of a template sentence and the options."""

from __future__ import annotations

import math
import random
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

from textcraft_gym.envs.webshop.product import Goal, Product, WantedOption
from textcraft_gym.errors import UnknownName

T = TypeVar("T")

SPLITS: Mapping[str, tuple[int, int | None]] = {
    "test": (0, 500),
    "dev": (500, 1500),
    "train": (1500, None),
    "all": (0, None),
    "adapt_test": (0, 100),
    "adapt_dev": (100, 140),
}
"""The slice of the goals that each split is; the two of ADaPT are parts of the test split."""

# The original's numbers: others would make other splits and other bounds.
_ORDER_SEED = 233
_PRICE_BOUNDS = [10.0 * tens for tens in range(1, 100)]
_NEAREST_BOUNDS = 4


def split_range(split: str, goals: int) -> range:
    """Return the indices of a split's goals, given the number of all goals.

    Raises:
        UnknownName: If there is no such split.
    """
    if split not in SPLITS:
        raise UnknownName.of("split", split, list(SPLITS))
    return range(goals)[slice(*SPLITS[split])]


def shuffled(goals: Iterable[T]) -> list[T]:
    """Return goals in the order of the original, of which the splits are slices."""
    # The original shuffles like this; `shuffle` and `sample` draw alike on Python 3.10 to 3.13.
    order = list(goals)
    random.Random(_ORDER_SEED).shuffle(order)
    return order


def drawn(
    weights: Sequence[float],
    count: int,
    goals: int,
) -> list[int]:
    """Return the indices of some goals, drawn by their weights as the original limits goals.

    It goes on with the generator that shuffled all goals, and never draws the first.

    Args:
        weights: The weights of the goals to draw from.
        count: Number of goals to draw, fewer than there are.
        goals: Number of all goals, which were shuffled before.
    """
    rng = random.Random(_ORDER_SEED)
    rng.shuffle([0] * goals)
    cumulative = [0.0, *accumulate(weights)]
    indices: dict[int, None] = {}
    while len(indices) < count:
        index = bisect(cumulative, rng.uniform(0, cumulative[-1]))
        indices[min(index, len(weights) - 1)] = None
    return list(indices)


def price_upper(price: float, rng: random.Random) -> float:
    """Return a bound on the price: the larger of two among the next four multiples of ten.

    It is infinite if fewer than two multiples of ten are between the price and 1,000.
    """
    nearest = [bound for bound in _PRICE_BOUNDS if bound > price][:_NEAREST_BOUNDS]
    if len(nearest) < 2:
        return math.inf
    return max(rng.sample(nearest, 2))


@dataclass(frozen=True, slots=True)
class Wish:
    """A sentence about one product, which makes one goal or one for each combination of options.

    Attributes:
        text: The sentence.
        attributes: Attributes that the product must have.
        options: Option values that must be chosen; None to make a goal of each combination.
        price_upper: Highest price in dollars; infinite for no bound.
    """

    text: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] | None
    price_upper: float

    def goal_count(self, product: Product) -> int:
        """Return the number of its goals."""
        return 1 if self.options is not None else math.prod(map(len, product.options.values()))

    def goal(
        self,
        product: Product,
        index: int,
        weight: float = 1.0,
    ) -> Goal:
        """Return one of its goals by index."""
        text = self.text
        options: tuple[WantedOption, ...] = self.options or ()
        if self.options is None:
            chosen = _combination(product.options, index)
            options = tuple(chosen.items())
            if chosen:
                choices = ", and ".join(f"{option}: {value}" for option, value in chosen.items())
                text += f" with {choices}"
        if math.isfinite(self.price_upper):
            text += f", and price lower than {self.price_upper:.2f} dollars"
        return Goal(text, product, self.attributes, options, self.price_upper, weight)


def _combination(options: Mapping[str, Sequence[str]], index: int) -> dict[str, str]:
    """Return a combination of values by index, in which the last option by name changes fastest."""
    chosen = {}
    for option in sorted(options, reverse=True):
        index, value = divmod(index, len(options[option]))
        chosen[option] = options[option][value]
    return dict(reversed(chosen.items()))


def weights(wanted: Sequence[Sequence[str] | None], goal_counts: Sequence[int]) -> list[float]:
    """Return the weight of the goals of each wish: rare attributes give synthetic goals more.

    Args:
        wanted: The attributes of each wish; None for one whose goals have the weight 1.
        goal_counts: The number of goals of each wish.
    """
    attribute_counts: Counter[str] = Counter()
    for attributes, count in zip(wanted, goal_counts, strict=True):
        for attribute in attributes or ():
            attribute_counts[attribute] += count
    goal_weights: list[float] = []
    for attributes in wanted:
        weight = 1.0
        if attributes is not None:
            rarities = [1 / attribute_counts[attribute] for attribute in attributes]
            weight = sum(rarities) / len(rarities)
        goal_weights.append(weight)
    return goal_weights
