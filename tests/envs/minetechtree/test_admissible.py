"""The admissible commands are found through an index; here they are found by trying every
recipe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product

import gymnasium as gym
from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.envs.minetechtree import text
from textcraft_gym.envs.minetechtree.admissible import MOST, MOST_TIMES, admissible_commands
from textcraft_gym.envs.minetechtree.facts import FURNACE, TABLE
from textcraft_gym.envs.minetechtree.state import FIRST, Inventory
from textcraft_gym.envs.minetechtree.tasks import RULES
from textcraft_gym.envs.minetechtree.techtree import tech_tree
from textcraft_gym.recipes.recipe import name_of

TREE = tech_tree()
COMMON = [item for item in TREE.names if item.endswith(("_planks", "_log", "_wool"))]
COMMON += [
    f"minecraft:{name}"
    for name in ("stick", "coal", "charcoal", "cobblestone", "iron_ingot", "iron_ore")
]
INVENTORIES = st.dictionaries(
    st.sampled_from([TABLE, FURNACE])
    | st.sampled_from(COMMON)
    | st.sampled_from(sorted(TREE.names)),
    st.integers(1, 9),
    max_size=30,
)


def crafts(held: Inventory) -> Iterator[str]:
    for techniques in TREE.crafts.values():
        for technique in techniques:
            if technique.at_table and TABLE not in held:
                continue
            for items in product(*(slot.members for slot in technique.slots)):
                for times in range(1, MOST_TIMES + 1) if len(set(items)) == len(items) else ():
                    pairs = zip(items, technique.slots, strict=True)
                    using = tuple([(item, times * slot.amount) for item, slot in pairs])
                    if all(held.get(item, 0) >= amount for item, amount in using):
                        yield text.make("craft", technique.item, times * technique.makes, using)


def smelts(held: Inventory) -> Iterator[str]:
    fuels = [item for item in held if item in TREE.fuels]
    for techniques in TREE.smelts.values():
        for technique in techniques:
            for item, fuel in product(technique.slots[0].members, fuels):
                for count in range(1, MOST_TIMES + 1) if FURNACE in held else ():
                    amount = -(-10 * count // TREE.fuels[fuel])
                    needed = Counter({item: count}) + Counter({fuel: amount})
                    if all(held.get(material, 0) >= number for material, number in needed.items()):
                        yield text.make(
                            "smelt", technique.item, count, ((item, count), (fuel, amount))
                        )


@given(held=INVENTORIES)
def test_admissible__lists_what_every_recipe_allows(game, held):
    listed = admissible_commands(game, FIRST._replace(inventory=held))
    making = [command for command in listed if command.startswith(("craft", "smelt"))]
    assert making == list(dict.fromkeys([*crafts(held), *smelts(held)]))


def test_counts__go_up_to_the_most_that_one_goal_takes():
    most: Counter[str] = Counter()
    for rules in RULES:
        env = gym.make("MineTechTree-v0", split="all", rules=rules, expert=True)
        for task, seed in product(env.get_wrapper_attr("tasks"), range(3)):
            plan = env.reset(seed=seed, options={"task": task.id})[1]["expert_plan"]
            for _, count, item in re.findall(
                r"^(mine|hunt) (\d+) (.+?)(?: with .*)?$", "\n".join(plan), re.MULTILINE
            ):
                most[item] = max(most[item], int(count))
    assert {item: count for item, count in most.items() if count > 1} == {
        name_of(item): MOST[item] for item in MOST
    }
