"""The admissible commands, made from the prompt's recipes and the inventory alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from textcraft_gym.envs.textcraft import text
from textcraft_gym.recipes.book import Offer, RecipeBook
from textcraft_gym.recipes.layout import layout_of
from textcraft_gym.recipes.recipe import Recipe, Slot


def useful_gets(book: RecipeBook, shown: Sequence[Recipe]) -> Offer:
    """Return each base item that the shown recipes take, with each count that is of use.

    These are the counts in which a recipe takes the item, and the whole counts: what one craft of a
    shown recipe takes in all, where its ingredients are made from the item by other shown recipes.
    """
    # A dict, since it keeps the order.
    gets: dict[tuple[str, int], None] = {}
    for recipe in shown:
        for slot in recipe.slots:
            for item in book.members[slot.ingredient]:
                if item not in book.recipes:
                    gets[item, slot.amount] = None

    ids = {recipe.id for recipe in shown}
    for recipe in shown:
        for whole in _wholes(book, recipe):
            if whole.through <= ids:
                gets[whole.item, whole.amount] = None
    return tuple(gets)


def admissible_gets(book: RecipeBook, gets: Offer) -> list[str]:
    """Return the commands that get these items."""
    return [text.get(book, item, count) for item, count in gets]


def admissible_crafts(
    book: RecipeBook,
    shown: Iterable[Recipe],
    inventory: Mapping[str, int],
) -> list[str]:
    """Return the shown crafts that would work now.

    A craft with a tag is listed once for each held item that fills its slot alone. With real tags,
    a slot that no held item fills alone is filled from several, in the order of the inventory.
    """
    commands: dict[str, None] = {}
    for recipe in shown:
        for offer in offers(book, recipe, inventory):
            commands[text.craft(book, recipe, offer)] = None
    return list(commands)


def possible_commands(book: RecipeBook, shown: Iterable[Recipe]) -> list[str]:
    """Return every get and craft that can be listed where some of these recipes are shown.

    Not for real tags.
    """
    shown = list(shown)
    # With plenty of every item, each shown recipe can be crafted in every way.
    everything = dict.fromkeys(book.names, 1 << 30)
    return [
        *admissible_gets(book, useful_gets(book, shown)),
        *admissible_crafts(book, shown, everything),
    ]


class _Whole(NamedTuple):
    """What one craft takes of an item to get, by way of the recipes ``through``."""

    item: str
    amount: int
    through: frozenset[str]


class _Tree:
    """What a recipe is made of, down to the items to get.

    Attributes:
        recipe: The recipe.
        bottom: The items to get from which each item of the tree can be made; itself, if it can be
            got.
    """

    def __init__(self, book: RecipeBook, recipe: Recipe) -> None:
        self.book = book
        self.recipe = recipe
        # Items before their ingredients; what could only be made back from itself comes before, and
        # is left out below.
        self._index = layout_of(book, recipe.output).index_of
        self.bottom: dict[str, dict[str, None]] = {}
        for item in reversed([node for node in self._index if isinstance(node, str)]):
            makers = book.recipes.get(item)
            self.bottom[item] = self._below(makers) if makers else {item: None}

    def wholes(self) -> Iterator[_Whole]:
        """Yield how much of each item to get one craft takes if all that can be is made of it."""
        for item in self._below([self.recipe]):
            yield self._whole(item)

    def _whole(self, base: str) -> _Whole:
        need: Counter[str] = Counter()
        through: list[str] = []
        maker, times = self.recipe, 1
        while True:
            self._take(maker, times, base, need)
            made = [item for item in need if item != base]
            if not made:
                return _Whole(base, need[base], frozenset(through))
            # In the order of the tree, so that all demand for an item is known when it is made.
            item = min(made, key=self._index.__getitem__)
            maker = self._maker(item, base)
            times = -(-need.pop(item) // maker.makes)  # rounded up
            through.append(maker.id)

    def _take(
        self,
        maker: Recipe,
        times: int,
        base: str,
        need: Counter[str],
    ) -> None:
        """Add what a recipe takes: in each slot, the first item that can be made from ``base``."""
        for slot in maker.slots:
            for item in self._members(maker, slot):
                if base in self.bottom[item]:
                    need[item] += times * slot.amount
                    break

    def _maker(self, item: str, base: str) -> Recipe:
        """Return the first recipe that makes an item from ``base``."""
        return next(maker for maker in self.book.recipes[item] if base in self._below([maker]))

    def _below(self, makers: Iterable[Recipe]) -> dict[str, None]:
        """Return the items to get below these recipes, in the order of their slots."""
        bottom: dict[str, None] = {}
        for maker in makers:
            for slot in maker.slots:
                for item in self._members(maker, slot):
                    bottom.update(self.bottom[item])
        return bottom

    def _members(self, maker: Recipe, slot: Slot) -> list[str]:
        """Return the items that fill a slot and come after what it makes."""
        index = self._index
        return [
            item for item in self.book.members[slot.ingredient] if index[item] > index[maker.output]
        ]


@lru_cache(maxsize=1 << 13)
def _wholes(book: RecipeBook, recipe: Recipe) -> tuple[_Whole, ...]:
    return tuple(_Tree(book, recipe).wholes())


def offers(
    book: RecipeBook,
    recipe: Recipe,
    inventory: Mapping[str, int],
) -> Iterator[Offer]:
    """Yield the ways to fill a recipe that are listed."""
    choices = []
    for slot in recipe.slots:
        choices.append(_fillings(book, slot, inventory))
        if not choices[-1]:
            return

    for fillings in product(*choices):
        # Two slots may take the same item, so that the counts are added up before the inventory is
        # checked.
        offer: dict[str, int] = {}
        for filling in fillings:
            for item, count in filling:
                offer[item] = offer.get(item, 0) + count
        if all(inventory[item] >= count for item, count in offer.items()):
            yield tuple(offer.items())


def _fillings(
    book: RecipeBook,
    slot: Slot,
    inventory: Mapping[str, int],
) -> list[Offer]:
    members = book.members[slot.ingredient]
    held = [item for item in inventory if item in members]
    # Kinds are mixed only where none is enough by itself, and the book allows it.
    alone: list[Offer] = [((item, slot.amount),) for item in held if inventory[item] >= slot.amount]
    if alone or not book.mixes:
        return alone
    mixed, missing = [], slot.amount
    for item in held:
        taken = min(inventory[item], missing)
        if taken:
            mixed.append((item, taken))
            missing -= taken

    if missing:
        return []
    return [tuple(mixed)]
