"""The recipe book: the recipes that count, craftable items, base items, and the members of each ingredient.

Two readings of the same files. ``tags="group"`` is the game that ADaPT's authors published: the first of several
alternatives counts, and the members of a tag are the craftable items whose recipes carry the tag's name as their group;
a tag without members is a plain item. ``tags="item"`` takes the game's own item tags and every alternative.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args
from weakref import WeakValueDictionary

from textcraft_gym.recipes.depth import recipe_depths
from textcraft_gym.recipes.pack import Pack, read_pack
from textcraft_gym.recipes.recipe import (
    DEFAULT_NAMESPACE,
    Ingredient,
    Recipe,
    RecipeError,
    Slot,
    name_of,
    parse_recipe,
    parse_reference,
)

Tags: TypeAlias = Literal["group", "item"]
Recipes: TypeAlias = dict[str, tuple[Recipe, ...]]
Offer: TypeAlias = tuple[tuple[str, int], ...]
"""Items and their counts, as a player names them for one craft."""


class RecipeBook:
    """Every recipe that counts, immutable once made.

    In one process there is one book of the same content: loading, copying or unpickling it again gives the same object,
    so that environments share it and everything that is cached for it.

    Attributes:
        tags: The reading of tags.
        recipes: The recipes of each craftable item, by item id, both in the order of their ids.
        members: The items that fill each ingredient.
        base_items: The items that can be got, sorted.
        names: The name that a player reads for each item id.
        ids: The item id behind each name.
    """

    def __init__(
        self, recipes: Recipes, members: Mapping[Ingredient, tuple[str, ...]], items: Iterable[str], tags: Tags
    ) -> None:
        self.tags: Tags = tags
        self.recipes = recipes
        self.members = members
        self.names = {item: name_of(item) for item in sorted(items)}
        self.ids = {name: item for item, name in self.names.items()}
        self.base_items = tuple(item for item in self.names if item not in recipes)

    def __copy__(self) -> RecipeBook:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> RecipeBook:
        return self

    def __reduce__(self) -> Any:
        return _only, (self.recipes, self.members, tuple(self.names), self.tags)

    @classmethod
    def load(cls, path: str | Path | None = None, *, tags: Tags = "group") -> RecipeBook:
        """Load a bundle, a data-pack folder, a zip or a game jar; by default the bundled recipes of Minecraft 1.16.5.

        Raises:
            RecipeError: With the file and the reason, if a file is malformed, a tag is unknown, or items can only be
                made from one another. There is no half-loaded book.
        """
        if tags not in get_args(Tags):
            raise ValueError(f"expected tags in {', '.join(get_args(Tags))}, got {tags!r}")
        return _bundled(tags) if path is None else _read(read_pack(path), tags)

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of the content, the same on every machine."""
        content = (self.tags, list(self.recipes.items()), list(self.members.items()), list(self.names))
        return hashlib.sha256(repr(content).encode()).hexdigest()

    @property
    def mixes(self) -> bool:
        """True if one slot takes a mix of the members of its tag."""
        return self.tags == "item"

    @cached_property
    def depths(self) -> dict[str, int]:
        """The depth of each craftable item; a base item has depth 0 and is not listed."""
        return recipe_depths(self.recipes, self.members.__getitem__)

    def tree(self, goal: str) -> tuple[str, ...]:
        """Return the craftable items in the goal's tree, the goal first: all alternatives and all members of tags."""
        reached = {goal: None}
        pending = deque([goal])
        while pending:
            for recipe in self.recipes.get(pending.popleft(), ()):
                for slot in recipe.slots:
                    new = [m for m in self.members[slot.ingredient] if m in self.recipes and m not in reached]
                    reached.update(dict.fromkeys(new))
                    pending.extend(new)
        return tuple(reached)

    def match(self, output: str, offer: Offer) -> Recipe | None:
        """Return the recipe for ``output`` with exactly the offered ingredients, of several the one that makes most."""
        return _match(self, output, offer)


_books: WeakValueDictionary[str, RecipeBook] = WeakValueDictionary()


