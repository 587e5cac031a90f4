"""All crafting and smelting recipes of the data pack.

Unlike a recipe book (``recipes.book``) this keeps recipes that form a cycle, such as iron ingots
from nuggets and back: here base items come from sources, so that a cycle makes nothing out of
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from textcraft_gym.envs.minetechtree.facts import FUELS, UNBURNABLE
from textcraft_gym.recipes.book import name_of_ingredient, tag_items
from textcraft_gym.recipes.pack import Pack, PackFile, read_pack
from textcraft_gym.recipes.recipe import Ingredient, name_of, parse_recipe, parse_reference

SMELTING = "minecraft:smelting"

Offer: TypeAlias = tuple[tuple[str, int], ...]
"""Items and their counts."""


class Slot(NamedTuple):
    """An ingredient: ``amount`` of one or a mix of ``members``, and its ``name`` for the player."""

    members: tuple[str, ...]
    amount: int
    name: str


class Technique(NamedTuple):
    """A recipe: ``slots`` make ``makes`` of the item.

    Attributes:
        item: The item that is made.
        makes: Its count.
        slots: Its ingredients.
        verb: ``craft`` or ``smelt``.
        at_table: True if a crafting table is needed.
    """

    item: str
    makes: int
    slots: tuple[Slot, ...]
    verb: str
    at_table: bool = False


class TechTree(NamedTuple):
    """All techniques of a version of the game.

    Attributes:
        crafts: By item, in the order of their ids.
        smelts: By item, likewise.
        names: The player's name of each item that is in a technique.
        ids: The item behind each name.
        fuels: Tenths of an item that one unit of each fuel smelts.
    """

    crafts: dict[str, tuple[Technique, ...]]
    smelts: dict[str, tuple[Technique, ...]]
    names: dict[str, str]
    ids: dict[str, str]
    fuels: dict[str, int]

    def of(
        self,
        verb: str,
        item: str,
    ) -> tuple[Technique, ...]:
        """Return the techniques that craft, or smelt, an item."""
        return (self.crafts if verb == "craft" else self.smelts).get(item, ())


@cache
def tech_tree() -> TechTree:
    """Return the tech tree of the bundled recipes."""
    pack = read_pack()
    techniques: dict[str, dict[str, tuple[Technique, ...]]] = {"craft": {}, "smelt": {}}
    items: set[str] = set()
    for id, entry in pack.recipes.items():
        technique = _craft(pack, id, entry) or _smelt(pack, entry)
        if technique:
            of_verb = techniques[technique.verb]
            of_verb[technique.item] = (*of_verb.get(technique.item, ()), technique)
            items.update((technique.item,), *(slot.members for slot in technique.slots))

    names = {item: name_of(item) for item in sorted(items)}
    ids = {name: item for item, name in names.items()}
    return TechTree(techniques["craft"], techniques["smelt"], names, ids, _fuels(pack))


def fills(
    offer: Offer,
    slots: Sequence[Slot],
    times: int,
) -> bool:
    """Return whether an offer is exactly the ingredients of ``times`` crafts.

    It is if the totals are equal and no set of slots takes more than the offered amount of its
    members (Hall 1935).
    """
    # The cheap test first: it rules out nearly every offer that fails.
    if sum(amount for _, amount in offer) != times * _total(slots):
        return False
    for size in range(1, len(slots) + 1):
        for some in combinations(slots, size):
            members = set().union(*(slot.members for slot in some))
            offered = sum(amount for item, amount in offer if item in members)
            if offered < times * _total(some):
                return False
    return True


def _total(slots: Iterable[Slot]) -> int:
    return sum(slot.amount for slot in slots)


def _craft(pack: Pack, id: str, entry: PackFile) -> Technique | None:
    recipe = parse_recipe(id, entry.file, entry.data)
    if recipe is None:
        return None
    slots = tuple(
        _slot(pack, entry.file, ingredient, amount) for ingredient, amount in recipe.slots
    )
    return Technique(recipe.output, recipe.makes, slots, "craft", _needs_table(entry.data))


def _smelt(pack: Pack, entry: PackFile) -> Technique | None:
    if entry.data["type"] != SMELTING:
        return None
    alternatives = entry.data["ingredient"]
    if not isinstance(alternatives, list):
        alternatives = [alternatives]
    references = tuple(_reference(entry.file, alternative) for alternative in alternatives)
    item = parse_reference(entry.file, entry.data["result"], tags=False)
    return Technique(item, 1, (_slot(pack, entry.file, references, 1),), "smelt")


def _needs_table(data: dict[str, Any]) -> bool:
    """Return whether a recipe is too large for the two by two grid of a bare hand."""
    pattern = data.get("pattern")
    if pattern is None:
        return len(data["ingredients"]) > 4
    return len(pattern) > 2 or max(map(len, pattern)) > 2


def _reference(file: str, entry: dict[str, Any]) -> str:
    if "tag" in entry:
        return parse_reference(file, f"#{entry['tag']}")
    return parse_reference(file, entry["item"])


def _slot(
    pack: Pack,
    file: str,
    ingredient: Ingredient,
    amount: int,
) -> Slot:
    # A dict, since it keeps the order.
    members: dict[str, None] = {}
    for reference in ingredient:
        members.update(dict.fromkeys(_members(pack, reference, file)))
    return Slot(tuple(members), amount, name_of_ingredient(ingredient))


def _members(
    pack: Pack,
    reference: str,
    file: str,
) -> list[str]:
    if reference.startswith("#"):
        return tag_items(pack, reference, file)
    return [reference]


def _fuels(pack: Pack) -> dict[str, int]:
    # Wood of the Nether has the tags of wood, but does not burn.
    fireproof = _members(pack, UNBURNABLE, "facts.UNBURNABLE")
    fuels = {}
    for reference, tenths in FUELS.items():
        for item in _members(pack, reference, "facts.FUELS"):
            if item not in fireproof:
                fuels[item] = tenths
    return fuels
