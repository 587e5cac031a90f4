"""The rule book: what an action means, and what it does to an inventory.

An inventory maps item ids to counts, in the order in which the items were first held. What an action means depends on
the recipes alone and is worked out once (``understand``); what it does then takes a few look-ups (``apply``). ``apply``
never changes the inventory that it is given; an action that does nothing gives the same one back.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from textcraft_gym.envs.textcraft import text
from textcraft_gym.envs.textcraft.actions import Craft, Get, Look, WrongItem, parse
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


class Move(NamedTuple):
    """What an action means.

    Attributes:
        takes: What must be held, and is used up if the move gives something.
        gives: The item and count that is gained; None if the move never does anything.
        answer: The observation if ``takes`` is held.
        shortage: The observation if it is not.
        reason: Why the move never does anything, a code of ``REASONS``; empty if it can.
    """

    takes: Offer
    gives: tuple[str, int] | None
    answer: str
    shortage: str = ""
    reason: str = ""


LOOK = Move((), None, "")


def understand(book: RecipeBook, action: str) -> Move:
    """Return what an action means. Any string will do; equal strings of ordinary length are read once."""
    move: Move | None = book.memo.get(action)
    if move is None:
        move = _understand(book, action)
        if len(action) <= _MEMOISED_LENGTH:
            if len(book.memo) >= _MEMOISED_ACTIONS:
                book.memo.clear()
            book.memo[action] = move
    return move


def apply(book: RecipeBook, inventory: Inventory, move: Move) -> tuple[Inventory, str, str]:
    """Return the inventory afterwards, the observation, and why nothing happened, or an empty string."""
    takes, gives, answer, shortage, reason = move
    for item, count in takes:
        if inventory.get(item, 0) < count:
            return inventory, shortage, NOT_ENOUGH
    if gives is None:
        return inventory, answer or text.inventory(book, inventory), reason
    left = inventory.copy()
    for item, count in takes:
        left[item] -= count
        if not left[item]:
            del left[item]
    gained, count = gives
    left[gained] = left.get(gained, 0) + count
    return left, answer, ""


def _understand(book: RecipeBook, said: str) -> Move:
    action = parse(said)
    if isinstance(action, Craft):
        return _craft(book, action)
    if isinstance(action, Get):
        return _get(book, action)
    if isinstance(action, Look):
        return LOOK
    if isinstance(action, WrongItem):
        return Move((), None, text.wrong_item(action.said), reason=WRONG_ITEM)
    return Move((), None, text.unknown(action.said), reason=UNKNOWN_ACTION)


def _get(book: RecipeBook, action: Get) -> Move:
    """A base item can be got in any number."""
    item = book.ids.get(action.name)
    if item is None or item in book.recipes or not action.amount:
        return Move((), None, text.not_found(action.said), reason=NOT_GETTABLE)
    return Move((), (item, action.amount), text.got(action.amount, action.said))


def _craft(book: RecipeBook, action: Craft) -> Move:
    """The ingredients must be held, and be just what a recipe takes; then its own count is made."""
    output = text.item_id(book, action.output)
    offer = tuple((book.ids.get(name, ""), count) for name, count in action.ingredients)
    recipe = book.match(output, offer) if len(offer) == len(dict(offer)) else None
    if recipe is None:
        return Move(offer, None, text.no_recipe(output), text.not_enough(output), NO_RECIPE)
    return Move(offer, (output, recipe.makes), text.crafted(recipe.makes, output), text.not_enough(output))
