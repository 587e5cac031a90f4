"""The expert wins every task in the fewest actions, and from wherever one got to."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from textcraft_gym.envs.minetechtree.admissible import admissible_commands
from textcraft_gym.envs.minetechtree.expert import expert_plan, fewest_skills, ways
from textcraft_gym.envs.minetechtree.facts import WOODS
from textcraft_gym.envs.minetechtree.generator import generate
from textcraft_gym.envs.minetechtree.rules import apply
from textcraft_gym.envs.minetechtree.state import FIRST, Game, State, is_won
from textcraft_gym.envs.minetechtree.tasks import all_tasks, find_task

DIFFERENT = {
    "white_carpet": (5, 2),
    "stone": (9, 8),
    "torch": (9, 7),
    "coal": (8, 6),
    "armor_stand": (10, 11),
    "quartz_block": (10, 7),
    "stone_button": (7, 9),
}
"""Where the paper's Required Skills are not the fewest that do: the paper's, and ours."""

LONGEST = 14


def begin(name: str, word: int, rules: str = "vanilla", ticks: int | None = None) -> Game:
    task = find_task(name, rules)
    return Game(generate(task.id, word), task.aims, ticks or task.ticks)


def end(game: Game, state: State, plan: list[str]) -> State:
    for action in plan:
        state, answer, reason, _ = apply(game, state, action)
        assert not reason, (action, answer)
    return state


@pytest.mark.parametrize("rules", ["vanilla", "deps"])
def test_expert__wins_every_task_in_time_and_in_the_fewest_actions(rules):
    for task in all_tasks(rules).values():
        for word in range(5):
            game = begin(task.id, word, rules)
            plan = expert_plan(game, FIRST)
            assert len(plan) == task.optimal_length <= LONGEST
            assert is_won(game, end(game, FIRST, plan)), task.id


@pytest.mark.parametrize(
    "goals", ["cooked_beef+leather_boots", "white_bed+cooked_mutton+item_frame", "oak_boat+chest"]
)
def test_shortest_solution__hunts_once_for_all_that_an_animal_gives(goals):
    game = begin(goals, 0, ticks=100_000)
    plan = expert_plan(game, FIRST)
    assert is_won(game, end(game, FIRST, plan))
    assert len(plan) == find_task(goals, "vanilla").optimal_length


def test_skills__are_the_papers_but_for_the_seven_known():
    tasks = all_tasks("vanilla")
    assert len(tasks) == 76
    ours = {
        name: (task.depth, fewest_skills(aim.item for aim in task.aims))
        for name, task in tasks.items()
    }
    assert {name: skills for name, skills in ours.items() if skills[0] != skills[1]} == DIFFERENT


def test_plan__has_an_action_a_skill_and_one_to_equip():
    plans = {rules: expert_plan(begin("shield", 0, rules), FIRST) for rules in ("vanilla", "deps")}
    assert plans["vanilla"] == [*plans["deps"], "equip shield"]
    assert len(plans["deps"]) == 11


def test_ways__take_nothing_that_is_not_among_their_skills():
    for wood in WOODS:
        order = list(ways(wood))
        for place, (item, way) in enumerate(ways(wood).items()):
            needed = {*way.chosen, way.tool, way.fuel} - {""}
            assert needed <= way.skills - {item}
            assert all(order.index(part) > place for part in needed)
            assert way.skills == {item}.union(*(ways(wood)[part].skills for part in needed))


def test_expert__wins_from_wherever_a_random_player_got_to():
    for number, name in enumerate(all_tasks("vanilla")):
        game, state = begin(name, number, ticks=1_000_000), FIRST
        draw = random.Random(number).random
        for turn in range(60):
            if is_won(game, state):
                break
            if turn % 12 == 11:
                plan = expert_plan(game, state)
                assert plan
                assert is_won(game, end(game, state, plan)), (name, state)
            offered = admissible_commands(game, state)
            state, *_ = apply(game, state, offered[int(draw() * len(offered))])


def test_expert__goes_on_from_the_middle_of_its_plan():
    for name in ("hopper_minecart", "armor_stand", "white_bed", "iron_boots"):
        game, state = begin(name, 1), FIRST
        for left in range(len(expert_plan(game, FIRST)), 0, -1):
            plan = expert_plan(game, state)
            assert len(plan) == left
            state, *_ = apply(game, state, plan[0])
        assert expert_plan(game, state) == []


def test_expert__uses_what_is_held():
    held = {
        "iron_pickaxe": 1,
        "birch_planks": 8,
        "furnace": 1,
        "coal": 1,
        "crafting_table": 1,
        "iron_ore": 5,
    }
    state = FIRST._replace(inventory={f"minecraft:{item}": count for item, count in held.items()})
    assert expert_plan(begin("chest", 0), state) == ["craft 1 chest using 8 birch planks"]
    assert expert_plan(begin("bucket", 0), state) == [
        "smelt 3 iron ingot using 3 iron ore, 1 coal",
        "craft 1 bucket using 3 iron ingot",
    ]
    without = state._replace(
        inventory={item: n for item, n in state.inventory.items() if item != "minecraft:coal"}
    )
    assert (
        expert_plan(begin("bucket", 0), without)[0]
        == "smelt 3 iron ingot using 3 iron ore, 2 birch planks"
    )
    assert expert_plan(begin("diamond", 0), state) == ["mine 1 diamond with iron pickaxe"]
    assert expert_plan(
        begin("coal", 0), state._replace(inventory={"minecraft:iron_pickaxe": 1})
    ) == ["mine 1 coal with iron pickaxe"]


def test_expert__makes_no_more_than_is_needed():
    plan = expert_plan(begin("furnace_minecart", 0), FIRST)
    assert (
        "craft 1 furnace using 8 cobblestone" in plan
    )  # the furnace that smelts goes into the minecart
    assert "mine 11 cobblestone with wooden pickaxe" in plan


def test_expert__plans_nothing_where_time_does_not_do():
    game = begin("diamond", 0)
    assert expert_plan(game, FIRST._replace(ticks=game.limit - 5)) == []
    needed = end(game, FIRST, expert_plan(game, FIRST)).ticks
    assert expert_plan(game._replace(limit=needed), FIRST)
    assert not expert_plan(game._replace(limit=needed - 1), FIRST)


def test_expert__hunts_once_for_all_that_an_animal_gives():
    game = begin("cooked_beef+leather_boots", 0, "deps")
    hunts = [action for action in expert_plan(game, FIRST) if action.startswith("hunt")]
    assert hunts == ["hunt 4 leather"]


def test_expert__wins_two_goals_at_once():
    names = list(all_tasks("vanilla"))
    pairs = list(combinations(names, 2))[::7]
    assert len(pairs) > 400
    for number, pair in enumerate(pairs):
        game = begin("+".join(pair), number)
        assert is_won(game, end(game, FIRST, expert_plan(game, FIRST))), pair


def test_expert__wins_three_and_four_goals_at_once():
    names = list(all_tasks("vanilla"))
    draw = random.Random(0).random
    for number in range(100):
        some = list(dict.fromkeys(names[int(draw() * len(names))] for _ in range(3 + number % 2)))
        game = begin("+".join(some), number)
        assert is_won(game, end(game, FIRST, expert_plan(game, FIRST))), some
