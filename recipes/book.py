"""The recipes that count, craftable items, base items, and the members of each ingredient.

Two readings of the same files. ``tags="group"`` is the game that ADaPT's authors published: the
first of several alternatives counts, and the members of a tag are the craftable items whose recipes
carry the tag's name as their group; a tag without members is a plain item. ``tags="item"`` takes
the game's own item tags and every alternative.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args
from weakref import WeakValueDictionary

from textcraft_gym.recipes.components import strong_components
from textcraft_gym.recipes.depth import recipe_depths
from textcraft_gym.recipes.made import is_made, open_pack
from textcraft_gym.recipes.pack import MOST_LISTED, Pack, listed, read_pack
from textcraft_gym.recipes.recipe import (
    DEFAULT_NAMESPACE,
    Ingredient,
    Recipe,
    RecipeError,
    Slot,
    bare_ids,
    name_of,
    parse_recipe,
    parse_reference,
)

Tags: TypeAlias = Literal["group", "item"]
Recipes: TypeAlias = dict[str, tuple[Recipe, ...]]
Offer: TypeAlias = tuple[tuple[str, int], ...]
"""Items and their counts, as a player names them for one craft."""
NO_TABLE = "no recipe for a crafting table"


class RecipeBook:
    """Every recipe that counts, immutable once made.

    In one process there is one book of the same content: loading, copying or unpickling it again
    gives the same object, so that environments share it and everything that is cached for it.

    Attributes:
        tags: The reading of tags.
        recipes: The recipes of each craftable item, by item id, both in the order of their ids.
        members: The items that fill each ingredient.
        base_items: The items that can be got, sorted.
        names: The name that a player reads for each item id.
        ids: The item id behind each name.
    """

    def __init__(
        self,
        recipes: Recipes,
        members: Mapping[Ingredient, tuple[str, ...]],
        items: Iterable[str],
        tags: Tags,
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
    def load(
        cls,
        path: str | Path | None = None,
        *,
        tags: Tags = "group",
    ) -> RecipeBook:
        """Load a bundle, a data-pack folder, a zip or a game jar; by default Minecraft 1.16.5.

        ``made:depth=8,items=400,seed=3`` stands for recipes that are made for this; see
        ``made.MadeRecipes``.

        A recipe that cannot be read, such as one that takes a tag of another pack, is skipped; each
        of the first has a warning, and one counts the others. Of items that can only be made of one
        another, one can be got, and a warning names them.

        Raises:
            RecipeError: With the place and the reason, if no recipe for a crafting table can be
                read.
            UnknownName: For an option of made recipes that does not exist.
        """
        if tags not in get_args(Tags):
            raise ValueError(f"expected tags in {', '.join(get_args(Tags))}, got {tags!r}")
        if path is None or is_made(path):
            return _kept(None if path is None else str(path), tags)
        return _read(read_pack(path), tags)

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of the content, the same on every machine."""
        content = (
            self.tags,
            list(self.recipes.items()),
            list(self.members.items()),
            list(self.names),
        )
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
        """Return the craftable items in the goal's tree, the goal first.

        The tree contains all alternatives and all members of tags.
        """
        reached = {goal: None}
        pending = deque([goal])
        while pending:
            item = pending.popleft()
            for recipe in self.recipes.get(item, ()):
                for slot in recipe.slots:
                    for member in self.members[slot.ingredient]:
                        if member in self.recipes and member not in reached:
                            reached[member] = None
                            pending.append(member)
        return tuple(reached)

    def match(self, output: str, offer: Offer) -> Recipe | None:
        """Return the recipe that crafts ``output`` from exactly the offer.

        Of several, return the one that makes most; None if there is none.
        """
        return _match(self, output, offer)


_books: WeakValueDictionary[str, RecipeBook] = WeakValueDictionary()


def _only(
    recipes: Recipes,
    members: Mapping[Ingredient, tuple[str, ...]],
    items: Iterable[str],
    tags: Tags,
) -> RecipeBook:
    """Return the one book of this content."""
    book = RecipeBook(recipes, members, items, tags)
    return _books.setdefault(book.fingerprint, book)


def left_out(pack: Pack, book: RecipeBook) -> dict[str, list[str]]:
    """Return the ids of a pack's crafting recipes that do not count in its book, by the reason."""
    used = {recipe.id for recipes in book.recipes.values() for recipe in recipes}
    reasons: dict[str, list[str]] = {}
    for id, recipe in _parsed(pack, book.tags):
        if isinstance(recipe, RecipeError):
            reasons.setdefault("cannot be read", []).append(id)
        elif _takes_its_output(recipe):
            reasons.setdefault("takes what it makes", []).append(id)
        elif id not in used:
            reasons.setdefault("repeats or undoes another", []).append(id)
    return reasons


