"""An expert that knows every product: finds a shortest plan to a purchase with a reward of 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from textcraft_gym.envs.webshop.actions import click, search
from textcraft_gym.envs.webshop.product import Goal
from textcraft_gym.envs.webshop.reward import fits
from textcraft_gym.envs.webshop.rules import BACK_TO_SEARCH, BUY, NEXT, PREVIOUS, navigate
from textcraft_gym.envs.webshop.state import MAX_RESULTS, START, Shop, State

_fits = lru_cache(maxsize=1 << 14)(fits)


class Expert:
    """Plans purchases for one goal in a shop.

    It considers the goal's own product, the results of a search for the instruction, and the results that the customer
    has now, and buys the product that takes the fewest actions. From the start page no plan is shorter than a search, a
    click on the product, a click on each wanted option, and the purchase, unless one value meets two of these options.
    """

    def __init__(self, shop: Shop, goal: Goal) -> None:
        self.shop = shop
        self.goal = goal
        self._earns: dict[str, bool] = {}
        self._results_of: dict[str, tuple[str, ...]] = {}

    def plan(self, state: State = START) -> list[str] | None:
        """Return the shortest plan from a state; None if there is none, or the episode is over."""
        best: list[str] | None = None
        for approach, asin, chosen in self._approaches(state):
            # Skip the costly search for clicks where even the fewest possible ones would make no shorter plan.
            least_clicks = 1 if self.goal.options and not chosen else 0
            if best is None or len(approach) + least_clicks + 1 < len(best):
                clicks = self._clicks(asin, chosen)
                if clicks is not None and (best is None or len(approach) + len(clicks) + 1 < len(best)):
                    best = [*approach, *clicks, click(BUY)]
        return best

    def _approaches(self, state: State) -> Iterator[tuple[list[str], str, Mapping[str, str]]]:
        """Yield the actions that lead to a product's page, the product, and the options chosen there already."""
        if state.page == "done":
            return
        back: list[str] = []
        if state.page in ("item", "sub"):
            back = [click(PREVIOUS)] if state.page == "sub" else []
            yield back, state.asin, dict(state.chosen)
            back = [*back, click(PREVIOUS)]
        own = self.goal.product.asin
        if state.page != "index":
            yield from self._listed(back, state.results, state.number, state.results)
        to_search = [] if self.shop.has_search(state) else [click(BACK_TO_SEARCH)]
        query = self._query()
        yield from self._listed([*to_search, query], self._results(query), 1, [own])
        query = search(self.goal.instruction)
        yield from self._listed([*to_search, query], self._results(query), 1, self._results(query))

    def _listed(
        self, before: Sequence[str], results: Sequence[str], page: int, asins: Sequence[str]
    ) -> Iterator[tuple[list[str], str, Mapping[str, str]]]:
        """Yield the products that are among the results, with the clicks that lead to their page."""
        for asin in asins:
            shown_on = self.shop.page_of(results, asin)
            if shown_on is not None:
                turns = [click(NEXT if shown_on > page else PREVIOUS)] * abs(shown_on - page)
                yield [*before, *turns, click(asin.lower())], asin, {}

    def _query(self) -> str:
        """Return the first of three searches with the goal's product on its first page, else the best for it."""
        product = self.goal.product
        queries = [search(words) for words in (self.goal.instruction, product.title, product.document)]
        pages: dict[str, int] = {}
        for query in queries:
            pages[query] = self.shop.page_of(self._results(query), product.asin) or MAX_RESULTS + 1
            if pages[query] == 1:
                break
        return min(pages, key=lambda query: pages[query])

    def _results(self, query: str) -> tuple[str, ...]:
        if query not in self._results_of:
            self._results_of[query] = navigate(self.shop, START, query).state.results
        return self._results_of[query]

    def _clicks(self, asin: str, chosen: Mapping[str, str]) -> list[str] | None:
        """Return the fewest clicks on options after which buying the product earns 1; None if there are none."""
        values = self._cover(asin, chosen)
        if values is None:
            return None
        if asin not in self._earns:
            option_of = self.shop.options(asin)
            options = {**chosen, **{option_of[value]: value for value in values}}
            self._earns[asin] = self.shop.judge(self.goal, asin, options).score == 1.0
        return [click(value) for value in values] if self._earns[asin] else None

    def _cover(self, asin: str, chosen: Mapping[str, str]) -> list[str] | None:
        """Return the fewest values to click to meet every wanted option; None if one cannot be met."""
        option_of = self.shop.options(asin)
        page = State("item", asin=asin)
        fitting: list[list[str]] = []
        for wanted in self.goal.options:
            values = [value for value in option_of if _fits(wanted, value)]
            # Some values match but cannot be clicked: one named like a button is the button.
            values = [value for value in values if navigate(self.shop, page, click(value)).chosen == value]
            if not values:
                return None
            exact = wanted if isinstance(wanted, str) else wanted[1]
            # Try the chosen value first, then the value exactly as it is wanted.
            fitting.append(sorted(values, key=lambda value: (chosen.get(option_of[value]) != value, value != exact)))
        best: list[str] | None = None

        def extend(picked: dict[str, str], clicks: list[str]) -> None:
            nonlocal best
            if best is not None and len(clicks) >= len(best):  # branch and bound
                return
            unmet = next((values for values in fitting if not set(values) & set(picked.values())), None)
            if unmet is None:
                best = clicks
                return
            for value in unmet:
                option = option_of[value]
                if option not in picked:
                    extend({**picked, option: value}, clicks if chosen.get(option) == value else [*clicks, value])

        extend({}, [])
        return best
