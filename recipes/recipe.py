"""One crafting recipe, read from the JSON of a Minecraft data pack.

The two shapes that count are ``minecraft:crafting_shaped`` and ``minecraft:crafting_shapeless``, in
the spelling of Minecraft 1.14 to 1.21.1 (``{"item": ...}``) and in the later one
(``"minecraft:stick"``, ``"#minecraft:planks"``).
"""

from __future__ import annotations

import re
import reprlib
from collections import Counter
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from textcraft_gym.errors import TextCraftGymError

DEFAULT_NAMESPACE = "minecraft:"
_REFERENCE = re.compile(r"(?P<tag>#?)(?P<namespace>[a-z0-9_.-]+:)?(?P<path>[a-z0-9_./-]+)")
SHAPED, SHAPELESS = "minecraft:crafting_shaped", "minecraft:crafting_shapeless"
_MISSPELT = 0.95
"""Similarity from 0 to 1 above which a type is one of these with a slip; the game's others have 0.8
at most."""
SQUARES = 9
"""The squares of a crafting table, each with one item."""
MAX_MADE = 999
"""Largest result count; one slot of the game holds at most 99 of an item."""

Ingredient: TypeAlias = tuple[str, ...]
"""An ingredient: any one of these references fills it, each an item id or ``#`` and a tag id."""


class RecipeError(TextCraftGymError, ValueError):
    """A recipe or tag that cannot be used; the message names the file and the reason."""

    @classmethod
    def at(cls, file: str, reason: str) -> RecipeError:
        """Return the error of a file."""
        return cls(f"{file}: {reason}")


class Slot(NamedTuple):
    """An ingredient and the amount of it that one craft takes."""

    ingredient: Ingredient
    amount: int


class Recipe(NamedTuple):
    """``slots`` make ``makes`` of ``output``; ``group`` is the recipe book's, often empty."""

    id: str
    output: str
    makes: int
    group: str
    slots: tuple[Slot, ...]


def parse_reference(
    file: str,
    reference: object,
    *,
    tags: bool = True,
) -> str:
    """Return an id, or ``#`` and a tag's id, with its namespace: ``stick`` is ``minecraft:stick``.

    Raises:
        RecipeError: If it has letters that the game does not allow in an id, or is a tag where
            there can be none.
    """
    match = _REFERENCE.fullmatch(reference) if isinstance(reference, str) else None
    if not match or (match["tag"] and not tags):
        raise RecipeError.at(
            file,
            f"expected an id such as minecraft:stick, got {reprlib.repr(reference)}",
        )
    return f"{match['tag']}{match['namespace'] or DEFAULT_NAMESPACE}{match['path']}"


def name_of(reference: str) -> str:
    """Return the name a player reads: ``minecraft:oak_log`` is ``oak log``.

    Other namespaces stay in front.
    """
    return reference.removeprefix("#").removeprefix(DEFAULT_NAMESPACE).replace("_", " ")


def parse_recipe(
    id: str,
    file: str,
    data: dict[str, Any],
) -> Recipe | None:
    """Return the recipe that ``data`` describes, or None if it is not a crafting recipe.

    Raises:
        RecipeError: If it is one and its JSON is malformed, or its type is misspelt.
    """
    kind = data.get("type")
    if not isinstance(kind, str):
        raise RecipeError.at(file, "a recipe needs a type")
    shape = kind if ":" in kind else DEFAULT_NAMESPACE + kind
    if shape not in (SHAPED, SHAPELESS):
        if meant := _meant(shape):
            raise RecipeError.at(file, f"unknown type {kind!r}: did you mean {meant}?")
        return None
    amounts = _shaped(file, data) if shape == SHAPED else _shapeless(file, data)
    output, count = _result(file, data)
    slots = tuple(Slot(ingredient, amount) for ingredient, amount in amounts.items())
    group = data.get("group")
    return Recipe(id, output, count, group if isinstance(group, str) else "", slots)


