"""Every word that the player reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from textcraft_gym.recipes.book import Offer, RecipeBook, name_of_ingredient
from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE, Ingredient, Recipe

ECHO_LENGTH = 200
"""Maximum number of characters of an action that an answer repeats."""
EMPTY_HANDED = "Inventory: You are not carrying anything."
_MAX_ENTRIES = 1 << 14


def command(book: RecipeBook, recipe: Recipe) -> str:
    """Return the line of the prompt for a recipe: ``craft 4 stick using 2 planks``."""
    parts = [f"{count} {name_of_ingredient(ingredient)}" for ingredient, count in recipe.slots]
    return f"craft {recipe.makes} {book.names[recipe.output]} using {', '.join(parts)}"


def craft(book: RecipeBook, recipe: Recipe, using: Offer) -> str:
    """Return the action that crafts a recipe: ``craft 4 stick using 2 oak planks``."""
    ingredients = ", ".join(f"{count} {book.names[item]}" for item, count in using)
    return f"craft {recipe.makes} {book.names[recipe.output]} using {ingredients}"


def get(book: RecipeBook, item: str, count: int) -> str:
    """Return the action that gets a base item."""
    return f"get {count} {book.names[item]}"


def legend(book: RecipeBook, ingredient: Ingredient) -> str:
    """Return the line that lists the members of a tag: ``planks: oak planks, spruce planks``."""
    members = ", ".join(book.names[item] for item in book.members[ingredient])
    return f"{name_of_ingredient(ingredient)}: {members}"


def prompt(
    commands: Iterable[str],
    legends: Iterable[str],
    goal: str,
) -> str:
    """Return the text of a reset."""
    paragraphs = [
        "Crafting commands:\n" + "\n".join(commands),
        "\n".join(legends),
        f"Goal: craft {goal}.",
    ]
    return "\n\n".join(filter(None, paragraphs))


def inventory(book: RecipeBook, held: Mapping[str, int]) -> str:
    """Return the inventory in the order in which items were first held."""
    if not held:
        return EMPTY_HANDED
    # The blank after the last entry is the published game's.
    return "Inventory: " + "".join(map(_entries(book).__getitem__, held.items()))


def got(count: int, typed: str) -> str:
    """Answer a ``get`` that worked."""
    return f"Got {count} {typed}"


def not_found(typed: str) -> str:
    """Answer a ``get`` of an item that cannot be got."""
    return f"Could not find {typed[:ECHO_LENGTH]}"


def crafted(count: int, item: str) -> str:
    """Answer a ``craft`` that worked."""
    # By its id, as in the published game, though the player writes names.
    return f"Crafted {count} {item}"


def not_enough(item: str) -> str:
    """Answer a ``craft`` whose ingredients are not all held."""
    return f"Could not find enough items to craft {item}"


def no_recipe(item: str) -> str:
    """Answer a ``craft`` that no recipe allows."""
    return f"Could not find a valid recipe for {item}"


def wrong_item(typed: str) -> str:
    """Answer a ``craft`` with an ingredient that is not a count and a name."""
    return f"Wrong item format: {typed[:ECHO_LENGTH]}"


def unknown(typed: str) -> str:
    """Answer text that is not an action."""
    return f"Could not execute {typed[:ECHO_LENGTH]}"


class _Entries(dict[tuple[str, int], str]):
    """The inventory entry of an item and its count, ``[oak planks] (4) ``; the first are cached.

    Looking is frequent, and joining finished entries takes a third of the time of formatting them.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self.names = names

    def __missing__(self, held: tuple[str, int]) -> str:
        item, count = held
        entry = f"[{self.names[item]}] ({count}) "
        if len(self) < _MAX_ENTRIES:
            self[held] = entry
        return entry


@lru_cache(maxsize=64)
def _entries(book: RecipeBook) -> _Entries:
    return _Entries(book.names)


def item_id(book: RecipeBook, name: str) -> str:
    """Return the id behind a name, or for an unknown name, the id it would have."""
    return book.ids.get(name) or DEFAULT_NAMESPACE + name[:ECHO_LENGTH].replace(" ", "_")
