"""Every clause of the rule book: what it does, what it takes, how long it takes, and what refuses
it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.envs.minetechtree.conftest import Turn, holding
from textcraft_gym.envs.minetechtree import moves
from textcraft_gym.envs.minetechtree.admissible import admissible_commands
from textcraft_gym.envs.minetechtree.costs import best_tool, ticks_for, tools_for
from textcraft_gym.envs.minetechtree.facts import SOURCES
from textcraft_gym.envs.minetechtree.rules import apply
from textcraft_gym.envs.minetechtree.state import FIRST, Aim, Game, Place, Point, State, World
from textcraft_gym.envs.minetechtree.techtree import tech_tree


def inventory(state: State) -> dict[str, int]:
    return {item.removeprefix("minecraft:"): count for item, count in state.inventory.items()}


TOOLED = holding(wooden_pickaxe=1, crafting_table=1, furnace=1)


@pytest.mark.parametrize(
    ("held", "action", "answer", "after", "ticks"),
    [
        ({}, "mine 3 oak log", "Mined 3 oak log", {"oak_log": 3}, 10 * 5 + 3 * 60),
        ({}, "mine 1 birch log", "Mined 1 birch log", {"birch_log": 1}, 20 * 5 + 60),
        (
            {"stone_axe": 1},
            "mine 2 oak log with stone axe",
            "Mined 2 oak log",
            {"stone_axe": 1, "oak_log": 2},
            10 * 5 + 2 * 15,
        ),
        (
            {"iron_axe": 1},
            "mine 2 oak log",
            "Mined 2 oak log",
            {"iron_axe": 1, "oak_log": 2},
            10 * 5 + 2 * 10,
        ),
        (
            {"stick": 1},
            "mine 1 oak log with stick",
            "Mined 1 oak log",
            {"stick": 1, "oak_log": 1},
            10 * 5 + 60,
        ),
        (
            {"wooden_pickaxe": 1},
            "mine 2 cobblestone with wooden pickaxe",
            "Mined 2 cobblestone",
            {"wooden_pickaxe": 1, "cobblestone": 2},
            4 * 5 + 2 * 23,
        ),
        (
            {"golden_pickaxe": 1},
            "mine 1 coal",
            "Mined 1 coal",
            {"golden_pickaxe": 1, "coal": 1},
            15 * 5 + 8,
        ),
        (
            {"stone_pickaxe": 1},
            "mine 1 iron ore",
            "Mined 1 iron ore",
            {"stone_pickaxe": 1, "iron_ore": 1},
            25 * 5 + 23,
        ),
        (
            {"iron_pickaxe": 1},
            "mine 1 diamond",
            "Mined 1 diamond",
            {"iron_pickaxe": 1, "diamond": 1},
            60 * 5 + 15,
        ),
        ({}, "hunt 2 beef", "Hunted 2 beef, 2 leather", {"beef": 2, "leather": 2}, 30 * 5 + 200),
        (
            {},
            "hunt 1 white wool",
            "Hunted 1 white wool, 1 mutton",
            {"white_wool": 1, "mutton": 1},
            40 * 5 + 80,
        ),
        (
            {"oak_log": 2},
            "craft 4 oak planks using 1 oak log",
            "Crafted 4 oak planks",
            {"oak_log": 1, "oak_planks": 4},
            1,
        ),
        (
            {"oak_log": 2},
            "craft 5 oak planks using 2 oak log",
            "Crafted 8 oak planks",
            {"oak_planks": 8},
            1,
        ),
        (
            {"oak_planks": 3, "birch_planks": 1},
            "craft 8 stick using 3 oak planks, 1 birch planks",
            "Crafted 8 stick",
            {"stick": 8},
            1,
        ),
        (
            {"oak_planks": 4},
            "craft 4 stick using 1 oak planks, 1 oak planks",
            "Crafted 4 stick",
            {"oak_planks": 2, "stick": 4},
            1,
        ),
        (
            {"crafting_table": 1, "oak_planks": 8},
            "craft 1 chest using 8 oak planks",
            "Crafted 1 chest",
            {"crafting_table": 1, "chest": 1},
            1,
        ),
        (
            {"furnace": 1, "iron_ore": 3, "oak_planks": 5},
            "smelt 3 iron ingot using 3 iron ore, 2 oak planks",
            "Smelted 3 iron ingot",
            {"furnace": 1, "oak_planks": 3, "iron_ingot": 3},
            30,
        ),
        (  # more fuel than is needed does not burn, in the order in which it was named
            {"furnace": 1, "beef": 1, "stick": 1, "coal": 2, "oak_planks": 1},
            "smelt 1 cooked beef using 1 beef, 1 stick, 2 coal, 1 oak planks",
            "Smelted 1 cooked beef",
            {"furnace": 1, "coal": 1, "oak_planks": 1, "cooked_beef": 1},
            10,
        ),
        (
            {"furnace": 1, "cobblestone": 8, "charcoal": 1},
            "smelt 8 stone using 8 cobblestone, 1 charcoal",
            "Smelted 8 stone",
            {"furnace": 1, "stone": 8},
            80,
        ),
        (
            {"furnace": 1, "oak_log": 4},
            "smelt 2 charcoal using 2 oak log, 2 oak log",
            "Smelted 2 charcoal",
            {"furnace": 1, "charcoal": 2},
            20,
        ),
        (
            {"furnace": 1, "beef": 1, "stick": 2},
            "smelt 1 minecraft:cooked_beef using 1 minecraft:beef, 2 minecraft:stick",
            "Smelted 1 cooked beef",
            {"furnace": 1, "cooked_beef": 1},
            10,
        ),
        ({"shield": 1}, "equip shield", "Equipped shield", {"shield": 1}, 1),
    ],
)
def test_action__does_what_it_says(play, held, action, answer, after, ticks):
    before = holding(**held)
    turn = play(before, action)
    assert (turn.text, turn.why, turn.reason) == (answer, "", "")
    assert inventory(turn.state) == after
    assert turn.state.ticks == ticks
    assert before == holding(**held)  # and leaves what it was given


@pytest.mark.parametrize(
    ("held", "action", "answer", "why", "reason"),
    [
        (
            {},
            "mine 1 cobblestone",
            "Could not mine cobblestone",
            "requires wooden pickaxe",
            "needs_tool",
        ),
        (
            {"golden_pickaxe": 1},
            "mine 1 iron ore",
            "Could not mine iron ore",
            "requires stone pickaxe",
            "needs_tool",
        ),
        (
            {"stone_pickaxe": 1},
            "mine 1 diamond",
            "Could not mine diamond",
            "requires iron pickaxe",
            "needs_tool",
        ),
        (  # the tool that is named is used, though a better one is held
            {"wooden_pickaxe": 1, "iron_pickaxe": 1},
            "mine 1 iron ore with wooden pickaxe",
            "Could not mine iron ore",
            "requires stone pickaxe",
            "needs_tool",
        ),
        (
            {"stone_axe": 1},
            "mine 1 coal",
            "Could not mine coal",
            "requires wooden pickaxe",
            "needs_tool",
        ),
        (
            {},
            "mine 1 coal with iron pickaxe",
            "Could not mine coal",
            "requires 1 iron pickaxe",
            "not_enough_items",
        ),
        (
            {},
            "mine 1 coal with unobtainium",
            "Could not mine coal",
            "there is no unobtainium",
            "unknown_item",
        ),
        (
            {},
            "mine 1 spruce log",
            "Could not mine spruce log",
            "there are no spruce trees in this world",
            "not_here",
        ),
        ({}, "mine 1 beef", "Could not mine beef", "hunt it", "wrong_skill"),
        ({}, "hunt 1 oak log", "Could not hunt oak log", "mine it", "wrong_skill"),
        ({}, "mine 1 stick", "Could not mine stick", "craft it", "wrong_skill"),
        (
            {},
            "craft 1 stone using 1 cobblestone",
            "Could not craft stone",
            "smelt it",
            "wrong_skill",
        ),
        ({}, "mine 1 iron ingot", "Could not mine iron ingot", "craft or smelt it", "wrong_skill"),
        ({}, "mine 1 sand", "Could not mine sand", "nothing here gives it", "wrong_skill"),
        (
            {},
            "hunt 1 sheep",
            "Could not hunt sheep",
            "say what of it: mutton or white wool",
            "wrong_skill",
        ),
        (
            {},
            "mine 1 unobtainium",
            "Could not mine unobtainium",
            "there is no unobtainium",
            "unknown_item",
        ),
        ({}, "craft 4 stick", "Could not craft stick", "say using what", "no_ingredients"),
        (
            {"oak_planks": 9},
            "craft 1 crafting table using 3 oak planks",
            "Could not craft crafting table",
            "1 crafting table takes 4 planks",
            "no_recipe",
        ),
        (
            {"oak_planks": 9},
            "craft 1 crafting table using 5 oak planks",
            "Could not craft crafting table",
            "1 crafting table takes 4 planks",
            "no_recipe",
        ),
        (
            {},
            "craft 3 torch using 1 stick",
            "Could not craft torch",
            "4 torch takes 1 stick, 1 coal or charcoal",
            "no_recipe",
        ),
        (
            {},
            "craft 4 stick using 2 bedrock",
            "Could not craft stick",
            "there is no bedrock",
            "unknown_item",
        ),
        (
            {"oak_planks": 7},
            "craft 1 chest using 8 oak planks",
            "Could not craft chest",
            "requires 8 oak planks (7 held)",
            "not_enough_items",
        ),
        (
            {"oak_planks": 8},
            "craft 1 chest using 8 oak planks",
            "Could not craft chest",
            "requires crafting table",
            "needs_crafting_table",
        ),
        (
            {"beef": 1, "stick": 2},
            "smelt 1 cooked beef using 1 beef, 2 stick",
            "Could not smelt cooked beef",
            "requires furnace",
            "needs_furnace",
        ),
        (
            {"furnace": 1, "beef": 1},
            "smelt 1 cooked beef using 1 beef",
            "Could not smelt cooked beef",
            "requires fuel, named last",
            "not_enough_fuel",
        ),
        (
            {"furnace": 1, "beef": 1, "stick": 1},
            "smelt 1 cooked beef using 1 beef, 1 stick",
            "Could not smelt cooked beef",
            "fuel for 0.5 more is needed",
            "not_enough_fuel",
        ),
        (
            {"furnace": 1, "beef": 1, "cobblestone": 1},
            "smelt 1 cooked beef using 1 beef, 1 cobblestone",
            "Could not smelt cooked beef",
            "cobblestone does not burn",
            "not_enough_fuel",
        ),
        (
            {"furnace": 1, "beef": 2, "coal": 1},
            "smelt 2 cooked beef using 1 coal, 2 beef",
            "Could not smelt cooked beef",
            "2 cooked beef takes 2 beef, named first",
            "no_recipe",
        ),
        (
            {"furnace": 1, "oak_log": 2},
            "smelt 2 charcoal using 2 oak log, 2 oak log",
            "Could not smelt charcoal",
            "requires 4 oak log (2 held)",
            "not_enough_items",
        ),
        ({}, "equip shield", "Could not equip shield", "requires 1 shield", "not_enough_items"),
        ({}, "equip crown", "Could not equip crown", "there is no crown", "unknown_item"),
        ({}, "craft 1 chest using planks", "Wrong item format: planks", "", "wrong_item_format"),
        ({}, "dance", "Could not execute dance", "", "unknown_action"),
        ({}, "x" * 300, f"Could not execute {'x' * 200}", "", "unknown_action"),
        (
            {},
            f"mine 1 {'x' * 300}",
            f"Could not mine {'x' * 200}",
            f"there is no {'x' * 200}",
            "unknown_item",
        ),
    ],
)
def test_action__that_cannot_be_done_says_why_and_changes_nothing(
    play, held, action, answer, why, reason
):
    before = holding(**held)
    assert play(before, action) == Turn(before, answer, reason, why)


def test_reasons__are_all_met_and_listed(play):
    met = {
        "dance",
        "craft 1 chest using planks",
        "mine 1 unobtainium",
        "mine 1 stick",
        "mine 1 spruce log",
        "craft 4 stick",
        "craft 4 stick using 9 oak planks",
        "smelt 1 stone using 1 cobblestone",
        "craft 4 stick using 2 oak planks",
        "mine 1 coal",
        "mine 999 oak log",
    }
    reasons = {play(FIRST, action).reason for action in met}
    reasons.add(play(holding(oak_planks=8), "craft 1 chest using 8 oak planks").reason)
    reasons.add(
        play(holding(cobblestone=1, coal=1), "smelt 1 stone using 1 cobblestone, 1 coal").reason
    )
    assert reasons == set(moves.REASONS)


def test_walking__goes_from_where_the_last_thing_was(play):
    at_trees = play(FIRST, "mine 1 oak log").state
    assert at_trees.at == Point(10, 0)
    assert play(at_trees, "mine 1 oak log").state.ticks == at_trees.ticks + 60
    assert play(at_trees, "hunt 1 beef").state.ticks == at_trees.ticks + 40 * 5 + 100


def test_walking__goes_to_the_nearest():
    near, far = Point(0, 7), Point(0, -8)
    places = (Place(SOURCES["cows"], far), Place(SOURCES["cows"], near))
    game = Game(World(places, (("plains", Point(0, 0)),)), (), 1000)
    assert apply(game, FIRST, "hunt 1 beef")[0].at == near


def test_time__that_does_not_do_is_gone_and_nothing_is_gained(play, game):
    spent = FIRST._replace(ticks=game.limit - 109)
    turn = play(spent, "mine 1 oak log")
    assert turn == Turn(spent._replace(ticks=game.limit), "Time is up.", "out_of_time")
    assert play(FIRST._replace(ticks=game.limit - 110), "mine 1 oak log").text == "Mined 1 oak log"


def test_looks__take_no_time(play):
    state = holding(oak_log=2, shield=1)._replace(equipped={"off hand": "minecraft:shield"})
    assert play(state, "look").state == play(state, "inventory").state == state
    assert play(state, "inventory").text == "Inventory: 2 oak log, 1 shield (equipped)"
    assert play(FIRST, "inventory").text == "Inventory: You are not carrying anything."


def test_look__shows_the_nearest_first_and_the_time(play):
    assert play(FIRST, "look").text.split("\n") == [
        "You are in the forest.",
        "You see: oak trees 10 steps away, birch trees 20 steps away, cows 30 steps away, sheep 40 steps away.",
        "Under the ground: stone 4 steps away, coal ore 15 steps away, iron ore 25 steps away, "
        "diamond ore 60 steps away.",
        "Ticks left: 5000.",
    ]
    assert play(FIRST._replace(at=Point(0, 40, 9)), "look").text.startswith(
        "You are in the plains.\nYou see: sheep 9 "
    )


def test_equipped__is_one_thing_a_place_and_ends_with_the_last_of_it(play):
    state = holding(
        iron_helmet=1, leather_helmet=1, iron_boots=1, stick=2, crafting_table=1, oak_planks=2
    )
    for item in ("iron helmet", "leather helmet", "iron boots", "stick"):
        state = play(state, f"equip {item}").state
    assert state.equipped == {
        "head": "minecraft:leather_helmet",
        "feet": "minecraft:iron_boots",
        "hand": "minecraft:stick",
    }
    state = play(state, "craft 1 wooden sword using 1 stick, 2 oak planks").state
    assert state.equipped["hand"] == "minecraft:stick"  # one of the two is left
    state = state._replace(inventory={**state.inventory, "minecraft:coal": 1})
    assert "hand" not in play(state, "craft 4 torch using 1 stick, 1 coal").state.equipped


def test_obtained__stays_when_the_item_is_used_up():
    game = Game(World((), ()), (Aim("minecraft:stick"), Aim("minecraft:shield", worn=True)), 100)
    state, *_ = apply(game, holding(oak_planks=4), "craft 4 stick using 2 oak planks")
    assert state.obtained == {"minecraft:stick"}
    state, *_ = apply(game, state._replace(inventory={"minecraft:shield": 1}), "equip shield")
    assert state.obtained == {"minecraft:stick", "minecraft:shield"}


def test_best_tool__is_the_fastest_of_those_that_will_do():
    iron = SOURCES["iron ore"]
    held = ["golden_pickaxe", "stone_pickaxe", "diamond_axe"]
    assert best_tool(iron, {f"minecraft:{item}": 1 for item in held}) == "minecraft:stone_pickaxe"
    assert (
        best_tool(SOURCES["stone"], {f"minecraft:{item}": 1 for item in held})
        == "minecraft:golden_pickaxe"
    )
    assert (
        best_tool(SOURCES["oak trees"], {f"minecraft:{item}": 1 for item in held})
        == "minecraft:diamond_axe"
    )
    assert best_tool(iron, {}) == ""


def test_tools__are_of_the_level_that_a_source_asks_for():
    names = {
        name: [
            tool.removeprefix("minecraft:").removesuffix("_pickaxe")
            for tool in tools_for(SOURCES[name])
        ]
        for name in (
            "oak trees",
            "stone",
            "coal ore",
            "nether quartz ore",
            "iron ore",
            "diamond ore",
            "cows",
        )
    }
    soft = ["wooden", "golden", "stone", "iron", "diamond", "netherite"]
    assert names == {
        "oak trees": [],
        "stone": soft,
        "coal ore": soft,
        "nether quartz ore": soft,
        "iron ore": soft[2:],
        "diamond ore": soft[3:],
        "cows": [],
    }


def test_ticks__are_those_of_the_game():
    """The Minecraft Wiki's table of breaking times, in twentieths of a second, rounded up."""
    assert ticks_for(SOURCES["oak trees"], "") == 60
    assert ticks_for(SOURCES["oak trees"], "minecraft:golden_axe") == 5
    assert ticks_for(SOURCES["stone"], "minecraft:iron_pickaxe") == 8
    assert ticks_for(SOURCES["coal ore"], "minecraft:wooden_pickaxe") == 45
    assert ticks_for(SOURCES["sheep"], "minecraft:iron_sword") == 80


