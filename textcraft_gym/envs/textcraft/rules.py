"""The rules: the meaning of an action, and its effect on an inventory.

An inventory maps item ids to counts, in the order in which the items were first held. The meaning
of an action depends on the recipes alone and is computed once (``World.understand``); its effect
then takes a few look-ups (``apply``). ``apply`` never changes the inventory that it is given; an
action that does nothing gives the same one back.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

from textcraft_gym.envs.textcraft import text
from textcraft_gym.envs.textcraft.actions import Craft, Get, Look, WrongItem, parse
from textcraft_gym.envs.turn import Turn
from textcraft_gym.recipes.book import Offer, RecipeBook

Inventory: TypeAlias = dict[str, int]

NOT_GETTABLE = "not_gettable"
NOT_ENOUGH = "not_enough_items"
NO_RECIPE = "no_recipe"
WRONG_ITEM = "wrong_item_format"
UNKNOWN_ACTION = "unknown_action"
REASONS = (NOT_GETTABLE, NOT_ENOUGH, NO_RECIPE, WRONG_ITEM, UNKNOWN_ACTION)

_MEMOISED_LENGTH = 200
_MEMOISED_ACTIONS = 1 << 13


# A plain tuple, since to unpack a named one takes a twentieth of a step.
Move: TypeAlias = tuple[Offer, "tuple[str, int] | None", str, str, str]
"""The meaning of an action: ``takes, gives, answer, shortage, reason``.

- ``takes``: what must be held, and is used up if the move gives something.
- ``gives``: the item and count that is gained; None if the move never does anything.
- ``answer``: the observation if ``takes`` is held; empty for the inventory.
- ``shortage``: the observation if it is not.
- ``reason``: why the move never does anything, a code of ``REASONS``; empty if it can.
"""

LOOK: Move = ((), None, "", "", "")


class World:
    """The recipes of a game, and a cache of the meaning of actions; ``world_of`` makes it.

    Attributes:
        book: The recipes.
        understood: The meaning of actions, bounded in number and length.
    """

    def __init__(self, book: RecipeBook) -> None:
        self.book = book
        self.understood: dict[str, Move] = {}

    def __reduce__(self) -> Any:
        return world_of, (self.book,)

    def understand(self, action: str) -> Move:
        """Return the meaning of an action, any string; those of ordinary length are cached."""
        move = self.understood.get(action)
        if move is None:
            move = _understand(self.book, action)
            if len(action) <= _MEMOISED_LENGTH:
                if len(self.understood) >= _MEMOISED_ACTIONS:
                    self.understood.clear()
                self.understood[action] = move
        return move


@lru_cache(maxsize=64)
def world_of(book: RecipeBook) -> World:
    """Return the world of a book; environments with the same recipes share it."""
    return World(book)


def apply(
    world: World,
    inventory: Inventory,
    action: str,
) -> Turn[Inventory]:
    """Play an action; the state is the inventory."""
    # Looking here first saves a call at nearly every step.
    move = world.understood.get(action) or world.understand(action)
    takes, gives, answer, shortage, reason = move
    # As in the published game, what is held is checked before whether there is such a recipe.
    for item, count in takes:
        if inventory.get(item, 0) < count:
            return inventory, shortage, NOT_ENOUGH, ""
    if gives is None:
        return inventory, answer or text.inventory(world.book, inventory), reason, ""
    left = inventory.copy()
    # Items that are used up leave the inventory, so that they go to its end when they are held
    # again.
    for item, count in takes:
        remaining = left[item] - count
        if remaining:
            left[item] = remaining
        else:
            del left[item]

    gained, count = gives
    left[gained] = left.get(gained, 0) + count
    return left, answer, "", ""


def _understand(book: RecipeBook, command: str) -> Move:
    action = parse(command)
    if isinstance(action, Craft):
        return _craft(book, action)
    if isinstance(action, Get):
        return _get(book, action)
    if isinstance(action, Look):
        return LOOK
    if isinstance(action, WrongItem):
        return (), None, text.wrong_item(action.typed), "", WRONG_ITEM
    return (), None, text.unknown(action.typed), "", UNKNOWN_ACTION


def _get(book: RecipeBook, action: Get) -> Move:
    """Return the meaning of a ``get``: a base item can be got in any number."""
    item = book.ids.get(action.name)
    if item is None or item in book.recipes or not action.amount:
        return (), None, text.not_found(action.typed), "", NOT_GETTABLE
    return (), (item, action.amount), text.got(action.amount, action.typed), "", ""


def _craft(book: RecipeBook, action: Craft) -> Move:
    """Return the meaning of a ``craft``: exactly a recipe's ingredients make its own count."""
    output = text.item_id(book, action.output)
    offer = tuple([(book.ids.get(name, ""), count) for name, count in action.ingredients])
    shortage = text.not_enough(output)
    # An ingredient that is named twice fits no recipe.
    recipe = book.match(output, offer) if len(offer) == len(dict(offer)) else None
    if recipe is None:
        return offer, None, text.no_recipe(output), shortage, NO_RECIPE
    return offer, (output, recipe.makes), text.crafted(recipe.makes, output), shortage, ""
