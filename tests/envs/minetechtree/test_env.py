"""The environment: several goals, ticks, feedback, rules, and what info says."""

from __future__ import annotations

import random
import re

import gymnasium as gym
import pytest

import textcraft_gym
from textcraft_gym import UnknownName
from textcraft_gym.agents.baselines.expert import ExpertAgent

ID = "MineTechTree-v0"


def test_reset__ends_with_the_goal():
    env = gym.make(ID)
    said, info = env.reset(seed=0, options={"task": "iron_pickaxe"})
    assert said.endswith("\nGoal: obtain 1 iron pickaxe.")
    assert said.startswith("You are in the ")
    assert (info["ticks"], info["ticks_left"]) == (0, 6000)


def test_reset__says_that_armour_must_be_worn_unless_it_need_not():
    for rules, is_said in (("vanilla", True), ("deps", False)):
        said, _ = gym.make(ID, rules=rules).reset(seed=0, options={"task": "shield"})
        assert (
            "What is worn counts once it is equipped.\n\nGoal: obtain 1 shield." in said
        ) == is_said


def test_armour__wins_when_it_is_equipped_and_for_deps_when_it_is_held():
    for rules, last in (
        ("vanilla", "equip leather boots"),
        ("deps", "craft 1 leather boots using 4 leather"),
    ):
        env = gym.make(ID, rules=rules, expert=True)
        _, info = env.reset(seed=0, options={"task": "leather_boots"})
        for action in info["expert_plan"]:
            assert not info["won"]
            _, reward, terminated, _, info = env.step(action)
        assert (action, reward, terminated, info["won"]) == (last, 1.0, True, True)


def test_several_goals__are_won_when_each_was_obtained():
    env = gym.make(ID, expert=True)
    said, info = env.reset(seed=0, options={"task": ["crafting_table", "stick", "wooden_sword"]})
    assert said.endswith("Goal: obtain 1 crafting table, 1 stick, 1 wooden sword.")
    assert info["task"] == "crafting_table+stick+wooden_sword"
    won = []
    for action in info["expert_plan"]:
        _, reward, terminated, _, info = env.step(action)
        won.append((reward, terminated, info["won"]))
    assert won == [(0.0, False, False)] * 4 + [
        (1.0, True, True)
    ]  # though both sticks are not held any more


def test_given__is_held_at_first_unless_it_is_the_goal():
    env = gym.make(ID, given={"wooden axe": 1, "minecraft:oak_planks": 3}, expert=True)
    _, info = env.reset(seed=0, options={"task": "chest"})
    assert env.step("inventory")[0].strip() == "Inventory: 1 wooden axe, 3 oak planks"
    bare = gym.make(ID, expert=True)
    bare.reset(seed=0, options={"task": "chest"})
    quicker, slower = (world.step("mine 1 oak log")[4]["ticks"] for world in (env, bare))
    assert quicker < slower
    for task in ("wooden_axe", ["chest", "wooden_axe"]):
        _, info = env.reset(seed=0, options={"task": task})
        assert env.step("inventory")[0].strip() == "Inventory: 3 oak planks"
        assert not info["won"]
        while not info["won"]:
            info = env.step(info["expert_plan"][0])[4]
    snapshot = env.get_wrapper_attr("snapshot")()
    with pytest.raises(ValueError, match="expected a snapshot of"):
        bare.get_wrapper_attr("restore")(snapshot)


def test_given__is_items_with_counts():
    with pytest.raises(UnknownName, match=r"unknown item 'wooden ax'\. Did you mean wooden axe"):
        gym.make(ID, given={"wooden ax": 1})
    for given in ({"wooden axe": 0}, {"wooden axe": "1"}, "wooden axe", ["wooden axe"]):
        with pytest.raises(ValueError, match="expected given"):
            gym.make(ID, given=given)


def test_ticks__truncate():
    env = gym.make(ID, ticks=400)
    env.reset(seed=0, options={"task": "chest"})
    said, reward, terminated, truncated, info = env.step("mine 100 oak log")
    assert (said, reward, terminated, truncated) == ("Time is up.", 0.0, False, True)
    assert (info["ticks"], info["ticks_left"], info["invalid_reason"]) == (400, 0, "out_of_time")
    with pytest.raises(gym.error.ResetNeeded):
        env.step("look")


def test_ticks__that_end_with_the_goal_do_not_truncate():
    env = gym.make(ID, expert=True)
    _, info = env.reset(seed=0, options={"task": "stick"})
    for action in info["expert_plan"]:
        info = env.step(action)[4]
    env = gym.make(ID, ticks=info["ticks"], expert=True)
    _, info = env.reset(seed=0, options={"task": "stick"})
    for action in info["expert_plan"]:
        _, _, terminated, truncated, info = env.step(action)
    assert (terminated, truncated, info["ticks_left"]) == (True, False, 0)


