"""Products of the shop and goals of its customers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

NO_PRICE = 100.0
"""Price in dollars of a product that has none."""


@dataclass(frozen=True, slots=True)
class Product:
    """One product.

    Attributes:
        asin: Amazon's product id, ten characters at most.
        title: Its title.
        description: A text; may be empty.
        bullets: Its features.
        prices: One price in dollars, or the ends of a range.
        price: Price of a purchase: the one price, or one drawn from the range.
        options: The values of each option, both in lower case, in display order.
        attributes: Hidden properties that goals ask for, ``machine wash``.
        category: Its department.
        query: The search that it was scraped from.
        product_category: Its path in the tree of categories, ``A \u203a B \u203a C``.
    """

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    prices: tuple[float, ...]
    price: float
    options: Mapping[str, tuple[str, ...]]
    attributes: tuple[str, ...]
    category: str
    query: str
    product_category: str

    @property
    def price_tag(self) -> str:
        """The price as it is displayed: a number of Python, as in the original, ``$14.0``."""
        return " to ".join(f"${price}" for price in self.prices)

    @property
    def document(self) -> str:
        """The text that the search engine indexes, in lower case."""
        choices = [f"{option}: {', '.join(values)}" for option, values in self.options.items()]
        # As in the original, the first bullet only.
        first_bullet = self.bullets[0] if self.bullets else ""
        return " ".join(
            (self.title, self.description, first_bullet, ", and ".join(choices))
        ).lower()


WantedOption: TypeAlias = "str | tuple[str, str]"
"""An option value that a goal asks for; in synthetic goals the pair of option and value."""


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a customer.

    Attributes:
        instruction: The request in words, with the bound on the price.
        product: A product that meets the goal.
        attributes: Attributes that the purchase must have.
        options: Option values that must be chosen; pairs of an option and its value in synthetic
            goals.
        price_upper: Highest price in dollars; infinite for no bound.
        weight: Relative probability that a synthetic goal is drawn; 1 for human goals.
    """

    instruction: str
    product: Product = field(repr=False)
    attributes: tuple[str, ...]
    options: tuple[WantedOption, ...]
    price_upper: float
    weight: float = 1.0