@cache
def _meant(shape: str) -> str:
    """Return the type that a misspelt one of the game is meant to be; empty for any other."""
    if not shape.startswith(DEFAULT_NAMESPACE):
        return ""
    near = get_close_matches(shape, (SHAPED, SHAPELESS), n=1, cutoff=_MISSPELT)
    return near[0] if near else ""


def bare_ids(data: dict[str, Any]) -> set[str]:
    """Return the item ids of a recipe that are written without a namespace."""
    key = data.get("key")
    entries = [data.get("result"), data.get("ingredients")]
    entries += key.values() if isinstance(key, dict) else ()
    ids: set[str] = set()
    while entries:
        entry = entries.pop()
        if isinstance(entry, list):
            entries += entry
        elif isinstance(entry, dict):
            entries += [entry.get("item"), entry.get("id")]
        elif isinstance(entry, str) and not re.search("[#:]", entry):
            ids.add(entry)
    return ids


def _shaped(file: str, data: dict[str, Any]) -> Counter[Ingredient]:
    pattern, key = _pattern(file, data), data.get("key")
    if not isinstance(key, dict):
        raise RecipeError.at(file, "a shaped recipe needs a key")
    # A blank is an empty square.
    squares = "".join(pattern).replace(" ", "")
    if len(squares) > SQUARES or len(key) > SQUARES:
        raise RecipeError.at(
            file,
            f"expected at most {SQUARES} items in the pattern and in the key",
        )
    drawn = Counter(squares)
    odd = drawn.keys() ^ key.keys()
    if odd:
        symbols = ", ".join(sorted(map(reprlib.repr, odd)))
        raise RecipeError.at(file, f"pattern and key differ in symbols: {symbols}")
    amounts: Counter[Ingredient] = Counter()
    for symbol, entry in key.items():
        amounts[_ingredient(file, entry)] += drawn[symbol]
    if not amounts:
        raise RecipeError.at(file, "an empty pattern")
    return amounts


def _pattern(file: str, data: dict[str, Any]) -> list[str]:
    rows = data.get("pattern")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, str) for row in rows):
        raise RecipeError.at(file, "a shaped recipe needs a pattern, a list of rows")
    return rows


def _shapeless(file: str, data: dict[str, Any]) -> Counter[Ingredient]:
    entries = data.get("ingredients")
    if not isinstance(entries, list) or not entries:
        raise RecipeError.at(file, "a shapeless recipe needs a list of ingredients")
    if len(entries) > SQUARES:
        raise RecipeError.at(file, f"expected at most {SQUARES} ingredients, got {len(entries)}")
    return Counter(_ingredient(file, entry) for entry in entries)


def _ingredient(file: str, entry: object) -> Ingredient:
    entries = entry if isinstance(entry, list) else [entry]
    if not entries:
        raise RecipeError.at(file, "an ingredient with no alternatives")
    return tuple(dict.fromkeys(_reference(file, alternative) for alternative in entries))


def _reference(file: str, entry: object) -> str:
    if isinstance(entry, dict):
        if isinstance(entry.get("tag"), str):
            return parse_reference(file, f"#{entry['tag']}")
        return parse_reference(file, entry.get("item", entry), tags=False)
    return parse_reference(file, entry)


def _result(file: str, data: dict[str, Any]) -> tuple[str, int]:
    result = data.get("result")
    if isinstance(result, str):
        result = {"item": result}
    if not isinstance(result, dict):
        raise RecipeError.at(file, "a recipe needs a result")
    item, count = result.get("item", result.get("id")), result.get("count", 1)
    # Not isinstance: True is an int, too.
    if type(count) is not int or not 1 <= count <= MAX_MADE:
        raise RecipeError.at(
            file,
            f"expected a result count of 1 to {MAX_MADE}, got {reprlib.repr(count)}",
        )
    return parse_reference(file, item, tags=False), count
