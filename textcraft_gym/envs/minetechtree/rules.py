"""The rule book: what an action means, and what it does.

What an action means depends on the tech tree alone and is worked out once (``understand``); what it does then depends
on where one stands and what one holds (``apply``). ``apply`` never changes the state that it is given; an action that
does nothing gives the same one back and takes no time.
"""

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
    BARE_HANDED,
    FURNACE,
    SOURCE_OF,
    SOURCES,
    TABLE,
    TICKS_A_CRAFT,
    TICKS_A_HARDNESS,
    TICKS_A_HIT,
    TICKS_A_SMELT,
    TICKS_A_STEP,
    TIERS,
    Source,
    Tier,
)
from textcraft_gym.envs.minetechtree.state import Game, Inventory, Point, State, slot
from textcraft_gym.envs.minetechtree.techtree import Offer, TechTree, fills, tech_tree
from textcraft_gym.envs.turn import Turn
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
    """Get ``amount`` of an item from its source, with the tool named or, where none is, the best that is held."""

    item: str
    source: Source
    amount: int
    tool: str


class Making(NamedTuple):
    """Make something in one go.

    Attributes:
        verb: ``craft`` or ``smelt``.
        item: What is made.
        amount: How many of it.
        named: What must be held.
        takes: What of it is used up: all, but for fuel that need not burn.
        station: The item that must be held besides, empty for none.
        ticks: How long it takes.
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
    """Look around, or at what is held."""

    around: bool


class Refused(NamedTuple):
    """Nothing that could ever be done: the answer, a code of ``REASONS``, and why in words."""

    answer: str
    reason: str
    why: str


Move: TypeAlias = "Gathering | Making | Equipping | Looking | Refused"


def understand(action: str) -> Move:
    """Return what an action means. Any string will do; equal strings of ordinary length are read once."""
    return _memoised(action) if len(action) <= _MEMOISED_LENGTH else _understand(action)


def apply(game: Game, state: State, action: str) -> Turn[State]:
    """Play an action. One that would end after the limit is not finished: time runs out, and nothing is gained."""
    move = understand(action)
    if isinstance(move, Making):
        turn = _make(state, move)
    elif isinstance(move, Gathering):
        turn = _gather(game, state, move)
    elif isinstance(move, Looking):
        return state, text.look(game, state) if move.around else text.inventory(state), "", ""
    elif isinstance(move, Equipping):
        turn = _equip(state, move.item)
    else:
        return state, *move
    after, answer, reason, _ = turn
    if reason:
        return turn
    if after.ticks > game.limit:
        return state._replace(ticks=game.limit), text.TIME_IS_UP, OUT_OF_TIME, ""
    return _with_aims(game, after), answer, "", ""


def nearest(game: Game, state: State, source: Source) -> Point | None:
    """Return where the nearest place of a source is; of several as near, the first."""
    places = [place.at for place in game.world.places if place.source == source]
    return min(places, key=state.at.distance, default=None)


def tier(source: Source, tool: str) -> Tier:
    """Return what a tool can do to a source; one of another kind does what a bare hand does."""
    material, _, kind = name_of(tool).partition(" ")
    return TIERS.get(material, BARE_HANDED) if source.tool and kind == source.tool else BARE_HANDED


def best_tool(source: Source, inventory: Inventory) -> str:
    """Return the held tool that gets most out of a source, empty where that is a bare hand."""
    return max(["", *inventory], key=lambda item: (tier(source, item).level >= source.level, tier(source, item).speed))


def tools_for(source: Source) -> tuple[str, ...]:
    """Return the tools that are good enough for a source, the least first; none where a bare hand is."""
    if not source.level:
        return ()
    return tuple(f"minecraft:{name}_{source.tool}" for name, one in TIERS.items() if one.level >= source.level)


def ticks_for(source: Source, tool: str) -> int:
    """Return how long it takes to get one of each that a source gives."""
    if source.verb == "hunt":
        return int(source.effort * TICKS_A_HIT)
    return -int(-source.effort * TICKS_A_HARDNESS // tier(source, tool).speed)


def costs(game: Game, state: State) -> dict[str, tuple[int, int]]:
    """Return for each item that can be got now how long it takes to walk there, and then for each one."""
    found: dict[str, tuple[int, int]] = {}
    for source in dict.fromkeys(place.source for place in game.world.places):
        tool, at = best_tool(source, state.inventory), nearest(game, state, source)
        if at is not None and tier(source, tool).level >= source.level:
            cost = TICKS_A_STEP * state.at.distance(at), ticks_for(source, tool)
            found |= {name_of(item): cost for item in source.gives}
    return found


def _understand(said: str) -> Move:
    action, tree = parse(said), tech_tree()
    if isinstance(action, Make):
        return _understand_make(tree, action)
    if isinstance(action, Gather):
        return _understand_gather(tree, action)
    if isinstance(action, Equip):
        item = tree.ids.get(action.item)
        return Equipping(item) if item else _no_such("equip", action.item)
    if isinstance(action, WrongItem):
        return Refused(text.wrong_item(action.said), WRONG_ITEM, "")
    if isinstance(action, Unknown):
        return Refused(text.unknown(action.said), UNKNOWN_ACTION, "")
    return Looking(around=isinstance(action, Look))


_memoised = lru_cache(maxsize=1 << 13)(_understand)


def _understand_gather(tree: TechTree, action: Gather) -> Move:
    item = tree.ids.get(action.item, "")
    source = SOURCE_OF.get(item)
    if source is None and action.item in SOURCES:
        gives = " or ".join(map(name_of, SOURCES[action.item].gives))
        return Refused(text.could_not(action.verb, action.item), WRONG_SKILL, f"say what of it: {gives}")
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


def _understand_craft(tree: TechTree, item: str, count: int, using: Offer) -> Move:
    """What is offered must be just what a recipe takes for so many; of several, the one that makes most counts."""
    offer = _added(using)
    fitting = [one for one in tree.crafts[item] if fills(offer, one.slots, -(-count // one.makes))]
    if not fitting:
        return Refused(text.could_not("craft", name_of(item)), NO_RECIPE, text.takes(tree.crafts[item], count))
    technique = max(fitting, key=lambda one: one.makes)
    made = technique.makes * -(-count // technique.makes)
    return Making("craft", item, made, offer, offer, TABLE if technique.at_table else "", TICKS_A_CRAFT)


def _understand_smelt(tree: TechTree, item: str, count: int, using: Offer) -> Move:
    """What is named first is smelted, what comes after burns, in its order and no more than is needed."""
    first, *fuels = using
    answer = text.could_not("smelt", name_of(item))
    if not any(fills((first,), one.slots, count) for one in tree.smelts[item]):
        return Refused(answer, NO_RECIPE, text.takes(tree.smelts[item], count) + ", named first")
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


def _added(offer: Offer) -> Offer:
    amounts: dict[str, int] = {}
    for item, amount in offer:
        amounts[item] = amounts.get(item, 0) + amount
    return tuple((item, amount) for item, amount in amounts.items() if amount)


def _no_such(verb: str, name: str, unknown: str | None = None) -> Refused:
    strange = (name if unknown is None else unknown)[: text.ECHO_LENGTH]
    return Refused(text.could_not(verb, name), UNKNOWN_ITEM, f"there is no {strange}")


def _wrong_skill(tree: TechTree, verb: str, item: str) -> Refused:
    source = SOURCE_OF.get(item)
    verbs = [source.verb] if source else []
    verbs += [one for one in ("craft", "smelt") if tree.of(one, item)]
    why = f"{' or '.join(verbs)} it" if verbs else "nothing here gives it"
    return Refused(text.could_not(verb, name_of(item)), WRONG_SKILL, why)


def _make(state: State, move: Making) -> Turn[State]:
    held = state.inventory
    if any(held.get(item, 0) < amount for item, amount in move.named):
        why = text.requires(move.named, held)
        return state, text.could_not(move.verb, name_of(move.item)), NOT_ENOUGH, why
    if move.station and move.station not in held:
        reason = NEEDS_TABLE if move.station == TABLE else NEEDS_FURNACE
        why = f"requires {name_of(move.station)}"
        return state, text.could_not(move.verb, name_of(move.item)), reason, why
    gains = {move.item: move.amount}
    return _exchanged(state, move.takes, gains, move.ticks), text.done(move.verb, gains), "", ""


def _gather(game: Game, state: State, move: Gathering) -> Turn[State]:
    source, answer = move.source, text.could_not(move.source.verb, name_of(move.item))
    if move.tool and move.tool not in state.inventory:
        return state, answer, NOT_ENOUGH, text.requires(((move.tool, 1),), state.inventory)
    tool = move.tool or best_tool(source, state.inventory)
    if tier(source, tool).level < source.level:
        return state, answer, NEEDS_TOOL, f"requires {name_of(tools_for(source)[0])}"
    at = nearest(game, state, source)
    if at is None:
        return state, answer, NOT_HERE, f"there are no {source.name} in this world"
    ticks = TICKS_A_STEP * state.at.distance(at) + ticks_for(source, tool) * move.amount
    gains = dict.fromkeys(sorted(source.gives, key=lambda item: item != move.item), move.amount)
    return _exchanged(state, (), gains, ticks)._replace(at=at), text.done(source.verb, gains), "", ""


def _equip(state: State, item: str) -> Turn[State]:
    if item not in state.inventory:
        why = text.requires(((item, 1),), state.inventory)
        return state, text.could_not("equip", name_of(item)), NOT_ENOUGH, why
    equipped = {**state.equipped, slot(item): item}
    return state._replace(equipped=equipped, ticks=state.ticks + 1), text.equipped(item), "", ""


def _exchanged(state: State, takes: Offer, gains: dict[str, int], ticks: int) -> State:
    inventory, equipped = state.inventory.copy(), state.equipped
    for item, amount in takes:
        inventory[item] -= amount
        if not inventory[item]:
            del inventory[item]
            if equipped.get(slot(item)) == item:
                equipped = {where: other for where, other in equipped.items() if other != item}
    for item, count in gains.items():
        inventory[item] = inventory.get(item, 0) + count
    return state._replace(inventory=inventory, equipped=equipped, ticks=state.ticks + ticks)


def _with_aims(game: Game, state: State) -> State:
    new = [
        aim.item
        for aim in game.aims
        if aim.item not in state.obtained
        and (aim.item in state.equipped.values() if aim.worn else aim.item in state.inventory)
    ]
    return state._replace(obtained=state.obtained.union(new)) if new else state
