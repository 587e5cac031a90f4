"""What follows from the recipe JSON: who needs a table, what fills a slot, what burns."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from textcraft_gym.envs.minetechtree.facts import SOURCE_OF
from textcraft_gym.envs.minetechtree.techtree import Slot, fills, tech_tree


def at_table(item: str) -> set[bool]:
    return {technique.at_table for technique in tech_tree().crafts[f"minecraft:{item}"]}


def test_table__is_needed_where_the_pattern_is_larger_than_two_by_two():
    for item in (
        "oak_planks",
        "stick",
        "crafting_table",
        "torch",
        "lever",
        "oak_button",
        "white_carpet",
        "stone_button",
    ):
        assert at_table(item) == {False}, item
    for item in [
        "bowl",
        "chest",
        "oak_boat",
        "wooden_pickaxe",
        "furnace",
        "iron_bars",
        "rail",
        "oak_slab",
        "cobblestone_wall",
    ]:
        assert at_table(item) == {True}, item


def test_table__is_needed_for_more_than_four_ingredients_without_a_pattern():
    assert at_table("white_concrete_powder") == {True}
    assert at_table("fire_charge") == {False}


def test_tags__are_the_games_own_with_tags_inside_them():
    planks = tech_tree().crafts["minecraft:oak_planks"][0]
    assert planks.makes == 4
    assert set(planks.slots[0].members) == {
        "minecraft:oak_log",
        "minecraft:oak_wood",
        "minecraft:stripped_oak_log",
        "minecraft:stripped_oak_wood",
    }
    charcoal = tech_tree().smelts["minecraft:charcoal"][0].slots[0]
    assert len(charcoal.members) == 24  # four kinds each of six woods, by way of tags in a tag
    assert "minecraft:warped_stem" not in charcoal.members


def test_fuels__are_those_of_the_game():
    fuels = tech_tree().fuels
    assert fuels["minecraft:coal"] == fuels["minecraft:charcoal"] == 80
    assert fuels["minecraft:birch_log"] == fuels["minecraft:birch_planks"] == 15
    assert fuels["minecraft:stick"] == 5
    assert (
        not {"minecraft:warped_planks", "minecraft:iron_ore", "minecraft:cobblestone"}
        & fuels.keys()
    )


def test_sources__give_what_recipes_know():
    assert set(SOURCE_OF) <= set(tech_tree().names)


def test_recipes__that_go_round_are_kept():
    tree = tech_tree()
    nuggets = [
        technique
        for technique in tree.crafts["minecraft:iron_ingot"]
        if technique.slots[0].members == ("minecraft:iron_nugget",)
    ]
    assert [technique.slots[0].amount for technique in nuggets] == [9]
    assert "minecraft:iron_nugget" in tree.crafts


ITEMS = ("a", "b", "c")
SLOTS = st.lists(
    st.builds(
        lambda members, amount: Slot(tuple(sorted(members)), amount, ""),
        st.sets(st.sampled_from(ITEMS), min_size=1),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=3,
)


def filled_by_trying(offer: dict[str, int], slots: tuple[Slot, ...], times: int) -> bool:
    """Lay every single piece into every slot that takes it."""
    pieces = [slot.members for slot in slots for _ in range(slot.amount * times)]
    if len(pieces) != sum(offer.values()):
        return False
    wanted = sorted(item for item, amount in offer.items() for _ in range(amount))
    return any(sorted(chosen) == wanted for chosen in set(product(*pieces)))


@given(
    SLOTS, st.dictionaries(st.sampled_from(ITEMS), st.integers(1, 4), min_size=1), st.integers(1, 2)
)
def test_fills__says_what_trying_says(slots, offer, times):
    slots = tuple(slots)
    if sum(slot.amount for slot in slots) * times <= 7:
        assert fills(tuple(offer.items()), slots, times) == filled_by_trying(offer, slots, times)


def test_fills__costs_no_more_for_large_amounts():
    chest = tech_tree().crafts["minecraft:chest"][0].slots
    offer = (("minecraft:oak_planks", 3_000_000), ("minecraft:birch_planks", 4_999_992))
    assert fills(offer, chest, 999_999)
    assert not fills(offer, chest, 999_998)
