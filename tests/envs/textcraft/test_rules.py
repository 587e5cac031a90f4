"""The rules: the table of the rule book row by row, and the whole of it against a second
implementation."""

from __future__ import annotations

import re

import gymnasium as gym
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textcraft_gym.envs.textcraft import rules, text
from textcraft_gym.envs.textcraft.rules import apply, world_of
from textcraft_gym.recipes import RecipeBook

from . import reference
from .lines import anything, episodes, lines

GROUP, ITEM = RecipeBook.load(tags="group"), RecipeBook.load(tags="item")
EMPTY = "Inventory: You are not carrying anything."


def say(*actions: str, book: RecipeBook = GROUP, held: dict[str, int] | None = None) -> str:
    """Play from what is held and return the last observation."""
    inventory, observation = held or {}, ""
    for action in actions:
        inventory, observation, *_ = apply(world_of(book), inventory, action)
    return observation


LOGS = ("get 2 oak logs", "craft 4 oak planks using 1 oak logs")
FAR = "9" * 5000


@pytest.mark.parametrize(
    ("actions", "observation"),
    [
        (["get 2 oak log"], "Got 2 oak log"),
        (["get 2 oak_log"], "Got 2 oak_log"),
        (["get 000005 oak log"], "Got 5 oak log"),
        (["get 999999 oak log"], "Got 999999 oak log"),
        (["get 1000000 oak log"], "Could not find oak log"),
        (["get 0 oak log"], "Could not find oak log"),
        (["get -1 oak log"], "Could not execute get -1 oak log"),
        ([f"get {FAR} oak log"], "Could not find oak log"),
        (["get 1 minecraft:oak_log"], "Could not find minecraft:oak_log"),
        (["get 1 stick"], "Could not find stick"),
        (["get 1 planks"], "Could not find planks"),
        (["get 1 wooden_door"], "Could not find wooden_door"),
        (["get 1 unicorn"], "Could not find unicorn"),
        (["get 1 Oak log"], "Could not find Oak log"),
        (["get 1  oak log"], "Could not find  oak log"),
        (["get 1 oak log!"], "Could not find oak log!"),
        (["get 1 oak\0log"], "Could not find oak\0log"),
        (["get 1 🪵"], "Could not find 🪵"),
        (["get 1 oak\nlog"], "Could not execute get 1 oak\nlog"),
        (LOGS, "Crafted 4 minecraft:oak_planks"),
        ([LOGS[0], "craft 9 oak planks using 1 oak logs"], "Crafted 4 minecraft:oak_planks"),
        ([LOGS[0], "craft 0004 oak_planks using 01 oak_logs"], "Crafted 4 minecraft:oak_planks"),
        ([*LOGS, "craft 4 stick using 2 oak planks"], "Crafted 4 minecraft:stick"),
        (
            [*LOGS, "craft 4 stick using 2 planks"],
            "Could not find enough items to craft minecraft:stick",
        ),
        (
            ["craft 4 stick using 2 oak planks"],
            "Could not find enough items to craft minecraft:stick",
        ),
        (
            ["craft 1 minecraft:stick using 2 oak planks"],
            "Could not find enough items to craft minecraft:minecraft:stick",
        ),
        (
            ["craft 1 my unicorn using 1 oak log"],
            "Could not find enough items to craft minecraft:my_unicorn",
        ),
        (
            [*LOGS, "craft 1 my unicorn using 1 oak logs"],
            "Could not find a valid recipe for minecraft:my_unicorn",
        ),
        (
            [*LOGS, "craft 4 stick using 1 oak planks"],
            "Could not find a valid recipe for minecraft:stick",
        ),
        (
            [*LOGS, "craft 4 stick using 3 oak planks"],
            "Could not find a valid recipe for minecraft:stick",
        ),
        (
            [*LOGS, "craft 4 stick using 1 oak planks, 1 oak planks"],
            "Could not find a valid recipe for minecraft:stick",
        ),
        (
            [*LOGS, "craft 1 oak logs using 1 oak logs"],
            "Could not find a valid recipe for minecraft:oak_logs",
        ),
        (["craft 4 stick using oak planks"], "Wrong item format: oak planks"),
        (["craft 4 stick using 2 oak planks, and stones"], "Wrong item format: and stones"),
        (["craft 4 stick using 2 oak planks,"], "Wrong item format: "),
        (["craft 4 stick using 0 oak planks"], "Wrong item format: 0 oak planks"),
        (["craft 4 stick using -1 oak planks"], "Wrong item format: -1 oak planks"),
        (["craft 4 stick using 1000000 oak planks"], "Wrong item format: 1000000 oak planks"),
        ([f"craft 4 stick using {FAR} oak planks"], f"Wrong item format: {FAR[:200]}"),
        (
            ["craft 4 stick using 999999 oak planks"],
            "Could not find enough items to craft minecraft:stick",
        ),
        (
            ["craft 0 stick using 2 oak planks"],
            "Could not execute craft 0 stick using 2 oak planks",
        ),
        (["craft 1000000 stick using oak"], "Could not execute craft 1000000 stick using oak"),
        (
            ["craft -1 stick using 2 oak planks"],
            "Could not execute craft -1 stick using 2 oak planks",
        ),
        (
            ["craft stick using 2 oak planks"],
            "Could not find enough items to craft minecraft:stick",
        ),
        ([*LOGS, "craft stick using 2 oak planks"], "Crafted 4 minecraft:stick"),
        (["get 2 bamboo", "craft stick using 2 bamboo"], "Crafted 1 minecraft:stick"),
        (
            [*LOGS, "craft stick using 3 oak planks"],
            "Could not find a valid recipe for minecraft:stick",
        ),
        (["craft stick using oak planks"], "Wrong item format: oak planks"),
        (["craft sticks"], "Could not execute craft sticks"),
        (["craft 4 stick"], "Could not execute craft 4 stick"),
        (["inventory"], EMPTY),
        ([*LOGS, "inventory"], "Inventory: [oak logs] (1) [oak planks] (4) "),
        ([*LOGS, "inventory:"], "Inventory: [oak logs] (1) [oak planks] (4) "),
        ([*LOGS, " inventory.\n"], "Inventory: [oak logs] (1) [oak planks] (4) "),
        (["inventory?"], "Could not execute inventory?"),
        (["look  around "], "Could not execute look  around"),
        (["get 1 oak log and more"], "Could not find oak log and more"),
        (["> get 1 oak log"], "Could not execute > get 1 oak log"),
        ([""], "Could not execute "),
        (["\0"], "Could not execute \0"),
    ],
)
def test_observation__is_the_text_of_the_rule_book(actions, observation):
    assert say(*actions) == observation


