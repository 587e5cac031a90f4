"""An expert that knows every product: finds a shortest plan to a purchase with a reward of 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

from textcraft_gym.envs.webshop.actions import click, search
from textcraft_gym.envs.webshop.product import Goal, WantedOption
from textcraft_gym.envs.webshop.queries import searches
from textcraft_gym.envs.webshop.reward import fits
from textcraft_gym.envs.webshop.rules import BACK_TO_SEARCH, BUY, NEXT, PREVIOUS, navigate
from textcraft_gym.envs.webshop.state import START, Shop, State

Approach: TypeAlias = tuple[list[str], str, Mapping[str, str]]
"""The actions that lead to a product's page, the product, and the options chosen there already."""

_fits = lru_cache(maxsize=1 << 14)(fits)


class Expert:
    """Plans purchases for one goal in a shop.

    It considers the product and the results that the customer has now, and all results of the
    searches that the instruction suggests, and buys what takes the fewest actions. Only where none
    of these fits, it searches for the words of the goal's own product, which no customer knows.
    From the start page no plan is shorter than a search, a click on the product, a click on each
    wanted option, and the purchase, unless one value meets two of these options.
    """

    def __init__(self, shop: Shop, goal: Goal) -> None:
        self.shop = shop
        self.goal = goal
        self._earns: dict[str, bool] = {}

    def plan(self, state: State = START) -> list[str] | None:
        """Return the shortest plan from a state; None if there is none, or the episode is over."""
        if state.page == "done":
            return None
        best = self._shortest(self._at_hand(state))
        if self._anew is not None:
            to_search = [] if self.shop.has_search(state) else [click(BACK_TO_SEARCH)]
            if best is None or len(to_search) + len(self._anew) < len(best):
                best = [*to_search, *self._anew]
        return best

    @cached_property
    def _anew(self) -> list[str] | None:
        """The shortest plan that begins with a search."""
        product = self.goal.product
        known = self._by_search(searches(self.goal.instruction))
        return known or self._by_search([search(product.title), search(product.document)])

    def _by_search(self, queries: Iterable[str]) -> list[str] | None:
        # The search, a click on a product, one on an option, and the purchase.
        least = 4 if self.goal.options else 3
        best: list[str] | None = None
        for query in queries:
            best = self._shortest(self._results(query), best)
            if best is not None and len(best) == least:
                break  # no further search gives a shorter plan
        return best

    def _shortest(
        self,
        approaches: Iterable[Approach],
        best: list[str] | None = None,
    ) -> list[str] | None:
        """Return the shortest plan by one of these approaches; ``best`` if none is shorter."""
        for approach, asin, chosen in approaches:
            # Skip the costly search for clicks where even the fewest possible ones would make no
            # shorter plan.
            least_clicks = 1 if self.goal.options and not chosen else 0
            if best is not None and len(approach) + least_clicks + 1 >= len(best):
                continue
            clicks = self._clicks(asin, chosen)
            if clicks is None:
                continue
            plan = [*approach, *clicks, click(BUY)]
            if best is None or len(plan) < len(best):
                best = plan
        return best

    def _at_hand(self, state: State) -> Iterator[Approach]:
        """Yield the approaches to the product and the results that the customer has now."""
        back: list[str] = []
        if state.page == "sub":
            back = [click(PREVIOUS)]
        if state.page in ("item", "sub"):
            yield back, state.asin, dict(state.chosen)
            back = [*back, click(PREVIOUS)]
        if state.page != "index":
            yield from self._listed(back, state.results, state.number)

    def _results(self, query: str) -> Iterator[Approach]:
        """Yield the approaches to the results of a search, the goal's own product first."""
        yield from self._listed([query], navigate(self.shop, START, query).state.results, 1)

    def _listed(
        self,
        before: Sequence[str],
        results: Sequence[str],
        page: int,
    ) -> Iterator[Approach]:
        """Yield the approaches to the products among the results, the goal's own first."""
        own = self.goal.product.asin
        for asin in sorted(results, key=lambda asin: asin != own):
            shown_on = self.shop.page_of(results, asin)
            if shown_on is not None:
                turns = [click(NEXT if shown_on > page else PREVIOUS)] * abs(shown_on - page)
                yield [*before, *turns, click(asin.lower())], asin, {}

    def _clicks(
        self,
        asin: str,
        chosen: Mapping[str, str],
    ) -> list[str] | None:
        """Return the fewest clicks on options that let the product earn 1; None if it cannot."""
        values = self._cover(asin, chosen)
        if values is None:
            return None
        # Whatever was chosen before, all wanted options are met: the reward depends on the product.
        if asin not in self._earns:
            option_of = self.shop.options(asin)
            options = {**chosen, **{option_of[value]: value for value in values}}
            self._earns[asin] = self.shop.judge(self.goal, asin, options).score == 1.0
        if not self._earns[asin]:
            return None
        return [click(value) for value in values]

    def _cover(
        self,
        asin: str,
        chosen: Mapping[str, str],
    ) -> list[str] | None:
        """Return the fewest values to click to meet all wanted options; None if one is not met."""
        fitting: list[list[str]] = []
        for wanted in self.goal.options:
            values = self._fitting(wanted, asin, chosen)
            if not values:
                return None
            fitting.append(values)
        cover = _Cover(fitting, self.shop.options(asin), chosen)
        cover.extend({}, [])
        return cover.best

    def _fitting(
        self,
        wanted: WantedOption,
        asin: str,
        chosen: Mapping[str, str],
    ) -> list[str]:
        """Return the values that match a wanted option and can be clicked, the best first."""
        option_of = self.shop.options(asin)
        page = State("item", asin=asin)
        # A value named like a button cannot be clicked: it is the button.
        values = [
            value
            for value in option_of
            if _fits(wanted, value) and navigate(self.shop, page, click(value)).chosen == value
        ]
        exact = wanted if isinstance(wanted, str) else wanted[1]
        # Try the chosen value first, then the value exactly as it is wanted.
        return sorted(
            values,
            key=lambda value: (chosen.get(option_of[value]) != value, value != exact),
        )


class _Cover:
    """Searches the fewest values to click so that every wanted option is met.

    Args:
        fitting: The values that meet each wanted option, in the order to try them.
        option_of: The option that each value belongs to.
        chosen: The values that are chosen already, by option.

    Attributes:
        best: The fewest values so far; None if there are none.
    """

    def __init__(
        self,
        fitting: Sequence[Sequence[str]],
        option_of: Mapping[str, str],
        chosen: Mapping[str, str],
    ) -> None:
        self.fitting = fitting
        self.option_of = option_of
        self.chosen = chosen
        self.best: list[str] | None = None

    def extend(
        self,
        picked: Mapping[str, str],
        clicks: list[str],
    ) -> None:
        """Extend the picked values, by option, until they meet every wanted option."""
        if self.best is not None and len(clicks) >= len(self.best):  # branch and bound
            return
        unmet = self._unmet(picked)
        if unmet is None:
            self.best = clicks
            return
        for value in unmet:
            option = self.option_of[value]
            if option in picked:
                continue
            is_chosen = self.chosen.get(option) == value
            self.extend({**picked, option: value}, clicks if is_chosen else [*clicks, value])

    def _unmet(self, picked: Mapping[str, str]) -> Sequence[str] | None:
        """Return the values for the first wanted option that is not met yet."""
        for values in self.fitting:
            if {*picked.values()}.isdisjoint(values):
                return values
        return None