def test_admissible__burns_no_log_that_it_smelts(game):
    for logs, is_offered in ((1, False), (2, True)):
        offered = admissible_commands(game, holding(furnace=1, oak_log=logs))
        assert ("smelt 1 charcoal using 1 oak log, 1 oak log" in offered) == is_offered


RICH = dict.fromkeys(
    [
        "oak_log",
        "birch_planks",
        "stick",
        "cobblestone",
        "coal",
        "iron_ore",
        "iron_ingot",
        "beef",
        "white_wool",
        "leather",
        "stone",
    ],
    64,
)


@given(st.data())
def test_making__conserves_what_the_recipe_says(game, data):
    """Whatever is made, the inventory loses just what is used and gains just what is made."""
    state = holding(**RICH, crafting_table=1, furnace=1, chest=3, smooth_stone=5, quartz=8)
    for _ in range(4):
        offered = [
            command
            for command in admissible_commands(game, state)
            if command.startswith(("craft", "smelt"))
        ]
        action = data.draw(st.sampled_from(offered))
        turn = Turn(*apply(game, state, action))
        assert not turn.reason, (action, turn)
        made, used = action.partition(" using ")[::2]
        _, count, name = made.split(" ", 2)
        expected = dict(state.inventory)
        for part in used.split(", "):
            amount, _, item = part.partition(" ")
            expected[tech_tree().ids[item]] -= int(amount)
        item = tech_tree().ids[name]
        expected[item] = expected.get(item, 0) + int(count)
        assert turn.state.inventory == {
            material: amount for material, amount in expected.items() if amount
        }
        assert turn.state.at == state.at
        state = turn.state


