"""The admissible commands, made from the sources in sight and the inventory, never from the expert's plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain, product
from typing import NamedTuple

from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.costs import TOOLS, best_tool, tier
from textcraft_gym.envs.minetechtree.facts import FURNACE, SOURCES, TABLE
from textcraft_gym.envs.minetechtree.state import Game, Inventory, State, slot
from textcraft_gym.envs.minetechtree.techtree import Offer, tech_tree


def admissible_commands(game: Game, state: State) -> list[str]:
    """Return the commands that would work now, for one item each.

    A craft with a tag is listed once for each held item that fills its slot alone.
    """
    inventory = state.inventory
    commands = chain(_gathers(game, inventory), _crafts(inventory), _smelts(inventory), _equips(state))
    return ["look", "inventory", *dict.fromkeys(commands)]


def _gathers(game: Game, inventory: Inventory) -> tuple[str, ...]:
    # Few of the items that a player holds are tools, and nothing else matters here.
    return _gathers_with(tuple(game.world.sources()), TOOLS.intersection(inventory))


@lru_cache(maxsize=1 << 10)
def _gathers_with(sources: tuple[str, ...], tools: frozenset[str]) -> tuple[str, ...]:
    """Return the commands that get one of each item that these sources give to a player with these tools."""
    commands: list[str] = []
    for source in map(SOURCES.__getitem__, sources):
        tool = best_tool(source, tools)
        if tier(source, tool).level >= source.level:
            mine = source.verb == "mine"
            commands += [text.mine(item, 1, tool) if mine else text.hunt(item, 1) for item in source.gives]
    return tuple(commands)


class _Way(NamedTuple):
    """A craft with an item chosen for each slot: all that must be held, a table among it, and the command."""

    needs: Offer
    command: str


def _crafts(inventory: Inventory) -> Iterator[str]:
    ways, users = _ways()
    for index in sorted([index for item in inventory for index in users.get(item, ())]):
        needs, command = ways[index]
        for item, amount in needs:
            if inventory.get(item, 0) < amount:
                break
        else:
            yield command


@cache
def _ways() -> tuple[tuple[_Way, ...], dict[str, list[int]]]:
    """Return all ways to craft something, and for each item the indices of those that need nothing rarer.

    So few of more than a thousand ways are looked at: planks are in hundreds of them, most with something else.
    """
    ways = [
        _Way((*table, *using), text.make("craft", technique.item, technique.makes, using))
        for techniques in tech_tree().crafts.values()
        for technique in techniques
        for table in [((TABLE, 1),) if technique.at_table else ()]
        for using in product(*([(item, amount) for item in members] for members, amount, _ in technique.slots))
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
    fuels = [(item, -(-10 // tree.fuels[item])) for item in inventory if item in tree.fuels]
    for item, made in _smeltable():
        if item in inventory:
            for fuel, amount in fuels:
                # Charcoal smelts from logs, which burn as well: one more is needed if fuel and item are the same.
                if inventory[fuel] >= (amount + 1 if fuel == item else amount):
                    yield text.make("smelt", made, 1, ((item, 1), (fuel, amount)))


@cache
def _smeltable() -> tuple[tuple[str, str], ...]:
    """Return the pairs of an item that smelts and what it becomes."""
    techniques = chain.from_iterable(tech_tree().smelts.values())
    return tuple((item, technique.item) for technique in techniques for item in technique.slots[0].members)


def _equips(state: State) -> Iterator[str]:
    for item in state.inventory:
        if slot(item) != "hand" and item not in state.equipped.values():
            yield text.equip(item)
