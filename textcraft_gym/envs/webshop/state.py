"""The shop and the state of a customer in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from textcraft_gym.envs.webshop.product import Goal, Product
from textcraft_gym.envs.webshop.reward import Nouns, Reward, default_nouns, reward
from textcraft_gym.errors import UnknownName

Page: TypeAlias = Literal["index", "results", "item", "sub", "done"]
Mode: TypeAlias = Literal["react", "adapt", "text", "text_rich"]
"""The program that a customer shops with: ReAct's, ADaPT's, or one of WebShop's own two."""

PRODUCTS_PER_PAGE: Mapping[Mode, int] = {"react": 3, "adapt": 3, "text": 10, "text_rich": 10}
"""Number of products that a page of results shows in full, by default."""
# As in the original, whose search gives no more.
MAX_RESULTS = 50

_SITE_PAGE = 10
"""Number of products on a page of WebShop's site, which the programs of ReAct and ADaPT read."""

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
    """A catalogue as one of the programs shows it.

    The programs of ReAct and ADaPT run over a site with pages of ten results, of which they show
    the first in full. ReAct's hides the others, ADaPT's shows their ASINs. Both search from the
    index page only.

    Args:
        stock: The catalogue.
        mode: The program.
        products_per_page: Number of products that a page of results shows in full: 1 to 10 of the
            site's ten in the modes ``react`` and ``adapt``, elsewhere the whole page, 1 to 50; None
            for the program's own number.
        show_attrs: Whether the page of a product has a button for its attributes.
        nouns: Returns the nouns of a title, which the reward compares.

    Raises:
        UnknownName: If there is no such mode.
        ValueError: If ``products_per_page`` is out of bounds.
    """

    def __init__(
        self,
        stock: Stock,
        *,
        mode: Mode = "text",
        products_per_page: int | None = None,
        show_attrs: bool = False,
        nouns: Nouns = default_nouns,
    ) -> None:
        if mode not in PRODUCTS_PER_PAGE:
            raise UnknownName.of("mode", mode, list(PRODUCTS_PER_PAGE))
        if products_per_page is None:
            products_per_page = PRODUCTS_PER_PAGE[mode]
        over_site = mode in ("react", "adapt")
        most = _SITE_PAGE if over_site else MAX_RESULTS
        if type(products_per_page) is not int or not 1 <= products_per_page <= most:
            raise ValueError(f"expected products_per_page in 1..{most}, got {products_per_page!r}")
        self.stock = stock
        self.products = stock.products
        self.mode = mode
        self.products_per_page = products_per_page
        self.page_size = products_per_page
        self._searched_on: tuple[Page, ...] = ("index", "results", "item", "sub")
        if over_site:
            # Those programs hide products of the site's page, and search from its start page only.
            self.page_size = _SITE_PAGE
            self._searched_on = ("index",)
        self.show_attrs = show_attrs
        self.nouns = nouns
        self.sub_pages: tuple[str, ...] = ("description", "features", "reviews")
        if show_attrs:
            self.sub_pages += ("attributes",)
        self._options: dict[str, dict[str, str]] = {}

    def search(self, query: str) -> tuple[str, ...]:
        """Return the ASINs of the top 50."""
        # Cut here as well, since another stock than the catalogue may return more.
        return tuple(self.stock.search(query)[:MAX_RESULTS])

    def has_search(self, state: State) -> bool:
        """Return whether the current page takes a search."""
        return state.page in self._searched_on

    def listed(self, state: State) -> tuple[str, ...]:
        """Return the ASINs on the current page of results, all of which open; none past the end."""
        first = (state.number - 1) * self.page_size
        return state.results[first : first + self.page_size]

    def shown(self, state: State) -> tuple[str, ...]:
        """Return those of ``listed`` that the customer sees."""
        listed = self.listed(state)
        if self.mode == "react":
            return listed[: self.products_per_page]
        return listed

    def page_of(
        self,
        results: Sequence[str],
        asin: str,
    ) -> int | None:
        """Return the page of results that shows a product, from 1; None if none does."""
        if asin not in results:
            return None
        page, place = divmod(results.index(asin), self.page_size)
        if self.mode == "react" and place >= self.products_per_page:
            return None
        return page + 1

    def options(self, asin: str) -> Mapping[str, str]:
        """Return the option that each value belongs to, the last one if there are two."""
        options = self._options.get(asin)
        if options is None:
            if len(self._options) >= _KEPT_PRODUCTS:
                self._options.clear()
            options = {}
            for name, values in self.products[asin].options.items():
                options.update(dict.fromkeys(values, name))
            self._options[asin] = options
        return options

    def judge(
        self,
        goal: Goal,
        asin: str,
        chosen: Mapping[str, str],
    ) -> Reward:
        """Return the reward of buying a product with the chosen options."""
        return reward(goal, self.products[asin], chosen, self.nouns)
