"""The admissible commands, made from the prompt's recipes and the inventory, never from the expert's plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from textcraft_gym.envs.textcraft import text
from textcraft_gym.recipes.book import Offer, RecipeBook
from textcraft_gym.recipes.recipe import Recipe, Slot


def admissible_gets(book: RecipeBook, shown: Iterable[Recipe]) -> list[str]:
    """Return a ``get`` for each item that the shown recipes take and that can be got, in the counts that they take."""
    slots = (slot for recipe in shown for slot in recipe.slots)
    items = ((item, slot.amount) for slot in slots for item in book.members[slot.ingredient])
    return list(dict.fromkeys(text.get(book, item, count) for item, count in items if item not in book.recipes))


def admissible_crafts(book: RecipeBook, shown: Iterable[Recipe], inventory: Mapping[str, int]) -> list[str]:
    """Return the shown crafts that would work now.

    A craft with a tag is listed once for each held item that fills its slot alone. With real tags, a slot that no held
    item fills alone is filled from several, in the order of the inventory.
    """
    offers = ((recipe, offer) for recipe in shown for offer in _offers(book, recipe, inventory))
    return list(dict.fromkeys(text.craft(book, recipe, offer) for recipe, offer in offers))


def possible_commands(book: RecipeBook, shown: Iterable[Recipe]) -> list[str]:
    """Return every command that ``admissible_gets`` and ``admissible_crafts`` can list; not with real tags."""
    shown = list(shown)
    # With plenty of every item, each shown recipe can be crafted in every way.
    everything = dict.fromkeys(book.names, 1 << 30)
    return [*admissible_gets(book, shown), *admissible_crafts(book, shown, everything)]


def _offers(book: RecipeBook, recipe: Recipe, inventory: Mapping[str, int]) -> Iterator[Offer]:
    choices = []
    for slot in recipe.slots:
        choices.append(_fillings(book, slot, inventory))
        if not choices[-1]:
            return
    for fillings in product(*choices):
        # Two slots may take the same item, so that the counts are added up before the inventory is checked.
        offer: dict[str, int] = {}
        for item, count in (taken for filling in fillings for taken in filling):
            offer[item] = offer.get(item, 0) + count
        if all(inventory[item] >= count for item, count in offer.items()):
            yield tuple(offer.items())


def _fillings(book: RecipeBook, slot: Slot, inventory: Mapping[str, int]) -> list[Offer]:
    members = book.members[slot.ingredient]
    held = [item for item in inventory if item in members]
    alone: list[Offer] = [((item, slot.amount),) for item in held if inventory[item] >= slot.amount]
    if alone or not book.mixes:
        return alone
    mixed, missing = [], slot.amount
    for item in held:
        taken = min(inventory[item], missing)
        if taken:
            mixed.append((item, taken))
            missing -= taken
    return [] if missing else [tuple(mixed)]
