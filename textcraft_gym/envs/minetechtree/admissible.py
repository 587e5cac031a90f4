"""The admissible commands, made from the sources in sight and the inventory, never from the expert's plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain, product
from typing import NamedTuple

from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.costs import TOOLS, best_tool, tier
from textcraft_gym.envs.minetechtree.facts import FURNACE, SOURCES, TABLE, WOODS
from textcraft_gym.envs.minetechtree.state import Game, Inventory, State, slot
from textcraft_gym.envs.minetechtree.techtree import Offer, Technique, tech_tree
from textcraft_gym.recipes.recipe import DEFAULT_NAMESPACE

MOST = {
    **{f"{DEFAULT_NAMESPACE}{wood}_log": 6 for wood in WOODS},
    f"{DEFAULT_NAMESPACE}leather": 8,
    f"{DEFAULT_NAMESPACE}white_wool": 3,
    f"{DEFAULT_NAMESPACE}cobblestone": 16,
    f"{DEFAULT_NAMESPACE}iron_ore": 10,
    f"{DEFAULT_NAMESPACE}quartz": 4,
}
"""The largest count of each item that is mined or hunted: the most that any one goal takes, 1 for the others."""
MOST_TIMES = 10
"""The largest multiple of a craft or a smelt, by the same measure."""


def admissible_commands(game: Game, state: State) -> list[str]:
    """Return the commands that would work now, as far as the time that is left does for them.

    What is mined or hunted is listed in each count that a goal may take, ``MOST``, and what is
    crafted or smelted in each multiple that the held items allow, up to ``MOST_TIMES``. A craft
    with a tag is listed for each held item that fills its slot alone.
    """
    inventory = state.inventory
    commands = chain(
        _gathers(game, inventory), _crafts(inventory), _smelts(inventory), _equips(state)
    )
    return ["look", "inventory", *dict.fromkeys(commands)]


def _gathers(game: Game, inventory: Inventory) -> tuple[str, ...]:
    # Few of the items that a player holds are tools, and nothing else matters here.
    return _gathers_with(tuple(game.world.sources()), TOOLS.intersection(inventory))


@lru_cache(maxsize=1 << 10)
def _gathers_with(sources: tuple[str, ...], tools: frozenset[str]) -> tuple[str, ...]:
    """Return the commands that get the items that these sources give to a player with these tools."""
    commands: list[str] = []
    for source in map(SOURCES.__getitem__, sources):
        tool = best_tool(source, tools)
        if tier(source, tool).level >= source.level:
            for item in source.gives:
                counts = range(1, MOST.get(item, 1) + 1)
                mine = source.verb == "mine"
                commands += [
                    text.mine(item, count, tool) if mine else text.hunt(item, count)
                    for count in counts
                ]
    return tuple(commands)


class _Way(NamedTuple):
    """A craft with an item chosen for each slot; a recipe that needs a crafting table says so."""

    technique: Technique
    using: Offer

    @property
    def needs(self) -> Offer:
        """All that must be held."""
        return ((TABLE, 1), *self.using) if self.technique.at_table else self.using


def _crafts(inventory: Inventory) -> Iterator[str]:
    ways, users = _ways()
    for index in sorted([index for item in inventory for index in users.get(item, ())]):
        way = ways[index]
        if way.technique.at_table and TABLE not in inventory:
            continue
        times = MOST_TIMES
        for item, amount in way.using:
            times = min(times, inventory.get(item, 0) // amount)
        yield from _crafts_of(index)[:times]


@lru_cache(maxsize=1 << 11)
def _crafts_of(index: int) -> tuple[str, ...]:
    """Return the commands of a way, once and in multiples."""
    technique, using = _ways()[0][index]
    return tuple(
        text.make("craft", technique.item, times * technique.makes, _times(using, times))
        for times in range(1, MOST_TIMES + 1)
    )


def _times(using: Offer, times: int) -> Offer:
    return tuple((item, times * amount) for item, amount in using)


@cache
def _ways() -> tuple[tuple[_Way, ...], dict[str, list[int]]]:
    """Return all ways to craft something, and for each item the indices of those that need nothing rarer.

    So few of more than a thousand ways are looked at: planks are in hundreds of them, most with
    something else.
    """
    ways = [
        _Way(technique, using)
        for techniques in tech_tree().crafts.values()
        for technique in techniques
        for using in product(
            *([(item, amount) for item in members] for members, amount, _ in technique.slots)
        )
        if len(dict(using)) == len(using)  # one item in two slots might not suffice for both
    ]
    uses = Counter(item for way in ways for item, _ in way.needs)
    users: dict[str, list[int]] = {}
    for index, way in enumerate(ways):
        rarest, _ = min(way.needs, key=lambda need: uses[need[0]])
        users.setdefault(rarest, []).append(index)
    return tuple(ways), users


def _smelts(inventory: Inventory) -> Iterator[str]:
    tree = tech_tree()
    if FURNACE not in inventory:
        return
    fuels = [item for item in inventory if item in tree.fuels]
    for item, made in _smeltable():
        for fuel, count in product(fuels, range(1, min(inventory.get(item, 0), MOST_TIMES) + 1)):
            amount = -(-10 * count // tree.fuels[fuel])  # tenths of an item, rounded up
            # Charcoal smelts from logs, which burn as well: more are needed if fuel and item are
            # the same.
            if inventory[fuel] >= (amount + count if fuel == item else amount):
                yield text.make("smelt", made, count, ((item, count), (fuel, amount)))


@cache
def _smeltable() -> tuple[tuple[str, str], ...]:
    """Return the pairs of an item that smelts and what it becomes."""
    techniques = chain.from_iterable(tech_tree().smelts.values())
    return tuple(
        (item, technique.item) for technique in techniques for item in technique.slots[0].members
    )


def _equips(state: State) -> Iterator[str]:
    for item in state.inventory:
        if slot(item) != "hand" and item not in state.equipped.values():
            yield text.equip(item)
