"""Tools that wear out and break."""

from __future__ import annotations

import random

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.envs.minetechtree.conftest import holding
from textcraft_gym.envs.minetechtree.admissible import admissible_commands
from textcraft_gym.envs.minetechtree.expert import expert_plan
from textcraft_gym.envs.minetechtree.facts import TIERS
from textcraft_gym.envs.minetechtree.generator import generate
from textcraft_gym.envs.minetechtree.rules import apply
from textcraft_gym.envs.minetechtree.state import FIRST, Game, is_won
from textcraft_gym.envs.minetechtree.tasks import find_task

ENDLESS = 10**7
PICKAXE = "minecraft:wooden_pickaxe"


@pytest.fixture
def wearing(game: Game) -> Game:
    return game._replace(durability=True, limit=ENDLESS)


def test_uses__are_those_of_minecraft():
    uses = {
        "wooden": 59,
        "golden": 32,
        "stone": 131,
        "iron": 250,
        "diamond": 1561,
        "netherite": 2031,
    }
    assert {material: tier.uses for material, tier in TIERS.items()} == uses


def test_tool__breaks_after_its_uses_and_yields_what_was_mined_until_then(wearing: Game):
    state, answer, *_ = apply(wearing, holding(wooden_pickaxe=1), "mine 58 cobblestone")
    assert (answer, state.wear) == ("Mined 58 cobblestone", {PICKAXE: 58})
    last, answer, reason, _ = apply(wearing, state, "mine 5 cobblestone")
    assert (answer, reason) == ("Mined 1 cobblestone\nThe wooden pickaxe broke.", "")
    assert last.inventory == {"minecraft:cobblestone": 59}
    assert last.wear == {}
    assert last.ticks - state.ticks == 23  # the time of one
    assert apply(wearing, last, "mine 1 cobblestone")[2] == "needs_tool"


def test_tools__of_a_kind_wear_one_after_the_other(wearing: Game):
    state, answer, *_ = apply(wearing, holding(wooden_pickaxe=3), "mine 130 cobblestone")
    assert answer == "Mined 130 cobblestone\nThe wooden pickaxe broke."
    assert (state.inventory[PICKAXE], state.wear) == (1, {PICKAXE: 130 - 2 * 59})


def test_tool__that_is_used_up_takes_its_wear_with_it(wearing: Game):
    held = holding(iron_pickaxe=1, furnace=1, coal=1)
    state = apply(wearing, held, "mine 200 cobblestone")[0]
    assert state.wear
    state, answer, *_ = apply(wearing, state, "smelt 1 iron nugget using 1 iron pickaxe, 1 coal")
    assert (answer, state.wear) == ("Smelted 1 iron nugget", {})


def test_equipped_tool__is_not_in_hand_once_it_broke(wearing: Game):
    state = apply(wearing, holding(wooden_pickaxe=1), "equip wooden pickaxe")[0]
    assert apply(wearing, state, "mine 59 cobblestone")[0].equipped == {}


def test_axe__that_would_not_last_stays_in_the_bag_unless_it_is_named(wearing: Game):
    held = holding(wooden_axe=1)
    by_hand, answer, *_ = apply(wearing, held, "mine 60 oak log")
    assert (answer, by_hand.wear) == ("Mined 60 oak log", {})
    answer = apply(wearing, held, "mine 60 oak log with wooden axe")[1]
    assert answer == "Mined 59 oak log\nThe wooden axe broke."
    assert apply(wearing, held, "mine 59 oak log")[1] == answer


def test_tool__of_the_wrong_kind_and_bare_hands_do_not_wear(wearing: Game):
    state = holding(wooden_pickaxe=1)
    for action in ("mine 500 oak log", "mine 500 oak log with wooden pickaxe", "hunt 50 beef"):
        assert not apply(wearing, state, action)[0].wear


@given(counts=st.lists(st.integers(1, 150), max_size=12), held=st.integers(1, 4))
def test_tools__last_for_all_their_uses_however_they_are_shared_out(
    game: Game, counts: list[int], held: int
):
    wearing = game._replace(durability=True, limit=ENDLESS)
    state = holding(wooden_pickaxe=held)
    for count in counts:
        before = state
        state, _, reason, _ = apply(wearing, state, f"mine {count} cobblestone")
        assert (PICKAXE in before.inventory) is (not reason)
        mined = state.inventory.get("minecraft:cobblestone", 0)
        assert (
            mined + 59 * state.inventory.get(PICKAXE, 0) - state.wear.get(PICKAXE, 0) == 59 * held
        )
    assert state.inventory.get("minecraft:cobblestone", 0) == min(sum(counts), 59 * held)


def test_expert__plans_as_before_where_no_tool_breaks():
    for number, name in enumerate(("diamond", "hopper_minecart", "iron_chestplate", "armor_stand")):
        task = find_task(name, "vanilla")
        game = Game(generate(task.id, number), task.aims, task.ticks)
        assert expert_plan(game, FIRST) == expert_plan(game._replace(durability=True), FIRST)


def test_expert__makes_another_tool_where_one_does_not_last(wearing: Game):
    worn = holding(wooden_pickaxe=1, stone_pickaxe=1, crafting_table=1, oak_planks=30)
    worn = worn._replace(wear={PICKAXE: 57, "minecraft:stone_pickaxe": 130})
    plan = expert_plan(wearing, worn)
    assert "mine 3 iron ore with stone pickaxe" in plan
    assert any(action.startswith("craft 1 stone pickaxe") for action in plan)
    state = worn
    for action in plan:
        state, _, reason, _ = apply(wearing, state, action)
        assert not reason
    assert is_won(wearing, state)


@pytest.mark.parametrize(
    "name", ["diamond", "hopper_minecart", "stone_brick_stairs", "iron_leggings", "oak_boat"]
)
def test_expert__wins_from_wherever_tools_are_worn(name: str):
    task = find_task(name, "vanilla")
    draw = random.Random(name).random
    for number in range(12):
        game = Game(generate(task.id, number), task.aims, ENDLESS, durability=True)
        state = FIRST
        for _ in range(int(40 * draw())):
            offered = admissible_commands(game, state)
            state = apply(game, state, offered[int(draw() * len(offered))])[0]
        extra = {
            f"minecraft:{material}_{kind}": 1
            for material in ("wooden", "stone", "iron")
            for kind in ("pickaxe", "axe")
        }
        held = {tool: 1 for tool in extra if draw() < 0.5}
        wear = {tool: int(draw() * TIERS[tool.split(":")[1].split("_")[0]].uses) for tool in held}
        state = state._replace(inventory={**state.inventory, **held}, wear={**state.wear, **wear})
        if is_won(game, state):
            continue
        for action in (plan := expert_plan(game, state)):
            state, _, reason, _ = apply(game, state, action)
            assert not reason, (action, plan)
        assert is_won(game, state)


def test_argument__is_that_of_the_environment():
    env = gym.make("MineTechTree-v0", durability=True, ticks=10**6)
    env.reset(seed=0, options={"task": "diamond"})
    for action in (
        "mine 5 oak log",
        "craft 20 oak planks using 5 oak log",
        "craft 4 stick using 2 oak planks",
        "craft 1 crafting table using 4 oak planks",
        "craft 1 wooden pickaxe using 3 oak planks, 2 stick",
    ):
        env.step(action)
    assert env.step("mine 100 cobblestone")[0] == "Mined 59 cobblestone\nThe wooden pickaxe broke."
