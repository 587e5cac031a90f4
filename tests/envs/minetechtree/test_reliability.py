"""Misses: how often, what they cost, and what they do not depend on."""

from __future__ import annotations

import gymnasium as gym
import pytest

from tests.envs.minetechtree.conftest import holding
from textcraft_gym import UnknownName
from textcraft_gym.envs.minetechtree.admissible import admissible_commands
from textcraft_gym.envs.minetechtree.expert import expert_plan
from textcraft_gym.envs.minetechtree.generator import generate
from textcraft_gym.envs.minetechtree.moves import MISSED, Equipping, Gathering, Making, understand
from textcraft_gym.envs.minetechtree.reliability import (
    KINDS,
    PUBLISHED,
    WIDE_KINDS,
    kinds_of,
    misses,
    probability,
    read_reliability,
)
from textcraft_gym.envs.minetechtree.rules import apply
from textcraft_gym.envs.minetechtree.state import FIRST, Game, State
from textcraft_gym.envs.minetechtree.tasks import all_tasks

ID = "MineTechTree-v0"
EVERYTHING = holding(
    iron_pickaxe=1,
    crafting_table=1,
    furnace=1,
    oak_log=9,
    oak_planks=30,
    stick=4,
    cobblestone=20,
    coal=5,
    iron_ore=3,
    iron_ingot=3,
)
ACTIONS = {
    "mine 1 oak log": 0.39,
    "mine 64 oak log": 0.39,
    "mine 1 birch log": 0.29,
    "mine 1 spruce log": 0.39,
    "mine 1 cobblestone": 0.95,
    "mine 1 iron ore": 0.40,
    "mine 2 iron ore": 0.40,
    "mine 3 iron ore": 0.16,
    "mine 8 iron ore": 0.16,
    "mine 1 coal": 0.40,
    "mine 3 quartz": 0.40,
    "mine 1 diamond": 0.35,
    "hunt 1 mutton": 0.44,
    "hunt 1 white wool": 0.44,
    "hunt 1 beef": 0.60,
    "hunt 1 leather": 0.60,
    "hunt 1 porkchop": 0.49,
    "craft 1 crafting table using 4 oak planks": 1.0,
    "craft 4 stick using 2 oak planks": 1.0,
    "craft 1 wooden pickaxe using 3 oak planks, 2 stick": 0.90,
    "craft 1 iron pickaxe using 3 iron ingot, 2 stick": 0.90,
    "craft 1 furnace using 8 cobblestone": 0.90,
    "smelt 1 iron ingot using 1 iron ore, 1 coal": 0.80,
    "smelt 1 stone using 1 cobblestone, 1 coal": 0.80,
    "equip iron pickaxe": 1.0,
}
"""Actions, and their success by table 18; what is not there has a chosen one."""


def move_of(action: str) -> Gathering | Making | Equipping:
    move = understand(action)
    assert isinstance(move, (Gathering, Making, Equipping))
    return move


@pytest.fixture
def rich(game: Game) -> Game:
    """A game in a world with oak, birch and spruce, all animals and all ores, and with time
    enough."""
    worlds = (generate("diamond", draw) for draw in range(99))
    world = next(world for world in worlds if "spruce trees" in world.sources())
    return game._replace(world=world, limit=10**6)


def certain(game: Game, state: State, action: str) -> State:
    after, _, reason, _ = apply(game._replace(reliability={}), state, action)
    assert not reason
    return after


@pytest.mark.parametrize("action", ACTIONS)
def test_published__is_table_18_by_station_item_and_amount(action: str):
    assert probability(PUBLISHED, move_of(action)) == ACTIONS[action]
    assert probability({}, move_of(action)) == 1


def test_published__is_how_often_first_tries_succeed(rich: Game):
    published = rich._replace(reliability=PUBLISHED)
    for action, chance in ACTIONS.items():
        tries = [
            apply(published._replace(luck=f"diamond/{draw}"), EVERYTHING, action)[2]
            for draw in range(600)
        ]
        assert set(tries) <= {"", MISSED}
        # Six standard deviations at the most.
        assert 1 - tries.count(MISSED) / len(tries) == pytest.approx(
            chance, abs=0.12 if chance < 1 else 0
        ), action


def test_kinds__are_narrow_first_and_every_action_is_of_one_wide_kind():
    kinds = {action: kinds_of(move_of(action)) for action in ACTIONS}
    assert kinds["mine 3 iron ore"] == ("3 iron ore", "iron ore", "ore")
    assert kinds["craft 1 furnace using 8 cobblestone"] == ("craft at a table", "craft")
    assert kinds["hunt 1 leather"] == ("cows", "animal")
    assert {kind for each in kinds.values() for kind in each} == {*KINDS} - {
        "acacia log",
        "jungle log",
        "dark oak log",
    }
    for each in kinds.values():
        assert {*each} & {*WIDE_KINDS} == {each[-1]}


@pytest.mark.parametrize("kind", KINDS)
def test_reliability__of_a_kind_makes_no_other_miss(kind: str):
    for action in ACTIONS:
        assert (probability({kind: 0.4}, move_of(action)) < 1) == (
            kind in kinds_of(move_of(action))
        )


@pytest.mark.parametrize("action", ACTIONS)
def test_miss__costs_the_way_and_the_time_and_nothing_else(action: str, rich: Game):
    hopeless = rich._replace(reliability=read_reliability(1e-9))
    after, answer, reason, why = apply(hopeless, EVERYTHING, action)
    reached = certain(rich, EVERYTHING, action)
    verb = action.split()[0]
    assert answer.startswith(f"Failed to {verb} ")
    assert (reason, why) == (MISSED, "it may work another time")
    assert (after.at, after.ticks) == (reached.at, reached.ticks)
    assert after._replace(at=EVERYTHING.at, ticks=EVERYTHING.ticks, tries={}) == EVERYTHING


