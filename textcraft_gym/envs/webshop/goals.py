"""What customers want of a product: as people wrote it down, or made up from a sentence and each choice of options."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from textcraft_gym.envs.webshop.product import Goal, Product
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
"""The goals of each split, from and up to. The two of ADaPT are parts of the test split."""

_ORDER_SEED = 233
_BOUNDS = [10.0 * tens for tens in range(1, 100)]
_NEAREST = 4


def split_range(split: str, goals: int) -> range:
    """Return the numbers of a split's goals, of so many.

    Raises:
        UnknownName: If there is no such split.
    """
    if split not in SPLITS:
        raise UnknownName("split", split, list(SPLITS))
    return range(goals)[slice(*SPLITS[split])]


def shuffled(goals: Iterable[T]) -> list[T]:
    """Return goals in the order of the original, which the splits go by."""
    # As the original shuffles: the same on every Python, 3.10 to 3.13, whose `shuffle` and `sample` draw alike.
    order = list(goals)
    random.Random(_ORDER_SEED).shuffle(order)
    return order


def price_upper(price: float, draw: random.Random) -> float:
    """Return a bound on the price: of the next four multiples of ten two are drawn, and the larger is kept.

    It is infinite for a price above which there is but one multiple below a thousand.
    """
    nearest = [bound for bound in _BOUNDS if bound > price][:_NEAREST]
    return max(draw.sample(nearest, 2)) if len(nearest) > 1 else math.inf


@dataclass(frozen=True, slots=True)
class Wish:
    """A sentence about one product, which makes one goal, or one for each combination of option values.

    Attributes:
        text: The sentence.
        attributes: What the product must be.
        options: Which values must be chosen; None for every combination in turn.
        price_upper: The most it may cost, in dollars; infinite where there is no bound.
    """

    text: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] | None
    price_upper: float

    def goals(self, product: Product) -> int:
        """Return how many goals it makes."""
        return 1 if self.options is not None else math.prod(map(len, product.options.values()))

    def goal(self, product: Product, number: int, weight: float = 1.0) -> Goal:
        """Return one of its goals."""
        bound = f", and price lower than {self.price_upper:.2f} dollars" if math.isfinite(self.price_upper) else ""
        if self.options is not None:
            return Goal(f"{self.text}{bound}", product, self.attributes, self.options, self.price_upper, weight)
        chosen = _combination(product.options, number)
        choice = ", and ".join(f"{name}: {value}" for name, value in chosen.items())
        text = f"{self.text}{' with ' if choice else ''}{choice}{bound}"
        return Goal(text, product, self.attributes, tuple(chosen.values()), self.price_upper, weight)


def _combination(options: Mapping[str, Sequence[str]], number: int) -> dict[str, str]:
    """Return the combination of that number, where the value of the last option by name changes fastest."""
    chosen = {}
    for name in sorted(options, reverse=True):
        number, value = divmod(number, len(options[name]))
        chosen[name] = options[name][value]
    return dict(reversed(chosen.items()))


def weights(wishes: Sequence[Wish], goals: Sequence[int]) -> list[float]:
    """Return how likely a goal of each wish is drawn, given how many each makes: the rarer its attributes, the more."""
    often: Counter[str] = Counter()
    for wish, made in zip(wishes, goals, strict=True):
        for attribute in wish.attributes:
            often[attribute] += made
    return [
        1.0 if wish.options is not None else sum(1 / often[one] for one in wish.attributes) / len(wish.attributes)
        for wish in wishes
    ]
