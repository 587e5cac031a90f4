"""The meaning of an action, as far as it depends on the tech tree: a move, or a refusal."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, TypeAlias

from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.actions import (
    Equip,
    Gather,
    Look,
    Make,
    Unknown,
    WrongItem,
    parse,
)
from textcraft_gym.envs.minetechtree.facts import (
    FURNACE,
    SOURCE_OF,
    SOURCES,
    TABLE,
    TICKS_A_CRAFT,
    TICKS_A_SMELT,
    Source,
)
from textcraft_gym.envs.minetechtree.techtree import Offer, Technique, TechTree, fills, tech_tree
from textcraft_gym.recipes.recipe import name_of

UNKNOWN_ACTION = "unknown_action"
WRONG_ITEM = "wrong_item_format"
UNKNOWN_ITEM = "unknown_item"
WRONG_SKILL = "wrong_skill"
NOT_HERE = "not_here"
NO_INGREDIENTS = "no_ingredients"
NO_RECIPE = "no_recipe"
NOT_ENOUGH_FUEL = "not_enough_fuel"
NOT_ENOUGH = "not_enough_items"
NEEDS_TOOL = "needs_tool"
NEEDS_TABLE = "needs_crafting_table"
NEEDS_FURNACE = "needs_furnace"
OUT_OF_TIME = "out_of_time"
MISSED = "missed"
REASONS = (
    UNKNOWN_ACTION,
    WRONG_ITEM,
    UNKNOWN_ITEM,
    WRONG_SKILL,
    NOT_HERE,
    NO_INGREDIENTS,
    NO_RECIPE,
    NOT_ENOUGH_FUEL,
    NOT_ENOUGH,
    NEEDS_TOOL,
    NEEDS_TABLE,
    NEEDS_FURNACE,
    OUT_OF_TIME,
)

_MEMOISED_LENGTH = 200


class Gathering(NamedTuple):
    """Get ``amount`` of an item with the named tool; if empty, with the best that is held."""

    item: str
    source: Source
    amount: int
    tool: str


class Making(NamedTuple):
    """Craft or smelt an item.

    Attributes:
        verb: ``craft`` or ``smelt``.
        item: The item that is made.
        amount: Its count.
        named: The items that must be held.
        takes: The items that are used up: all but fuel that need not burn.
        station: The crafting table or furnace that must be held as well, empty for none.
        ticks: Its duration.
    """

    verb: str
    item: str
    amount: int
    named: Offer
    takes: Offer
    station: str
    ticks: int


class Equipping(NamedTuple):
    """Wear an item or take it in hand."""

    item: str


class Looking(NamedTuple):
    """Look around, or at the inventory."""

    around: bool


class Refused(NamedTuple):
    """An action that is never possible: the answer, a code of ``REASONS``, and why in words."""

    answer: str
    reason: str
    why: str


Move: TypeAlias = "Gathering | Making | Equipping | Looking | Refused"


def understand(action: str) -> Move:
    """Return the meaning of an action, any string; those of ordinary length are cached."""
    if len(action) <= _MEMOISED_LENGTH:
        return _memoised(action)
    return _understand(action)


def _understand(command: str) -> Move:
    action, tree = parse(command), tech_tree()
    if isinstance(action, Make):
        return _understand_make(tree, action)
    if isinstance(action, Gather):
        return _understand_gather(tree, action)
    if isinstance(action, Equip):
        item = tree.ids.get(action.item)
        return Equipping(item) if item else _no_such("equip", action.item)
    if isinstance(action, WrongItem):
        return Refused(text.wrong_item(action.typed), WRONG_ITEM, "")
    if isinstance(action, Unknown):
        return Refused(text.unknown(action.typed), UNKNOWN_ACTION, "")
    return Looking(around=isinstance(action, Look))


_memoised = lru_cache(maxsize=1 << 13)(_understand)


def _understand_gather(tree: TechTree, action: Gather) -> Move:
    item = tree.ids.get(action.item, "")
    source = SOURCE_OF.get(item)
    if source is None and action.item in SOURCES:
        gives = " or ".join(map(name_of, SOURCES[action.item].gives))
        return Refused(
            text.could_not(action.verb, action.item),
            WRONG_SKILL,
            f"say what of it: {gives}",
        )
    if not item:
        return _no_such(action.verb, action.item)
    if source is None or source.verb != action.verb:
        return _wrong_skill(tree, action.verb, item)
    tool = tree.ids.get(action.tool, "")
    if action.tool and not tool:
        return _no_such(action.verb, action.item, action.tool)
    return Gathering(item, source, action.amount, tool)


def _understand_make(tree: TechTree, action: Make) -> Move:
    item = tree.ids.get(action.item)
    if item is None:
        return _no_such(action.verb, action.item)
    if not tree.of(action.verb, item):
        return _wrong_skill(tree, action.verb, item)
    if action.using is None:
        return Refused(text.could_not(action.verb, name_of(item)), NO_INGREDIENTS, "say using what")
    for name, _ in action.using:
        if name not in tree.ids:
            return _no_such(action.verb, action.item, name)
    using = tuple((tree.ids[name], amount) for name, amount in action.using)
    read = _understand_smelt if action.verb == "smelt" else _understand_craft
    return read(tree, item, action.amount, using)


def _understand_craft(
    tree: TechTree,
    item: str,
    count: int,
    using: Offer,
) -> Move:
    """Return the meaning of a craft.

    The ingredients must be exact; of several recipes the most productive counts.
    """
    offer = _added(using)
    fitting = []
    for technique in tree.crafts[item]:
        if fills(offer, technique.slots, _times(technique, count)):
            fitting.append(technique)
    if not fitting:
        why = text.takes(tree.crafts[item], count)
        return Refused(text.could_not("craft", name_of(item)), NO_RECIPE, why)
    technique = max(fitting, key=lambda technique: technique.makes)
    amount = technique.makes * _times(technique, count)
    station = TABLE if technique.at_table else ""
    return Making("craft", item, amount, offer, offer, station, TICKS_A_CRAFT)


def _understand_smelt(
    tree: TechTree,
    item: str,
    count: int,
    using: Offer,
) -> Move:
    """Return the meaning of a smelt.

    The first item is smelted; the others burn in their order, no more than needed.
    """
    first, *fuels = using
    answer = text.could_not("smelt", name_of(item))
    if not any(fills((first,), technique.slots, count) for technique in tree.smelts[item]):
        return Refused(answer, NO_RECIPE, text.takes(tree.smelts[item], count) + ", named first")
    # Fuel is counted in tenths of a smelted item, the unit of ``tree.fuels``; ``cold`` is the
    # demand not met yet.
    burnt, cold = [], 10 * count
    for fuel, amount in fuels:
        if fuel not in tree.fuels:
            return Refused(answer, NOT_ENOUGH_FUEL, f"{name_of(fuel)} does not burn")
        lit = min(amount, -(-max(cold, 0) // tree.fuels[fuel]))
        burnt.append((fuel, lit))
        cold -= lit * tree.fuels[fuel]

    if cold > 0:
        why = f"fuel for {cold / 10:g} more is needed" if fuels else "requires fuel, named last"
        return Refused(answer, NOT_ENOUGH_FUEL, why)
    taken = _added((first, *burnt))
    return Making("smelt", item, count, _added(using), taken, FURNACE, TICKS_A_SMELT * count)


def _times(technique: Technique, count: int) -> int:
    """Return how often a technique is applied to make ``count`` items: the quotient, rounded up."""
    return -(-count // technique.makes)


def _added(offer: Offer) -> Offer:
    amounts: dict[str, int] = {}
    for item, amount in offer:
        amounts[item] = amounts.get(item, 0) + amount
    return tuple((item, amount) for item, amount in amounts.items() if amount)


def _no_such(
    verb: str,
    name: str,
    unknown: str | None = None,
) -> Refused:
    strange = (name if unknown is None else unknown)[: text.ECHO_LENGTH]
    return Refused(text.could_not(verb, name), UNKNOWN_ITEM, f"there is no {strange}")


def _wrong_skill(tree: TechTree, verb: str, item: str) -> Refused:
    source = SOURCE_OF.get(item)
    verbs = [source.verb] if source else []
    for other in ("craft", "smelt"):
        if tree.of(other, item):
            verbs.append(other)
    why = f"{' or '.join(verbs)} it" if verbs else "nothing here gives it"
    return Refused(text.could_not(verb, name_of(item)), WRONG_SKILL, why)
