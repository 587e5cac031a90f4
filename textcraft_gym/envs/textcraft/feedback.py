"""Explains in words why an action did nothing, using only information that the player has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from textcraft_gym.envs.textcraft import text
from textcraft_gym.envs.textcraft.actions import MAX_COUNT, Craft, Get, WrongItem, parse
from textcraft_gym.envs.textcraft.rules import (
    NO_RECIPE,
    NOT_ENOUGH,
    NOT_GETTABLE,
    WRONG_ITEM,
    Inventory,
)
from textcraft_gym.recipes.book import RecipeBook, name_of_ingredient
from textcraft_gym.recipes.recipe import Recipe

MAX_EXAMPLES = 3
"""Maximum number of items that are named as examples of a kind."""
FORMS = "Actions are: get N ITEM; craft N ITEM using N ITEM, N ITEM; inventory."


@dataclass(frozen=True)
class Feedback:
    """Explains actions to a player.

    Attributes:
        book: The recipes of the game.
        shown: The recipes of the prompt.
        inventory: The items that the player holds.
    """

    book: RecipeBook
    shown: Iterable[Recipe]
    inventory: Inventory

    def explain(self, command: str, reason: str) -> str:
        """Explain why a command did nothing, given its code of ``rules.REASONS``."""
        action = parse(command)
        if reason == NOT_GETTABLE and isinstance(action, Get):
            return self._not_gettable(action)
        if reason == NOT_ENOUGH and isinstance(action, Craft):
            return " ".join(self._shortages(action))
        if reason == NO_RECIPE and isinstance(action, Craft):
            return f"These ingredients do not make {_brief(action.output)}. {self._ways(action.output)}"
        if reason == WRONG_ITEM and isinstance(action, WrongItem):
            return f"Each ingredient is a number of 1 to {MAX_COUNT} and an item: {_brief(action.typed)!r} is not."
        return FORMS

    def _not_gettable(self, action: Get) -> str:
        item = self.book.ids.get(action.name)
        if item is None:
            return self._kind(action.name) or f"There is no item called {_brief(action.name)!r}."
        if item in self.book.recipes:
            return f"{self.book.names[item]} cannot be got, it must be crafted. {self._ways(action.name)}"
        return f"The number must be 1 to {MAX_COUNT}."

    def _shortages(self, action: Craft) -> Iterator[str]:
        for name, count in action.ingredients:
            item = self.book.ids.get(name)
            held = self.inventory.get(item, 0) if item else 0
            if item is None:
                yield (
                    self._kind(name)
                    or f"There is no item called {_brief(name)!r}: name one that you can hold."
                )
            elif held < count:
                yield f"You need {count} {name} and hold {held}."

    def _ways(self, name: str) -> str:
        """Return the commands of the prompt that make an item."""
        lines = [
            text.command(self.book, recipe)
            for recipe in self.shown
            if self.book.names[recipe.output] == name
        ]
        if lines:
            return f"It is made by: {'; '.join(lines)}."
        return self._kind(name) or "No command of the prompt makes it."

    def _kind(self, name: str) -> str:
        """Explain a name that stands for several items, such as planks, by some that the prompt names; else empty."""
        slots = [slot for recipe in self.shown for slot in recipe.slots]
        kinds = [slot.ingredient for slot in slots if name_of_ingredient(slot.ingredient) == name]
        if not kinds or name in self.book.ids:
            return ""
        members = self.book.members[kinds[0]]
        named = {recipe.output for recipe in self.shown}.union(*(slot.ingredient for slot in slots))
        # With real tags the prompt lists the members of each.
        examples = [self.book.names[item] for item in members if self.book.mixes or item in named][
            :MAX_EXAMPLES
        ]
        such = f", such as {', '.join(examples)}" if examples else ""
        return f"{name} is a kind of item: name one of that kind{such}."


def _brief(name: str) -> str:
    return name[: text.ECHO_LENGTH]