def _only(
    recipes: Recipes, members: Mapping[Ingredient, tuple[str, ...]], items: Iterable[str], tags: Tags
) -> RecipeBook:
    """Return the one book of this content."""
    book = RecipeBook(recipes, members, items, tags)
    return _books.setdefault(book.fingerprint, book)


def name_of_ingredient(ingredient: Ingredient) -> str:
    """Return the player's name of an ingredient: ``oak planks``, ``planks``, ``coal or charcoal``."""
    return " or ".join(name_of(reference) for reference in ingredient)


@lru_cache(maxsize=1 << 13)
def _match(book: RecipeBook, output: str, offer: Offer) -> Recipe | None:
    fitting = [recipe for recipe in book.recipes.get(output, ()) if _fills(book, offer, recipe.slots)]
    return max(fitting, key=lambda recipe: recipe.makes, default=None)


def _fills(book: RecipeBook, offer: Offer, slots: tuple[Slot, ...]) -> bool:
    """Return whether exactly the offer fills the slots: each from one item, or from a mix if the book mixes."""
    if not offer:
        return not slots
    # Backtracking: assign the first offered item to each slot that takes it, and fill the others with the rest.
    (item, held), others = offer[0], offer[1:]
    for index, (ingredient, count) in enumerate(slots):
        if item not in book.members[ingredient]:
            continue
        amounts: Iterable[int] = range(min(held, count), 0, -1) if book.mixes else [count] if count <= held else []
        for amount in amounts:
            unfilled = (Slot(ingredient, count - amount),) if amount < count else ()
            unused = ((item, held - amount), *others) if amount < held else others
            if _fills(book, unused, slots[:index] + unfilled + slots[index + 1 :]):
                return True
    return False


@lru_cache
def _bundled(tags: Tags) -> RecipeBook:
    return _read(read_pack(), tags)


def _read(pack: Pack, tags: Tags) -> RecipeBook:
    """Return the book of a pack, by these rules in order: the two shapes, duplicates, the block rule, tags, cycles."""
    written = _crafting_recipes(pack, tags)
    packed = _without_unpacking(written, tags)
    members = _members(written, packed, pack, tags)
    recipes = _without_cycles(packed, members, pack)
    items = {recipe.output for recipe in written}.union(*members.values())
    return _only(recipes, members, items, tags)


def _crafting_recipes(pack: Pack, tags: Tags) -> list[Recipe]:
    """Return the crafting recipes in the order of their ids, without exact duplicates."""
    distinct: dict[tuple[object, ...], Recipe] = {}
    for id, (file, data) in pack.recipes.items():
        recipe = parse_recipe(id, file, data)
        if recipe:
            recipe = _first_alternatives(recipe) if tags == "group" else recipe
            distinct.setdefault((recipe.output, recipe.makes, recipe.slots), recipe)
    if not distinct:
        raise RecipeError(pack.origin, "no recipe for a crafting table")
    return list(distinct.values())


def _first_alternatives(recipe: Recipe) -> Recipe:
    # Slots with different alternatives may have the same first one: their amounts are added.
    amounts: Counter[Ingredient] = Counter()
    for ingredient, count in recipe.slots:
        amounts[ingredient[:1]] += count
    return recipe._replace(slots=tuple(Slot(*amount) for amount in amounts.items()))


def _without_unpacking(recipes: list[Recipe], tags: Tags) -> list[Recipe]:
    """Drop recipes that only take a block apart; with item tags, only where the block is made of the output."""
    made_of = {(recipe.output, slot.ingredient) for recipe in recipes for slot in recipe.slots}

    def unpacks(recipe: Recipe) -> bool:
        blocks = [name for name in recipe.slots[0].ingredient if name.endswith("_block")]
        if len(recipe.slots) > 1:
            return False
        return bool(blocks) if tags == "group" else any((block, (recipe.output,)) in made_of for block in blocks)

    return [recipe for recipe in recipes if not unpacks(recipe)]


