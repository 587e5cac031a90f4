"""The fewest actions that craft an item: branch and bound over the goal's tree.

An action gets any number of one base item, or crafts one recipe once; so the length of a plan is
the number of distinct base items it gets plus its crafts. The search visits the tree from the goal
down, items before their ingredients. At an item, all demand for it is known: the stock covers some
of it, and the rest is got, or crafted with some mix of the item's recipes. At a choice, a slot that
several items fill, it shares the demand out among them. A branch is cut when its cost, with a lower
bound on the remaining cost, reaches that of the best plan known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from textcraft_gym.recipes.book import Offer, RecipeBook
from textcraft_gym.recipes.layout import Layout, layout_of, node_of
from textcraft_gym.recipes.recipe import Ingredient, Recipe

MAX_BOUNDS = 10_000
"""Number of bounds after which the search keeps its best plan; Minecraft 1.16.5 needs a tenth."""


class Craft(NamedTuple):
    """One recipe applied once, with the items that fill its slots."""

    recipe: Recipe
    using: Offer


class Plan(NamedTuple):
    """Items to get, then recipes to craft, in order; ``proven`` unless the search gave up."""

    gets: Offer
    crafts: tuple[Craft, ...]
    proven: bool = True

    @property
    def length(self) -> int:
        """The number of actions."""
        return len(self.gets) + len(self.crafts)


def shortest_plan(
    book: RecipeBook,
    goal: str,
    held: Mapping[str, int] | None = None,
) -> Plan:
    """Return a plan of the fewest actions that crafts one more of ``goal`` from what is held.

    The plan is proven shortest if the recipes form no cycle, and the search ends within
    ``MAX_BOUNDS``: in Minecraft 1.16.5 it always does, with the dyes of later versions now and then
    not. If the recipes form cycles, deeper items are not made back into less deep ones (see
    ``layout``); for the cycles of Minecraft 1.16.5 an exhaustive search finds nothing shorter.

    Raises:
        ValueError: If the goal cannot be crafted.
    """
    if goal not in book.recipes:
        raise ValueError(f"{goal} cannot be crafted")
    stock = {item: count for item, count in (held or {}).items() if item != goal}
    search = _Search(book, layout_of(book, goal), stock)
    search.visit(0, _Need({goal: 1}, {}), 0, None)
    return search.plan()


class _Need(NamedTuple):
    """Unmet demand: the count of each item, and for each choice the number of lots by size."""

    items: dict[str, int]
    lots: dict[Ingredient, Counter[int]]

    def copy(self) -> _Need:
        return _Need(
            dict(self.items),
            {choice: Counter(lots) for choice, lots in self.lots.items()},
        )


class _Decision(NamedTuple):
    """``times`` crafts of a recipe, or ``times`` lots of ``size`` of a choice from ``item``."""

    item: str
    times: int
    recipe: Recipe | None = None
    choice: Ingredient = ()
    size: int = 0
    earlier: _Decision | None = None


class _Search:
    def __init__(
        self,
        book: RecipeBook,
        layout: Layout,
        held: Mapping[str, int],
    ) -> None:
        self.book = book
        self.layout = layout
        self.held = held
        self.best = float("inf")
        self.bounds = 0
        self.decisions: _Decision | None = None

    def visit(
        self,
        start: int,
        need: _Need,
        cost: int,
        past: _Decision | None,
    ) -> None:
        """Decide on the nodes from index ``start`` on, in order, having spent ``cost`` actions."""
        if cost + self.bound(start, need) >= self.best:
            return
        for at in range(start, len(self.layout.order)):
            node = self.layout.order[at]
            if isinstance(node, tuple):
                if need.lots.get(node):
                    self.share(at, node, self.members(node, need), need, cost, past)
                    return
            elif (short := self.short(node, need)) > 0:
                if node in self.book.recipes:
                    self.craft(at, node, short, need, cost, past)
                    return
                # A base item: one action gets any number.
                cost += 1

        if cost < self.best:
            self.best, self.decisions = cost, past

    def craft(
        self,
        at: int,
        item: str,
        short: int,
        need: _Need,
        cost: int,
        past: _Decision | None,
    ) -> None:
        """Try each mix of the item's recipes that crafts the missing items."""
        recipes = self.book.recipes[item]
        for batch in _batches(short, [recipe.makes for recipe in recipes]):
            after, decisions = need.copy(), past
            for recipe, times in zip(recipes, batch, strict=True):
                if not self.demand(at, after, recipe, times):
                    break
                if times:
                    decisions = _Decision(item, times, recipe, earlier=decisions)
            else:
                self.visit(at + 1, after, cost + sum(batch), decisions)

    def demand(
        self,
        at: int,
        need: _Need,
        recipe: Recipe,
        times: int,
    ) -> bool:
        """Add the demand of ``times`` crafts; False if a decided node lacks the stock for it."""
        if not times:
            return True
        for ingredient, count in recipe.slots:
            node = node_of(self.book, ingredient)
            if isinstance(node, tuple):
                if self.layout.index_of[node] < at:
                    return False
                # A lot must be filled with one item; in a book that mixes, each unit is a separate
                # lot.
                lots, size = (times * count, 1) if self.book.mixes else (times, count)
                need.lots.setdefault(node, Counter())[size] += lots
            elif not self.take(at, need, node, times * count):
                return False
        return True

    def take(
        self,
        at: int,
        need: _Need,
        item: str,
        count: int,
    ) -> bool:
        need.items[item] = need.items.get(item, 0) + count
        return self.layout.index_of[item] > at or need.items[item] <= self.held.get(item, 0)

    def share(
        self,
        at: int,
        choice: Ingredient,
        members: list[str],
        need: _Need,
        cost: int,
        past: _Decision | None,
    ) -> None:
        """Share out the largest lots of a choice: some to the first member, the others the rest."""
        size = max(need.lots[choice])
        lots = need.lots[choice][size]
        item, others = members[0], members[1:]
        # The last member takes all that is left.
        least = 0 if others else lots
        for taken in range(lots, least - 1, -1):
            after, decisions = need.copy(), past
            if taken:
                if not self.take(at, after, item, taken * size):
                    continue
                decisions = _Decision(item, taken, None, choice, size, past)
            after.lots[choice][size] -= taken
            after.lots[choice] += Counter()  # removes sizes of which no lot is left
            if taken == lots:
                self.visit(at, after, cost, decisions)
            elif cost + self.bound(at, after) < self.best:
                self.share(at, choice, others, after, cost, decisions)

    def members(self, choice: Ingredient, need: _Need) -> list[str]:
        """Return the members of a choice: those with stock to spare, then made, then shallow."""
        depths = self.book.depths

        def rank(item: str) -> tuple[bool, bool, int]:
            return self.spare(item, need) == 0, self.short(item, need) <= 0, depths.get(item, 0)

        return sorted(self.book.members[choice], key=rank)

    def short(self, item: str, need: _Need) -> int:
        return need.items.get(item, 0) - self.held.get(item, 0)

    def spare(self, item: str, need: _Need) -> int:
        """Return how much of ``item`` the stock or the crafts needed anyway leave over at most."""
        short = self.short(item, need)
        if short <= 0:
            return -short
        recipes = self.book.recipes.get(item)
        if not recipes:
            return 1 << 30  # one get yields any number
        return -short % max(recipe.makes for recipe in recipes)

    def bound(self, start: int, need: _Need) -> int:
        """Return a lower bound on the actions that complete this branch from index ``start`` on.

        Demand is passed down where there is one recipe and one item. For a choice, only the crafts
        that every sharing out needs are counted, and of choices with an item in common only the
        first.
        """
        self.bounds += 1
        if self.bounds > MAX_BOUNDS and self.decisions:
            # More than any plan that is known, so that each open branch is cut.
            return MAX_BOUNDS
        relaxed = _Need(dict(need.items), {})
        units: dict[Ingredient, int] = {}
        for choice, lots in need.lots.items():
            units[choice] = sum(size * number for size, number in lots.items())
        total = self.pass_down(start, relaxed, units)
        claimed: set[str] = set()
        for choice, amount in units.items():
            members = self.book.members[choice]
            if claimed.isdisjoint(members) and (least := self.claim(members, amount, relaxed)):
                total += least
                claimed.update(members)
        return total

    def pass_down(
        self,
        start: int,
        relaxed: _Need,
        units: dict[Ingredient, int],
    ) -> int:
        """Add the demand of unambiguous ingredients; return the actions that make the items."""
        actions = 0
        for node in self.layout.order[start:]:
            if isinstance(node, tuple) or (short := self.short(node, relaxed)) <= 0:
                continue
            recipes = self.book.recipes.get(node)
            if not recipes:
                actions += 1
                continue
            times = -(-short // max(recipe.makes for recipe in recipes))  # rounded up
            actions += times
            if len(recipes) > 1:
                continue
            for ingredient, count in recipes[0].slots:
                below = node_of(self.book, ingredient)
                if isinstance(below, tuple):
                    units[below] = units.get(below, 0) + times * count
                else:
                    relaxed.items[below] = relaxed.items.get(below, 0) + times * count
        return actions

    def claim(
        self,
        members: tuple[str, ...],
        units: int,
        relaxed: _Need,
    ) -> int:
        """Return the fewest actions that fill a choice beyond those spent on its members anyway."""
        units -= sum(self.spare(item, relaxed) for item in members)
        if units <= 0:
            return 0
        most = 0
        for item in members:
            recipes = self.book.recipes.get(item)
            if not recipes:  # a base item: one get
                return 1
            most = max(most, *(recipe.makes for recipe in recipes))
        return -(-units // most)  # rounded up

    def plan(self) -> Plan:
        """Return the best branch as gets and crafts, ingredients before their consumers."""
        crafts: list[Craft] = []
        pools: dict[tuple[Ingredient, int], list[str]] = {}
        # The decisions go from the deepest item, which is crafted first, up to the goal. A choice
        # is below the items that take it, so that its pool is full when they are crafted.
        decision = self.decisions
        while decision:
            if decision.recipe:
                crafts += [self.fill(decision.recipe, pools) for _ in range(decision.times)]
            else:
                pool = pools.setdefault((decision.choice, decision.size), [])
                pool += [decision.item] * decision.times
            decision = decision.earlier

        used: Counter[str] = Counter()
        for craft in crafts:
            used.update(dict(craft.using))
        gets = []
        for item, count in sorted(used.items()):
            missing = count - self.held.get(item, 0)
            if missing > 0 and item not in self.book.recipes:
                gets.append((item, missing))
        return Plan(tuple(gets), tuple(crafts), proven=self.bounds <= MAX_BOUNDS)

    def fill(
        self,
        recipe: Recipe,
        pools: dict[tuple[Ingredient, int], list[str]],
    ) -> Craft:
        """Fill the slots of one craft, choices from the lots that were decided on."""
        using: Counter[str] = Counter()
        for ingredient, count in recipe.slots:
            node = node_of(self.book, ingredient)
            if isinstance(node, str):
                using[node] += count
            elif self.book.mixes:
                using.update(pools[node, 1].pop() for _ in range(count))
            else:
                using[pools[node, count].pop()] += count
        return Craft(recipe, tuple(using.items()))


def _batches(short: int, yields: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of crafts of each recipe that make ``short`` items.

    A batch in which a craft could be left out is not among them.
    """

    def candidates(short: int, yields: list[int]) -> Iterator[tuple[int, ...]]:
        most = max(0, -(-short // yields[0]))
        if len(yields) == 1:
            yield (most,)
            return
        for times in range(most, -1, -1):
            for others in candidates(short - times * yields[0], yields[1:]):
                yield (times, *others)

    for batch in candidates(short, yields):
        surplus = sum(n * made for n, made in zip(batch, yields, strict=True)) - short
        if all(made > surplus for n, made in zip(batch, yields, strict=True) if n):
            yield batch