def name_of_ingredient(ingredient: Ingredient) -> str:
    """Return the name of an ingredient: ``oak planks``, ``planks``, ``coal or charcoal``."""
    return " or ".join(name_of(reference) for reference in ingredient)


@lru_cache(maxsize=1 << 13)
def _match(book: RecipeBook, output: str, offer: Offer) -> Recipe | None:
    best = None
    for recipe in book.recipes.get(output, ()):
        makes_more = best is None or recipe.makes > best.makes
        if makes_more and _fills(book, offer, recipe.slots):
            best = recipe
    return best


def _fills(
    book: RecipeBook,
    offer: Offer,
    slots: tuple[Slot, ...],
) -> bool:
    """Return whether exactly the offer fills the slots.

    One item fills a slot, or a mix of items if the book mixes.
    """
    if not offer:
        return not slots
    # Backtracking: assign the first offered item to each slot that takes it, and fill the others
    # with the rest.
    (item, held), others = offer[0], offer[1:]
    for index, (ingredient, count) in enumerate(slots):
        if item not in book.members[ingredient]:
            continue
        amounts: Iterable[int] = ()
        if book.mixes:
            amounts = range(min(held, count), 0, -1)
        elif count <= held:
            amounts = (count,)
        for amount in amounts:
            unfilled = (Slot(ingredient, count - amount),) if amount < count else ()
            unused = ((item, held - amount), *others) if amount < held else others
            if _fills(book, unused, slots[:index] + unfilled + slots[index + 1 :]):
                return True
    return False


@lru_cache(maxsize=64)
def _kept(recipes: str | None, tags: Tags) -> RecipeBook:
    return _read(open_pack(recipes), tags)


def _read(pack: Pack, tags: Tags) -> RecipeBook:
    """Return the book of a pack.

    The rules apply in this order: the two shapes, duplicates, loops, blocks, tags, cycles.
    """
    written = _crafting_recipes(pack, tags)
    _report_bare(pack, written)
    packed = _without_unpacking(
        [recipe for recipe in written if not _takes_its_output(recipe)],
        tags,
    )
    members = _members(written, packed, pack, tags)
    recipes = _without_cycles(packed, members, pack)
    items = {recipe.output for recipe in written}.union(*members.values())
    return _only(recipes, members, items, tags)


def _crafting_recipes(pack: Pack, tags: Tags) -> list[Recipe]:
    """Return the crafting recipes in the order of their ids, each different one once.

    A recipe that cannot be read is skipped with a warning.
    """
    distinct: dict[tuple[object, ...], Recipe] = {}
    skipped = [*pack.skipped]
    for _, recipe in _parsed(pack, tags):
        if isinstance(recipe, RecipeError):
            skipped.append(recipe)
        else:
            distinct.setdefault((recipe.output, recipe.makes, recipe.slots), recipe)

    _report_skipped(pack.origin, skipped, any_read=bool(distinct))
    return list(distinct.values())


def _parsed(pack: Pack, tags: Tags) -> Iterator[tuple[str, Recipe | RecipeError]]:
    """Yield the id of each crafting recipe, and the recipe or why it cannot be read."""
    items_of = _tag_reader(pack)
    # Groups need no tag files; but in a pack that has some, a recipe with a missing one is of no
    # use.
    needs_tags = tags == "item" or bool(pack.tags)
    for id, (file, data) in pack.recipes.items():
        try:
            recipe = parse_recipe(id, file, data)
            if recipe is None:
                continue
            if tags == "group":
                # As in the published game, which reads the first of several alternatives alone.
                recipe = _first_alternatives(recipe)
            if needs_tags:
                for reference in _tags_of(recipe):
                    items_of(reference, file)
        except RecipeError as error:
            yield id, error
        else:
            yield id, recipe


def _report_skipped(
    origin: str,
    skipped: list[RecipeError],
    *,
    any_read: bool,
) -> None:
    """Warn about each of the first skipped recipes and tags; raise if no recipe is left."""
    if not any_read:
        reason = NO_TABLE
        if skipped:
            reason = f"no recipe for a crafting table can be read: {listed(skipped)}"
        raise RecipeError.at(origin, reason)
    lines = [f"skipped {error}" for error in skipped[:MOST_LISTED]]
    if more := len(skipped) - len(lines):
        lines.append(f"{origin}: skipped {more} more, of {len(skipped)} that cannot be read")
    for line in lines:
        warnings.warn(line, stacklevel=3)  # the level of _crafting_recipes


