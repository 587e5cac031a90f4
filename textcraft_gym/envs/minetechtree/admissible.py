"""The admissible commands, made from the sources in sight and the inventory, never from the expert's plan."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, product

from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.costs import best_tool, tier
from textcraft_gym.envs.minetechtree.facts import FURNACE, TABLE
from textcraft_gym.envs.minetechtree.state import Game, Inventory, State, slot
from textcraft_gym.envs.minetechtree.techtree import Technique, tech_tree


def admissible_commands(game: Game, state: State) -> list[str]:
    """Return the commands that would work now, for one item each.

    A craft with a tag is listed once for each held item that fills its slot alone.
    """
    commands = chain(_gathers(game, state), _crafts(state.inventory), _smelts(state.inventory), _equips(state))
    return ["look", "inventory", *dict.fromkeys(commands)]


def _gathers(game: Game, state: State) -> Iterator[str]:
    for source in dict.fromkeys(place.source for place in game.world.places):
        tool = best_tool(source, state.inventory)
        if tier(source, tool).level >= source.level:
            for item in source.gives:
                yield text.mine(item, 1, tool) if source.verb == "mine" else text.hunt(item, 1)


def _crafts(inventory: Inventory) -> Iterator[str]:
    crafts, users = _index()
    # Only crafts whose first slot can be filled are looked at, a few of hundreds.
    for index in sorted({index for item in inventory for index in users.get(item, ())}):
        if not crafts[index].at_table or TABLE in inventory:
            yield from _offers(crafts[index], inventory)


@cache
def _index() -> tuple[tuple[Technique, ...], dict[str, tuple[int, ...]]]:
    """Return all crafts, and for each item the indices of those whose first slot it fills."""
    crafts = tuple(chain.from_iterable(tech_tree().crafts.values()))
    users: dict[str, tuple[int, ...]] = {}
    for index, craft in enumerate(crafts):
        for item in craft.slots[0].members:
            users[item] = (*users.get(item, ()), index)
    return crafts, users


def _offers(technique: Technique, inventory: Inventory) -> Iterator[str]:
    choices: list[list[tuple[str, int]]] = []
    for members, amount, _ in technique.slots:
        choices.append([(item, amount) for item in members if inventory.get(item, 0) >= amount])
        if not choices[-1]:
            return
    for using in product(*choices):
        if len(dict(using)) == len(using):  # one item in two slots might not suffice for both
            yield text.make("craft", technique.item, technique.makes, using)


def _smelts(inventory: Inventory) -> Iterator[str]:
    tree = tech_tree()
    if FURNACE not in inventory:
        return
    fuels = [(item, -(-10 // tree.fuels[item])) for item in inventory if item in tree.fuels]
    for techniques in tree.smelts.values():
        for technique in techniques:
            for item in technique.slots[0].members:
                for fuel, amount in fuels:
                    # Charcoal smelts from logs, which burn as well: one more is needed if fuel and item are the same.
                    enough = amount + 1 if fuel == item else amount
                    if item in inventory and inventory[fuel] >= enough:
                        yield text.make("smelt", technique.item, 1, ((item, 1), (fuel, amount)))


def _equips(state: State) -> Iterator[str]:
    for item in state.inventory:
        if slot(item) != "hand" and item not in state.equipped.values():
            yield text.equip(item)