def test_tries__of_an_item_do_not_depend_on_what_else_is_done(game: Game):
    shaky = game._replace(reliability=PUBLISHED, luck="diamond/7", limit=10**6)

    def tries(*items: str) -> dict[str, list[bool]]:
        state, seen = FIRST, {item: [] for item in items}
        for _ in range(20):
            for item in items:
                state, _, reason, _ = apply(shaky, state, item)
                seen[item].append(reason == MISSED)
        return seen

    logs, beef = "mine 1 oak log", "hunt 1 beef"
    assert tries(logs, beef) == {**tries(beef), **tries(logs)}
    assert len(set(tries(logs)[logs])) == 2
    assert tries(logs)[logs] != tries("mine 1 birch log")["mine 1 birch log"]
    assert tries(logs)[logs] == [
        misses("diamond/7", "minecraft:oak_log", number, 0.39) for number in range(1, 21)
    ]


def test_refusals__are_no_tries(game: Game):
    shaky = game._replace(reliability=PUBLISHED)
    for action in (
        "mine 1 cobblestone",
        "mine 1 stick",
        "look",
        "hum",
        "craft 1 furnace using 8 cobblestone",
    ):
        assert apply(shaky, FIRST, action)[0] is FIRST


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("perfect", {}),
        ("published", dict(PUBLISHED)),
        (1, {}),
        (0.5, dict.fromkeys(WIDE_KINDS, 0.5)),
        ({"ore": 0.3, "diamond": 1.0}, {"diamond": 1.0, "ore": 0.3}),
        ({"ore": 1.0, "craft": 1}, {}),
    ],
)
def test_argument__is_a_name_a_number_or_a_table(value: object, read: dict[str, float]):
    assert read_reliability(value) == read
    assert gym.make(ID, reliability=value).unwrapped.reliability == read


def test_argument__of_any_other_kind_is_refused():
    with pytest.raises(
        UnknownName, match=r"unknown reliability 'publishd'\. Did you mean published"
    ):
        gym.make(ID, reliability="publishd")
    with pytest.raises(UnknownName, match="unknown kind of action 'oar'"):
        gym.make(ID, reliability={"oar": 0.5})
    for number in (0, -1, 1.5, True, None, float("nan"), {"ore": 0}):
        with pytest.raises(ValueError, match="expected a reliability above 0 and up to 1"):
            gym.make(ID, reliability=number)


def test_info__says_that_an_action_missed_and_the_feedback_why():
    for feedback, said in (
        ("reason", "Failed to mine oak log: it may work another time"),
        ("terse", None),
    ):
        env = gym.make(ID, reliability={"log": 1e-9}, feedback=feedback)
        env.reset(seed=0, options={"task": "chest"})
        observation, reward, terminated, truncated, info = env.step("mine 1 oak log")
        assert observation == (said or "Failed to mine oak log")
        assert (reward, terminated, truncated, info["missed"]) == (0.0, False, False, True)
        assert "invalid_reason" not in info
        assert info["ticks"] > 0
        assert "missed" not in env.step("look")[4]


def test_expert__plans_again_after_a_miss_and_wins_every_task():
    env = gym.make(ID, reliability="published", expert=True, ticks=10**6, max_episode_steps=-1)
    missed = 0
    for name in all_tasks("vanilla"):
        _, info = env.reset(seed=5, options={"task": name})
        while not info["won"]:
            length = len(info["expert_plan"])
            info = env.step(info["expert_plan"][0])[4]
            missed += info.get("missed", False)
            assert len(info["expert_plan"]) == (length if info.get("missed") else length - 1)
    assert missed > 100


def test_episodes__repeat_and_snapshots_go_on_alike():
    env = gym.make(
        ID, reliability="published", durability=True, admissible=True, max_episode_steps=-1
    ).unwrapped
    _, info = env.reset(seed=3, options={"task": "diamond"})
    for _ in range(10):
        info = env.step(info["admissible_commands"][-1])[4]
    snapshot = env.snapshot()
    actions = ["mine 1 oak log", "hunt 1 beef"] * 4
    first = [env.step(action) for action in actions]
    assert snapshot != env.snapshot()
    env.restore(snapshot)
    assert env.snapshot() == snapshot
    assert [env.step(action) for action in actions] == first
    with pytest.raises(ValueError, match="expected a snapshot of"):
        gym.make(ID, durability=True).unwrapped.restore(snapshot)


def test_certain_games__are_those_without_the_argument():
    """A reliability of 1 for all changes no word and no tick."""
    plain, ones = gym.make(ID, admissible=True), gym.make(ID, reliability=1, admissible=True)
    for seed in range(20):
        (text, info), other = plain.reset(seed=seed), ones.reset(seed=seed)
        assert (text, info) == other
        for _ in range(20):
            commands = info["admissible_commands"]
            if not commands:
                break
            action = commands[seed * 7 % len(commands)]
            step = plain.step(action)
            assert step == ones.step(action)
            info = step[4]
            if step[2] or step[3]:
                break


def test_expert__ignores_luck(game: Game):
    assert expert_plan(game, FIRST) == expert_plan(game._replace(reliability=PUBLISHED), FIRST)
    assert admissible_commands(game, FIRST) == admissible_commands(
        game._replace(reliability=PUBLISHED), FIRST
    )
