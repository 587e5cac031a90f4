"""The admissible commands, made from the sources in sight and the inventory alone."""

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
"""The largest count of each mined or hunted item: the most that any goal takes, else 1."""
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
        _gathers(game, inventory),
        _crafts(inventory),
        _smelts(inventory),
        _equips(state),
    )
    return ["look", "inventory", *dict.fromkeys(commands)]


def _gathers(game: Game, inventory: Inventory) -> tuple[str, ...]:
    # Few of the items that a player holds are tools, and nothing else matters here.
    return _gathers_with(tuple(game.world.sources()), TOOLS.intersection(inventory))


@lru_cache(maxsize=1 << 10)
def _gathers_with(sources: tuple[str, ...], tools: frozenset[str]) -> tuple[str, ...]:
    """Return the commands that get items from these sources with these tools."""
    commands: list[str] = []
    for source in map(SOURCES.__getitem__, sources):
        tool = best_tool(source, tools)
        if tier(source, tool).level < source.level:
            continue
        for item in source.gives:
            for count in range(1, MOST.get(item, 1) + 1):
                if source.verb == "mine":
                    commands.append(text.mine(item, count, tool))
                else:
                    commands.append(text.hunt(item, count))
    return tuple(commands)


class _Way(NamedTuple):
    """A craft with an item chosen for each slot; a recipe that needs a crafting table says so."""

    technique: Technique
    using: Offer

    @property
    def needs(self) -> Offer:
        """All that must be held."""
        if self.technique.at_table:
            return ((TABLE, 1), *self.using)
        return self.using


def _crafts(inventory: Inventory) -> Iterator[str]:
    ways, users = _ways()
    indices: list[int] = []
    for item in inventory:
        indices += users.get(item, ())
    for index in sorted(indices):
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
    commands = []
    for times in range(1, MOST_TIMES + 1):
        amounts = tuple((item, times * amount) for item, amount in using)
        commands.append(text.make("craft", technique.item, times * technique.makes, amounts))
    return tuple(commands)


@cache
def _ways() -> tuple[tuple[_Way, ...], dict[str, list[int]]]:
    """Return all ways to craft, and for each item the indices of those that need nothing rarer.

    So few of more than a thousand ways are looked at: planks are in hundreds of them, most with
    something else.
    """
    ways: list[_Way] = []
    for techniques in tech_tree().crafts.values():
        for technique in techniques:
            ways += _ways_of(technique)
    uses = Counter(item for way in ways for item, _ in way.needs)
    users: dict[str, list[int]] = {}
    for index, way in enumerate(ways):
        rarest, _ = min(way.needs, key=lambda need: uses[need[0]])
        users.setdefault(rarest, []).append(index)
    return tuple(ways), users


def _ways_of(technique: Technique) -> Iterator[_Way]:
    choices = []
    for members, amount, _ in technique.slots:
        choices.append([(item, amount) for item in members])
    for using in product(*choices):
        # One item in two slots might not suffice for both.
        if len(dict(using)) == len(using):
            yield _Way(technique, using)


def _smelts(inventory: Inventory) -> Iterator[str]:
    tree = tech_tree()
    if FURNACE not in inventory:
        return
    fuels = [item for item in inventory if item in tree.fuels]
    for item, made in _smeltable():
        most = min(inventory.get(item, 0), MOST_TIMES)
        for fuel, count in product(fuels, range(1, most + 1)):
            amount = -(-10 * count // tree.fuels[fuel])  # tenths of an item, rounded up
            needed = amount
            # Charcoal smelts from logs, which burn as well: more are needed if fuel and item are
            # the same.
            if fuel == item:
                needed += count
            if inventory[fuel] >= needed:
                yield text.make("smelt", made, count, ((item, count), (fuel, amount)))


@cache
def _smeltable() -> tuple[tuple[str, str], ...]:
    """Return the pairs of an item that smelts and what it becomes."""
    pairs: list[tuple[str, str]] = []
    for techniques in tech_tree().smelts.values():
        for technique in techniques:
            pairs += [(item, technique.item) for item in technique.slots[0].members]
    return tuple(pairs)


def _equips(state: State) -> Iterator[str]:
    for item in state.inventory:
        if slot(item) != "hand" and item not in state.equipped.values():
            yield text.equip(item)
