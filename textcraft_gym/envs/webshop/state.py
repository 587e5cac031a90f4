"""The shop and the state of a customer in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from textcraft_gym.envs.webshop.product import Goal, Product
from textcraft_gym.envs.webshop.reward import Nouns, Reward, default_nouns, reward

Page: TypeAlias = Literal["index", "results", "item", "sub", "done"]

PRODUCTS_PER_PAGE = 10
MAX_RESULTS = 50

_KEPT_PRODUCTS = 1 << 12


class State(NamedTuple):
    """The state of a customer. Equal states have equal pages.

    Attributes:
        page: The kind of page.
        results: ASINs of the last search, best first.
        number: Page of the results, from 1; pages past the end are empty.
        asin: The product that is shown or was bought.
        sub_page: The page about the product, ``features``.
        chosen: Pairs of an option and the value that was clicked, sorted by option.
        visited: The products that were shown since the index page.
    """

    page: Page = "index"
    results: tuple[str, ...] = ()
    number: int = 1
    asin: str = ""
    sub_page: str = ""
    chosen: tuple[tuple[str, str], ...] = ()
    visited: frozenset[str] = frozenset()


START = State()


class Transition(NamedTuple):
    """The result of an action, without the text of the page.

    Attributes:
        state: The next state.
        reason: Why the action did nothing, a code of ``rules.REASONS``; empty if it did something.
        chosen: The option value that was clicked; empty if none was.
    """

    state: State
    reason: str = ""
    chosen: str = ""


class Stock(Protocol):
    """The part of a catalogue that a shop needs."""

    @property
    def products(self) -> Mapping[str, Product]:
        """The products by ASIN."""

    def search(self, query: str) -> Sequence[str]:
        """Return the ASINs of the matching products, best first."""


class Shop:
    """A catalogue shown on pages.

    Args:
        stock: The catalogue.
        products_per_page: Number of products on a page of results, 1 to 50.
        show_attrs: Whether the page of a product has a button for its attributes.
        nouns: Returns the nouns of a title, which the reward compares.

    Raises:
        ValueError: If ``products_per_page`` is out of bounds.
    """

    def __init__(
        self,
        stock: Stock,
        *,
        products_per_page: int = PRODUCTS_PER_PAGE,
        show_attrs: bool = False,
        nouns: Nouns = default_nouns,
    ) -> None:
        if type(products_per_page) is not int or not 1 <= products_per_page <= MAX_RESULTS:
            raise ValueError(f"expected products_per_page in 1..{MAX_RESULTS}, got {products_per_page!r}")
        self.stock = stock
        self.products = stock.products
        self.products_per_page = products_per_page
        self.show_attrs = show_attrs
        self.nouns = nouns
        self.sub_pages = ("description", "features", "reviews", *(("attributes",) if show_attrs else ()))
        self._options: dict[str, dict[str, str]] = {}

    def search(self, query: str) -> tuple[str, ...]:
        """Return the ASINs of the top 50."""
        # Cut here as well, since another stock than the catalogue may return more.
        return tuple(self.stock.search(query)[:MAX_RESULTS])

    def listed(self, state: State) -> tuple[str, ...]:
        """Return the ASINs on the current page of results; none past the end."""
        first = (state.number - 1) * self.products_per_page
        return state.results[first : first + self.products_per_page]

    def options(self, asin: str) -> Mapping[str, str]:
        """Return the option that each value belongs to, the last one if there are two."""
        options = self._options.get(asin)
        if options is None:
            if len(self._options) >= _KEPT_PRODUCTS:
                self._options.clear()
            groups = self.products[asin].options.items()
            options = self._options[asin] = {value: name for name, values in groups for value in values}
        return options

    def judge(self, goal: Goal, asin: str, chosen: Mapping[str, str]) -> Reward:
        """Return the reward of buying a product with the chosen options."""
        return reward(goal, self.products[asin], chosen, self.nouns)