@pytest.mark.parametrize(
    ("action", "observation"),
    [
        ("é" * 201, "Could not execute " + "é" * 200),
        ("get 1 " + "é" * 201, "Could not find " + "é" * 200),
        ("craft 1 stick using " + "é" * 201, "Wrong item format: " + "é" * 200),
        (
            "craft 1 " + "é🪵 " * 67 + " using 1 z",
            "Could not find enough items to craft minecraft:" + ("é🪵_" * 67)[:200],
        ),
    ],
)
def test_echo__stops_at_200_characters(action, observation):
    assert say(action) == observation


def test_inventory__lists_an_item_that_ran_out_and_came_back_at_the_end():
    actions = [
        "get 1 oak logs",
        "get 3 string",
        "get 2 flint",
        "craft 4 oak planks using 1 oak logs",
    ]
    assert say(*actions, "inventory") == "Inventory: [string] (3) [flint] (2) [oak planks] (4) "
    actions += ["get 5 oak logs", "get 1 string"]
    assert (
        say(*actions, "inventory")
        == "Inventory: [string] (4) [flint] (2) [oak planks] (4) [oak logs] (5) "
    )


@pytest.mark.parametrize(
    ("using", "reason"),
    [
        (
            "1 oak logs, planks",
            "wrong_item_format",
        ),  # neither held nor a recipe, but first of all misspelt
        ("2 oak logs", "not_enough_items"),  # not a recipe either
        ("1 oak logs", "no_recipe"),
    ],
)
def test_craft__checks_format_then_held_then_recipe(using, reason):
    held = {"minecraft:oak_logs": 1}
    assert apply(world_of(GROUP), held, f"craft 4 stick using {using}")[2] == reason


def test_slot__takes_one_kind_in_v0_and_a_mix_with_real_tags():
    held = {"minecraft:oak_planks": 1, "minecraft:birch_planks": 1}
    action = "craft 4 stick using 1 oak planks, 1 birch planks"
    assert say(action, book=GROUP, held=held) == "Could not find a valid recipe for minecraft:stick"
    assert say(action, book=ITEM, held=held) == "Crafted 4 minecraft:stick"


def test_ingredient__that_is_repeated_is_no_such_recipe():
    held = {"minecraft:oak_planks": 9}
    for action in (
        "craft 4 stick using 1 oak planks, 1 oak_planks",
        "craft 4 stick using 2 oak planks, 2 oak planks",
    ):
        for book in (GROUP, ITEM):
            assert (
                say(action, book=book, held=held)
                == "Could not find a valid recipe for minecraft:stick"
            )