def _members(
    written: Iterable[Recipe], kept: Iterable[Recipe], pack: Pack, tags: Tags
) -> dict[Ingredient, tuple[str, ...]]:
    """Return the items that fill each ingredient of the recipes in the files."""
    groups: dict[str, list[str]] = {}
    for recipe in kept:
        groups.setdefault(f"#{DEFAULT_NAMESPACE}{recipe.group}", []).append(recipe.output)

    def items(reference: str, file: str) -> list[str]:
        if not reference.startswith("#"):
            return [reference]
        if tags == "group":
            # This reading needs no tag files; but in a pack that has some, a missing one is an error.
            if pack.tags:
                tag_items(pack, reference, file)
            return sorted(set(groups.get(reference, ()))) or [reference[1:]]
        return tag_items(pack, reference, file)

    members: dict[Ingredient, tuple[str, ...]] = {}
    for recipe in written:
        file = pack.recipes[recipe.id].file
        for ingredient, _ in recipe.slots:
            filled = (item for reference in ingredient for item in items(reference, file))
            members[ingredient] = tuple(dict.fromkeys(filled))
    return members


def tag_items(pack: Pack, tag: str, file: str, outer: tuple[str, ...] = ()) -> list[str]:
    """Return the items of a tag in the order of its file, including those of nested tags.

    Raises:
        RecipeError: If the tag is unknown, empty, malformed or contains itself.
    """
    if tag in outer:
        raise RecipeError(file, f"the tag {tag} contains itself")
    if tag[1:] not in pack.tags:
        raise RecipeError(file, f"unknown tag {tag}")
    file, data = pack.tags[tag[1:]]
    items: list[str] = []
    for value in data["values"]:
        # Since Minecraft 1.16.2 an entry may also be {"id": ..., "required": ...}.
        optional = isinstance(value, dict) and value.get("required") is False
        reference = parse_reference(file, value.get("id") if isinstance(value, dict) else value)
        if not reference.startswith("#"):
            items.append(reference)
        elif reference[1:] in pack.tags or not optional:
            items += tag_items(pack, reference, file, (*outer, tag))
    if not items:
        raise RecipeError(file, "a tag without items")
    return items


def _without_cycles(kept: list[Recipe], members: Mapping[Ingredient, tuple[str, ...]], pack: Pack) -> Recipes:
    """Drop the compressing recipe (many into few) of each pair of items that can only be made of each other.

    Raises:
        RecipeError: If items remain that no base item leads to.
    """
    made_of = {(recipe.output, slot.ingredient) for recipe in kept for slot in recipe.slots}
    stuck = _underivable(_by_output(kept), members)

    def compresses(recipe: Recipe) -> bool:
        ((part, *_), count), *others = recipe.slots
        # ``part`` is made of the output as well: one of the pair must be given up.
        mutual = recipe.output in stuck and part in stuck and (part, (recipe.output,)) in made_of
        return mutual and not others and count > recipe.makes

    recipes = _by_output(recipe for recipe in kept if not compresses(recipe))
    stuck = _underivable(recipes, members)
    if stuck:
        cycle = _cycle(recipes, members, stuck)
        file = pack.recipes[recipes[cycle[0]][0].id].file
        raise RecipeError(file, f"these items can only be made of one another: {' <- '.join(cycle)}")
    return recipes


def _underivable(recipes: Recipes, members: Mapping[Ingredient, tuple[str, ...]]) -> set[str]:
    return recipes.keys() - recipe_depths(recipes, members.__getitem__).keys()


def _cycle(recipes: Recipes, members: Mapping[Ingredient, tuple[str, ...]], stuck: set[str]) -> list[str]:
    """Follow the underivable ingredients, from the first underivable item until one comes back."""
    path = [min(stuck)]
    while path[-1] not in path[:-1]:
        fillings = (members[slot.ingredient] for slot in recipes[path[-1]][0].slots)
        path.append(next(items[0] for items in fillings if stuck.issuperset(items)))
    return path[path.index(path[-1]) :]


def _by_output(recipes: Iterable[Recipe]) -> Recipes:
    grouped: dict[str, tuple[Recipe, ...]] = {}
    for recipe in sorted(recipes, key=lambda recipe: (recipe.output, recipe.id)):
        grouped[recipe.output] = (*grouped.get(recipe.output, ()), recipe)
    return grouped