def test_ticks__are_spent_by_the_last_action_that_fits():
    env = gym.make(ID)
    env.reset(seed=0, options={"task": "chest"})
    spent = env.step("mine 1 oak log")[4]["ticks"]
    env = gym.make(ID, ticks=spent)
    env.reset(seed=0, options={"task": "chest"})
    said, _, terminated, truncated, info = env.step("mine 1 oak log")
    assert (said, terminated, truncated) == ("Mined 1 oak log", False, True)
    assert "invalid_reason" not in info


def test_feedback__says_why_or_only_that_it_did_not_work():
    for feedback, said in (
        ("reason", "Could not mine cobblestone: requires wooden pickaxe"),
        ("terse", "Could not mine cobblestone"),
    ):
        env = gym.make(ID, feedback=feedback)
        env.reset(seed=0)
        step = env.step("mine 1 cobblestone")
        assert (step[0], step[4]["invalid_reason"]) == (said, "needs_tool")


def test_arguments__that_are_none_are_named():
    for argument in ("rules", "feedback", "split"):
        with pytest.raises(UnknownName, match=f"unknown {argument} 'nope'"):
            gym.make(ID, **{argument: "nope"})
    for ticks in (0, -5, 1.5, True):
        with pytest.raises(ValueError, match=r"expected ticks (of 1 or more|to be a whole number)"):
            gym.make(ID, ticks=ticks)


def test_admissible__works_and_offers_no_more_than_is_in_sight():
    env = gym.make(ID, admissible=True, ticks=100_000, max_episode_steps=-1)
    draw = random.Random(0).random
    for seed in range(20):
        said, info = env.reset(seed=seed, options={"task": "diamond"})
        for action in info["admissible_commands"]:
            if action.startswith("mine"):
                assert re.sub(r"^mine \d+ ", "", action).removesuffix(" log") in said
        for _ in range(40):
            offered = info["admissible_commands"]
            _, _, terminated, truncated, info = env.step(offered[int(draw() * len(offered))])
            assert "invalid_reason" not in info
            if terminated or truncated:
                assert info["admissible_commands"] == []
                break


def test_admissible__leads_to_every_skill():
    """What the expert does can be done one by one with what is offered: tables, furnaces, fuel,
    tools, armour."""
    env = gym.make(ID, admissible=True)
    env.reset(seed=0, options={"task": "iron_boots"})
    offered = set()
    for action in (
        "mine 9 oak log",
        "craft 24 oak planks using 6 oak log",
        "craft 4 stick using 2 oak planks",
        "craft 1 crafting table using 4 oak planks",
        "craft 1 wooden pickaxe using 3 oak planks, 2 stick",
        "mine 11 cobblestone",
        "craft 1 furnace using 8 cobblestone",
        "craft 1 stone pickaxe using 3 cobblestone, 2 stick",
        "mine 5 iron ore",
        "smelt 4 iron ingot using 4 iron ore, 3 oak planks",
    ):
        info = env.step(action)[4]
        assert "invalid_reason" not in info, action
        offered.update(info["admissible_commands"])
    assert {
        "craft 4 oak planks using 1 oak log",
        "mine 1 iron ore with stone pickaxe",
        "smelt 1 iron ingot using 1 iron ore, 1 oak planks",
        "smelt 1 charcoal using 1 oak log, 1 oak log",
        "craft 1 iron boots using 4 iron ingot",
    } <= offered
    assert "equip iron boots" not in offered


def test_expert__plays_the_environment_as_an_agent():
    env = gym.make(ID, expert=True)
    episode = textcraft_gym.run_episode(env, ExpertAgent(), task="hopper_minecart", seed=3)
    assert (episode.won, episode.steps) == (True, 14)


def test_worlds__differ_by_seed_and_by_task_and_repeat():
    env = gym.make(ID)
    first = env.reset(seed=1, options={"task": "chest"})[0]
    assert first == gym.make(ID).reset(seed=1, options={"task": "chest"})[0]
    assert first != env.reset(seed=2, options={"task": "chest"})[0]
    assert (
        first.partition("Goal")[0]
        != env.reset(seed=1, options={"task": "stick"})[0].partition("Goal")[0]
    )


def test_fingerprint__is_that_of_recipes_and_facts():
    env = gym.make(ID)
    assert env.get_wrapper_attr("fingerprint") == gym.make(ID, split="MT1").get_wrapper_attr(
        "fingerprint"
    )
    assert len(env.get_wrapper_attr("fingerprint")) == 64
