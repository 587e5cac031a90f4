"""The admissible commands are found through an index; here they are found by trying every recipe."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.admissible import admissible_commands
from textcraft_gym.envs.minetechtree.facts import FURNACE, TABLE
from textcraft_gym.envs.minetechtree.state import FIRST, Inventory
from textcraft_gym.envs.minetechtree.techtree import tech_tree

TREE = tech_tree()
COMMON = [item for item in TREE.names if item.endswith(("_planks", "_log", "_wool"))]
COMMON += [f"minecraft:{name}" for name in ("stick", "coal", "charcoal", "cobblestone", "iron_ingot", "iron_ore")]
INVENTORIES = st.dictionaries(
    st.sampled_from([TABLE, FURNACE]) | st.sampled_from(COMMON) | st.sampled_from(sorted(TREE.names)),
    st.integers(1, 9),
    max_size=30,
)


def crafts(held: Inventory) -> Iterator[str]:
    for techniques in TREE.crafts.values():
        for technique in techniques:
            if technique.at_table and TABLE not in held:
                continue
            for items in product(*(slot.members for slot in technique.slots)):
                using = [(item, slot.amount) for item, slot in zip(items, technique.slots, strict=True)]
                if len(set(items)) == len(items) and all(held.get(item, 0) >= amount for item, amount in using):
                    yield text.make("craft", technique.item, technique.makes, tuple(using))


def smelts(held: Inventory) -> Iterator[str]:
    fuels = [item for item in held if item in TREE.fuels]
    for techniques in TREE.smelts.values():
        for technique in techniques:
            for item, fuel in product(technique.slots[0].members, fuels):
                amount = -(-10 // TREE.fuels[fuel])
                if FURNACE in held and item in held and held[fuel] >= amount + (fuel == item):
                    yield text.make("smelt", technique.item, 1, ((item, 1), (fuel, amount)))


@given(held=INVENTORIES)
def test_admissible__lists_what_every_recipe_allows(game, held):
    listed = admissible_commands(game, FIRST._replace(inventory=held))
    making = [command for command in listed if command.startswith(("craft", "smelt"))]
    assert making == list(dict.fromkeys([*crafts(held), *smelts(held)]))