ACTIONS = st.one_of(
    st.text(max_size=30),
    st.builds(
        "{} {} {}{}".format,
        st.sampled_from(["mine", "hunt", "craft", "smelt", "equip", "look", ""]),
        st.integers(0, 12),
        st.sampled_from(
            [
                "oak log",
                "stick",
                "oak planks",
                "cobblestone",
                "beef",
                "stone",
                "shield",
                "charcoal",
                "x",
            ]
        ),
        st.sampled_from(
            [
                "",
                " using 1 oak log",
                " using 2 oak planks",
                " with stick",
                " using 1 oak log, 1 oak log",
            ]
        ),
    ),
)


@given(st.lists(ACTIONS, max_size=12))
def test_actions__never_break_the_state(game, actions):
    state = holding(oak_log=3, furnace=1)
    for action in actions:
        turn = Turn(*apply(game, state, action))
        after = turn.state
        assert min(after.inventory.values(), default=1) > 0
        assert set(after.equipped.values()) <= set(after.inventory)
        assert state.ticks <= after.ticks <= game.limit
        assert bool(turn.reason) <= (after == state or turn.reason == "out_of_time")
        assert turn == Turn(*apply(game, state, action))
        state = after


@given(st.lists(ACTIONS, max_size=8))
def test_gathering__is_the_only_way_to_more_matter(game, actions):
    """Without mining and hunting nothing can be had that its recipe does not take: four planks a
    log at the most."""
    state = holding(oak_log=3)
    for action in actions:
        if not action.startswith(("mine", "hunt")):
            state, *_ = apply(game, state, action)
    worth = {"oak_log": 8, "oak_planks": 2, "stick": 1}
    assert sum(worth.get(item, 0) * count for item, count in inventory(state).items()) <= 24