def test_alternative__is_the_first_in_v0_and_any_with_real_tags():
    """In v0 no other recipe takes charcoal, so that it is not even a thing."""
    held = {"minecraft:charcoal": 1, "minecraft:coal": 1, "minecraft:stick": 1}
    with_charcoal, with_coal = (
        "craft 4 torch using 1 charcoal, 1 stick",
        "craft 4 torch using 1 stick, 1 coal",
    )
    crafted, failed = (
        "Crafted 4 minecraft:torch",
        "Could not find enough items to craft minecraft:torch",
    )
    assert [say(with_coal, book=book, held=held) for book in (GROUP, ITEM)] == [crafted, crafted]
    assert [say(with_charcoal, book=book, held=held) for book in (GROUP, ITEM)] == [failed, crafted]


def test_get__works_for_base_items_and_for_nothing_else(book):
    for item, name in book.names.items():
        expected = "Could not find" if item in book.recipes else "Got 1"
        assert say(f"get 1 {name}", book=book) == f"{expected} {name}"


def test_recipe__can_be_crafted_with_each_member_as_its_line_says(book):
    for recipes in book.recipes.values():
        for recipe in recipes:
            for choice in range(max(len(book.members[slot.ingredient]) for slot in recipe.slots)):
                members = [book.members[slot.ingredient] for slot in recipe.slots]
                chosen = [items[choice % len(items)] for items in members]
                held = {item: slot.amount for item, slot in zip(chosen, recipe.slots, strict=True)}
                using = ", ".join(f"{count} {book.names[item]}" for item, count in held.items())
                action = f"craft 1 {book.names[recipe.output]} using {using}"
                assert apply(world_of(book), held, action)[0] == {recipe.output: recipe.makes}


@pytest.mark.parametrize("book", [GROUP, ITEM], ids=["group", "item"])
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_apply__answers_as_the_rule_book_does(book, data):
    inventory, actions = data.draw(episodes(book))
    held = list(inventory.items())
    for action in actions:
        before = dict(inventory)
        after, observation, reason, _ = apply(world_of(book), inventory, action)
        held, expected = reference.answer(book, held, action)
        assert observation == expected
        assert list(after.items()) == held
        assert list(inventory.items()) == list(before.items()), (
            "apply changed the inventory that it was given"
        )
        assert bool(reason) == expected.startswith(("Could", "Wrong"))
        if reason:
            assert after is inventory
            assert reason in rules.REASONS
        inventory = after


DOCUMENTED = [
    r"Could not execute (?P<action>.{0,200})",
    r"Could not find (?P<name>.{0,200})",
    r"Wrong item format: (?P<part>.{0,200})",
    r"Could not find enough items to craft minecraft:.{1,200}",
    r"Could not find a valid recipe for minecraft:.{1,200}",
]


def check_bad_input(env: gym.Env, action: str) -> None:
    """Whatever is said, it is answered as documented; and if it was no action, then nothing has
    changed."""
    before = env.step("inventory")[0]
    observation, earned, terminated, truncated, info = env.step(action)
    assert (earned, terminated, truncated, info["won"]) == (0.0, False, False, False)
    if "invalid_reason" not in info:
        assert observation.startswith(("Got ", "Crafted ", "Inventory: "))
        return
    assert any(re.fullmatch(shape, observation, re.DOTALL) for shape in DOCUMENTED)
    if observation.startswith("Could not execute "):
        assert observation == f"Could not execute {action.strip()[:200]}"
    assert env.step("inventory")[0] == before


@pytest.fixture(scope="module")
def endless() -> gym.Env:
    """An episode that nobody wins by accident, with things in hand."""
    env = gym.make("TextCraft-v0", max_episode_steps=-1, disable_env_checker=True)
    env.reset(seed=0, options={"task": "minecraft:redstone_lamp"})
    for action in ("get 40 oak logs", "get 3 string", "craft 4 oak planks using 1 oak logs"):
        env.step(action)
    return env


nonsense = anything | lines(
    GROUP,
    [recipe for name in ("stick", "bow", "chest") for recipe in GROUP.recipes[f"minecraft:{name}"]],
)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(action=nonsense)
def test_bad_input__is_answered_and_changes_nothing(endless, action):
    check_bad_input(endless, action)


@pytest.mark.slow
@settings(max_examples=100_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(action=nonsense)
def test_bad_input__is_answered_and_changes_nothing_in_100_000_examples(endless, action):
    check_bad_input(endless, action)


@pytest.mark.parametrize("cached", [0, 1, 1 << 14])
def test_inventory__is_the_same_whether_its_entries_are_cached_or_not(
    cached: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(text, "_MAX_ENTRIES", cached)
    fresh = RecipeBook.load("made:depth=2,items=20,seed=9")
    held = {item: 7**index for index, item in enumerate(fresh.base_items[:5])}
    listed = "Inventory: " + "".join(
        f"[{fresh.names[item]}] ({count}) " for item, count in held.items()
    )
    for _ in range(2):
        assert text.inventory(fresh, held) == listed
    assert len(text._entries(fresh)) == min(cached, 5)
    text._entries.cache_clear()