def _report_bare(pack: Pack, written: Sequence[Recipe]) -> None:
    """Warn about ids without a namespace where the recipe's own namespace may be meant."""
    own = {recipe.id for recipe in written}.union(recipe.output for recipe in written)
    meant: dict[str, None] = {}
    for recipe in written:
        space, _, _ = recipe.id.partition(":")
        for id in sorted(bare_ids(pack.recipes[recipe.id].data)):
            if f"{space}:" != DEFAULT_NAMESPACE and f"{space}:{id}" in own:
                meant[f"{space}:{id} for {id}"] = None
    if meant:
        warnings.warn(
            f"{pack.origin}: ids without a namespace are those of Minecraft; for the pack's own, "
            f"write {listed(list(meant), ', ')}",
            stacklevel=2,
        )


def _first_alternatives(recipe: Recipe) -> Recipe:
    # Slots with different alternatives may have the same first one: their amounts are added.
    amounts: Counter[Ingredient] = Counter()
    for ingredient, count in recipe.slots:
        amounts[ingredient[:1]] += count
    return recipe._replace(slots=tuple(Slot(*amount) for amount in amounts.items()))


def _tags_of(recipe: Recipe) -> list[str]:
    tags = []
    for slot in recipe.slots:
        tags += [reference for reference in slot.ingredient if reference.startswith("#")]
    return tags


def _takes_its_output(recipe: Recipe) -> bool:
    """Return whether a recipe only multiplies an item, as Minecraft 1.20 copies templates."""
    return any(slot.ingredient == (recipe.output,) for slot in recipe.slots)


def _without_unpacking(recipes: list[Recipe], tags: Tags) -> list[Recipe]:
    """Drop recipes that only take a block apart.

    With item tags, only where the block is made of the output: directly, or through other blocks,
    as waxed copper is.
    """
    parts: dict[str, set[str]] = {}
    for recipe in recipes:
        parts_of_output = parts.setdefault(recipe.output, set())
        for slot in recipe.slots:
            if len(slot.ingredient) == 1:
                parts_of_output.add(slot.ingredient[0])

    kept = []
    for recipe in recipes:
        # The published game drops every such recipe, whatever the block is made of.
        blocks = _sole_blocks(recipe)
        if tags == "item":
            blocks = [block for block in blocks if _is_made_of(block, recipe.output, parts)]
        if not blocks:
            kept.append(recipe)
    return kept


def _sole_blocks(recipe: Recipe) -> list[str]:
    """Return the blocks that fill a recipe's only slot."""
    if len(recipe.slots) > 1:
        return []
    return [item for item in recipe.slots[0].ingredient if item.endswith("_block")]


def _is_made_of(
    block: str,
    item: str,
    parts: Mapping[str, set[str]],
) -> bool:
    blocks, pending = {block}, [block]
    while pending:
        parts_of_block = parts.get(pending.pop(), set())
        if item in parts_of_block:
            return True
        new = {part for part in parts_of_block if part.endswith("_block")} - blocks
        blocks |= new
        pending += new
    return False


def _members(
    written: Iterable[Recipe],
    kept: Iterable[Recipe],
    pack: Pack,
    tags: Tags,
) -> dict[Ingredient, tuple[str, ...]]:
    """Return the items that fill each ingredient of the recipes in the files."""
    # As in the published game, a tag's members are what the recipes of its group make.
    groups: dict[str, set[str]] = {}
    for recipe in kept:
        groups.setdefault(f"#{DEFAULT_NAMESPACE}{recipe.group}", set()).add(recipe.output)
    items_of = _tag_reader(pack)

    def items(reference: str, file: str) -> Iterable[str]:
        if not reference.startswith("#"):
            return [reference]
        if tags == "item":
            return items_of(reference, file)
        if reference in groups:
            return sorted(groups[reference])
        # A tag without members is a plain item.
        return [reference[1:]]

    members: dict[Ingredient, tuple[str, ...]] = {}
    for recipe in written:
        file = pack.recipes[recipe.id].file
        for ingredient, _ in recipe.slots:
            # A dict, since it keeps the order.
            fillings: dict[str, None] = {}
            for reference in ingredient:
                fillings.update(dict.fromkeys(items(reference, file)))
            members[ingredient] = tuple(fillings)
    return members


def _tag_reader(pack: Pack) -> Callable[[str, str], list[str]]:
    """Return a ``tag_items`` of the pack that reads each tag once.

    Its errors name the file of the recipe and that of the tag.
    """
    known: dict[str, list[str] | RecipeError] = {}

    def items_of(tag: str, file: str) -> list[str]:
        if tag[1:] not in pack.tags:
            raise RecipeError.at(file, f"unknown tag {tag}")
        if tag not in known:
            try:
                known[tag] = tag_items(pack, tag, file)
            except RecipeError as error:
                known[tag] = error
        items = known[tag]
        if isinstance(items, RecipeError):
            raise RecipeError.at(file, str(items))
        return items

    return items_of


