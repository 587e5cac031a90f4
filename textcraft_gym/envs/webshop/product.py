"""What a shop sells, and what a customer wants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NO_PRICE = 100.0
"""What a product without a price costs."""


@dataclass(frozen=True, slots=True)
class Product:
    """One product.

    Attributes:
        asin: Its number, ten characters at most, as it is printed.
        title: Its name.
        description: May be empty.
        bullets: Its features; the first is searched, too.
        prices: One price in dollars, or the ends of a range.
        price: What it costs: the one price, or one drawn from the range.
        options: The values of each option, both in lower case, in the order in which they are shown.
        attributes: What is known of it and not shown, ``machine wash``; goals ask for these.
        category: Its department.
        query: The words under which it was found.
        product_category: Its place in the tree of categories, ``A \u203a B \u203a C``.
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
        """The price as it is printed."""
        return " to ".join(f"${price}" for price in self.prices)


@dataclass(frozen=True, slots=True)
class Goal:
    """What a customer wants.

    Attributes:
        instruction: What is said, with the bound on the price.
        product: One that fits.
        attributes: What it must be.
        options: Which values must be chosen.
        price_upper: The most it may cost, in dollars; infinite where there is no bound.
        weight: How likely a synthetic goal is drawn; 1 for a human one.
    """

    instruction: str
    product: Product = field(repr=False)
    attributes: tuple[str, ...]
    options: tuple[str, ...]
    price_upper: float
    weight: float = 1.0
