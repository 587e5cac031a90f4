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
from textcraft_gym.recipes.recipe import Ingredient, Recipe

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
            ways = self._ways(action.output)
            return f"These ingredients do not make {_brief(action.output)}. {ways}"
        if reason == WRONG_ITEM and isinstance(action, WrongItem):
            typed = _brief(action.typed)
            return f"Each ingredient is a number of 1 to {MAX_COUNT} and an item: {typed!r} is not."
        return FORMS

    def _not_gettable(self, action: Get) -> str:
        item = self.book.ids.get(action.name)
        if item is None:
            return self._kind(action.name) or f"There is no item called {_brief(action.name)!r}."
        if item in self.book.recipes:
            ways = self._ways(action.name)
            return f"{self.book.names[item]} cannot be got, it must be crafted. {ways}"
        return f"The number must be 1 to {MAX_COUNT}."

    def _shortages(self, action: Craft) -> Iterator[str]:
        for name, count in action.ingredients:
            item = self.book.ids.get(name)
            if item is None:
                unknown = f"There is no item called {_brief(name)!r}: name one that you can hold."
                yield self._kind(name) or unknown
                continue
            held = self.inventory.get(item, 0)
            if held < count:
                yield f"You need {count} {name} and hold {held}."

    def _ways(self, name: str) -> str:
        """Return the commands of the prompt that make an item."""
        lines = []
        for recipe in self.shown:
            if self.book.names[recipe.output] == name:
                lines.append(text.command(self.book, recipe))
        if lines:
            return f"It is made by: {'; '.join(lines)}."
        return self._kind(name) or "No command of the prompt makes it."

    def _kind(self, name: str) -> str:
        """Explain a name of several items, such as planks, by some of them; else return nothing."""
        if name in self.book.ids:
            return ""
        for recipe in self.shown:
            for ingredient, _ in recipe.slots:
                if name_of_ingredient(ingredient) == name:
                    examples = self._examples(ingredient)
                    such = f", such as {', '.join(examples)}" if examples else ""
                    return f"{name} is a kind of item: name one of that kind{such}."
        return ""

    def _examples(self, ingredient: Ingredient) -> list[str]:
        """Return the names of a few items that fill an ingredient and that the prompt names."""
        members = self.book.members[ingredient]
        # With real tags the prompt lists the members of each.
        if not self.book.mixes:
            named: set[str] = set()
            for recipe in self.shown:
                named.add(recipe.output)
                named.update(*(slot.ingredient for slot in recipe.slots))
            members = tuple(item for item in members if item in named)
        return [self.book.names[item] for item in members[:MAX_EXAMPLES]]


def _brief(name: str) -> str:
    return name[: text.ECHO_LENGTH]