def tag_items(
    pack: Pack,
    tag: str,
    file: str,
) -> list[str]:
    """Return the items of a tag in the order of its file, including those of nested tags.

    Raises:
        RecipeError: If the tag is unknown, without items, malformed or contains itself.
    """
    items: dict[str, None] = {}
    # The tags that are open, outermost first, and the rest of each; one that was read before adds
    # nothing.
    opened = {tag: _references(pack, tag, file)}
    seen = {tag}
    while opened:
        outer = next(reversed(opened))
        reference = next(opened[outer], None)
        if reference is None:
            del opened[outer]
        elif not reference.startswith("#"):
            items[reference] = None
        elif reference in opened:
            raise RecipeError.at(pack.tags[outer[1:]].file, f"the tag {reference} contains itself")
        elif reference not in seen:
            seen.add(reference)
            opened[reference] = _references(pack, reference, pack.tags[outer[1:]].file)

    if not items:
        raise RecipeError.at(pack.tags[tag[1:]].file, "empty tag")
    return list(items)


def _references(
    pack: Pack,
    tag: str,
    file: str,
) -> Iterator[str]:
    """Return the references of a tag, without the optional tags that the pack lacks."""
    if tag[1:] not in pack.tags:
        raise RecipeError.at(file, f"unknown tag {tag}")
    file, data = pack.tags[tag[1:]]
    references: list[str] = []
    for value in data["values"]:
        # Since Minecraft 1.16.2 an entry may also be {"id": ..., "required": ...}.
        optional = isinstance(value, dict) and value.get("required") is False
        reference = parse_reference(file, value.get("id") if isinstance(value, dict) else value)
        if not (optional and reference.startswith("#") and reference[1:] not in pack.tags):
            references.append(reference)
    return iter(references)


def _without_cycles(
    kept: list[Recipe],
    members: Mapping[Ingredient, tuple[str, ...]],
    pack: Pack,
) -> Recipes:
    """Drop recipes until every item can be derived from base items.

    Of two items that can only be made of each other, the compressing recipe (many into few) goes.
    Of a larger set, or a pair of another kind, the item that most others take loses its recipes.
    """
    recipes = _without_compressing(kept, members)
    broken: list[str] = []
    while stuck := _underivable(recipes, members):
        needs = {item: _needs(recipes[item], members, stuck) for item in sorted(stuck)}
        for ring in strong_components(needs):
            takers: Counter[str] = Counter()
            for item in ring:
                takers.update(needs[item] - {item})
            # Sets that wait for another set may come apart by themselves.
            if takers.keys() <= set(ring):
                base_item = max(ring, key=takers.__getitem__)
                del recipes[base_item]
                broken.append(f"{base_item}, of {listed(ring, ', ')}")

    if broken:
        warnings.warn(
            f"{pack.origin}: items are made only of one another, so one of each set can be got: "
            f"{listed(broken)}",
            stacklevel=2,
        )
    return recipes


def _without_compressing(
    kept: list[Recipe],
    members: Mapping[Ingredient, tuple[str, ...]],
) -> Recipes:
    """Drop the compressing recipe of each pair of items that can only be made of each other."""
    made_of = {(recipe.output, slot.ingredient) for recipe in kept for slot in recipe.slots}
    stuck = _underivable(_by_output(kept), members)

    def compresses(recipe: Recipe) -> bool:
        ((part, *_), count), *others = recipe.slots
        if others or count <= recipe.makes:
            return False
        # ``part`` is made of the output as well: one of the pair must be given up.
        return recipe.output in stuck and part in stuck and (part, (recipe.output,)) in made_of

    return _by_output(recipe for recipe in kept if not compresses(recipe))


def _underivable(recipes: Recipes, members: Mapping[Ingredient, tuple[str, ...]]) -> set[str]:
    return recipes.keys() - recipe_depths(recipes, members.__getitem__).keys()


def _needs(
    recipes: Iterable[Recipe],
    members: Mapping[Ingredient, tuple[str, ...]],
    stuck: set[str],
) -> set[str]:
    """Return the items of the slots that only underivable items fill."""
    needs: set[str] = set()
    for recipe in recipes:
        for slot in recipe.slots:
            fillings = members[slot.ingredient]
            if stuck.issuperset(fillings):
                needs.update(fillings)
    return needs


def _by_output(recipes: Iterable[Recipe]) -> Recipes:
    grouped: dict[str, tuple[Recipe, ...]] = {}
    # By their ids, so that nothing depends on the order of the files.
    for recipe in sorted(recipes, key=lambda recipe: (recipe.output, recipe.id)):
        grouped[recipe.output] = (*grouped.get(recipe.output, ()), recipe)
    return grouped
