"""The adapter, on a stand-in for the simulator (see ``stand_in``): what it sends, and what it
says."""

from __future__ import annotations

import sys
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from tests.agents.scripted import ScriptedModel
from tests.envs.minedojo.stand_in import StandIn
from textcraft_gym import RunSpec, UnknownName, evaluate, run_episode, tasks
from textcraft_gym.agents.contract.model import Completion
from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.games import load_profile
from textcraft_gym.envs.minedojo.commands import command
from textcraft_gym.envs.minedojo.env import Skill
from textcraft_gym.envs.minetechtree.minedojo_specifications import MineDojoMissing, read_abilities
from textcraft_gym.registration import find

pytestmark = pytest.mark.usefixtures("installed")

COSTS = {
    "planks": {"log": 1},
    "stick": {"planks": 2},
    "crafting_table": {"planks": 4},
    "wooden_pickaxe": {"planks": 3, "stick": 2},
    "iron_ingot": {"iron_ore": 1, "coal": 1},
    "leather_boots": {"leather": 4},
}


class Made:
    """Makes stand-ins and keeps them."""

    def __init__(self, held: dict[str, int] | None = None, **arguments: Any) -> None:
        self.held = held or {}
        self.arguments = arguments
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.all: list[StandIn] = []

    def __call__(self, task: str, **arguments: Any) -> StandIn:
        self.calls.append((task, arguments))
        self.all.append(StandIn(read_abilities(), COSTS, self.held, **self.arguments))
        return self.all[-1]


def begin(task: Any, made: Made, **env_args: Any) -> gym.Env[str, str]:
    env = gym.make("MineDojo-v0", simulator=made, **env_args)
    env.reset(seed=0, options={"task": task})
    return env


def functions(made: Made) -> list[tuple[int, int, int]]:
    return [tuple(command[5:]) for command in made.all[-1].commands]


def chop(skill: Skill, observation: Any) -> Any:
    return command("attack") if skill.item == "log" else None


def test_check_env__has_nothing_to_say():
    check_env(gym.make("MineDojo-v0", simulator=Made()).unwrapped, skip_render_check=True)


def test_reset__makes_the_task_of_minedojo():
    for task, expected in (
        ("diamond", "harvest_1_diamond"),
        ("iron_pickaxe", "techtree_from_barehand_to_iron_pickaxe"),
        ("iron_door", "open-ended"),
        ("chest+diamond", "open-ended"),
    ):
        made = Made()
        env = gym.make("MineDojo-v0", simulator=made, image_size=(32, 64))
        said, info = env.reset(seed=0, options={"task": task})
        assert (info["task"], info["task_id"], info["won"]) == (task, expected, False)
        assert said.startswith("Near: nothing to work at.\nTicks left: ")
        ((called, arguments),) = made.calls
        assert (called, arguments["image_size"]) == (expected, (32, 64))
        assert 0 <= arguments["seed"] < 1 << 31


def test_reset__ends_the_game_before():
    made = Made()
    env = begin("stick", made)
    env.reset(seed=1)
    env.close()
    assert [simulator.closed for simulator in made.all] == [True, True]


def test_craft__is_sent_until_there_are_so_many_more():
    made = Made({"log": 3})
    env = begin("wooden_pickaxe", made)
    said, _, _, _, info = env.step("craft 8 oak planks using 2 oak log")
    planks = read_abilities().number("planks")
    assert said == "Crafted 8 oak planks"
    assert functions(made) == [(4, planks, 0)] * 2
    assert all(command[:5] == [0, 0, 0, 12, 12] for command in made.all[-1].commands)
    assert info["ticks"] == 2
    assert env.step("inventory")[0] == "Inventory: 1 oak log, 8 oak planks"


def test_craft__at_a_table_places_it_first():
    made = Made({"planks": 4, "crafting_table": 1, "stick": 2})
    env = begin("wooden_pickaxe", made)
    said, reward, terminated, _, info = env.step("craft 1 wooden pickaxe")
    assert functions(made) == [(6, 0, 1), (4, read_abilities().number("wooden_pickaxe"), 0)]
    assert (said, reward, terminated, info["won"]) == ("Crafted 1 wooden pickaxe", 1.0, True, True)
    with pytest.raises(ResetNeeded):
        env.step("inventory")


def test_smelt__at_a_furnace_places_it_first():
    made = Made({"furnace": 1, "iron_ore": 2, "coal": 2})
    env = begin("bucket", made)
    assert env.step("smelt 2 iron ingot using 2 iron ore, 2 coal")[0] == "Smelted 2 iron ingot"
    assert env.step("look")[0].startswith("Near: furnace.\n")
    assert functions(made) == [(6, 0, 0)] + [(4, read_abilities().number("iron_ingot"), 0)] * 2


@pytest.mark.parametrize(
    ("held", "action", "said", "reason"),
    [
        (
            {},
            "craft 1 chest",
            "Could not craft chest: requires crafting table",
            "needs_crafting_table",
        ),
        ({}, "smelt 1 stone", "Could not smelt stone: requires furnace", "needs_furnace"),
        (
            {"log": 1},
            "craft 8 oak planks",
            "Could not craft oak planks: ingredients or fuel are missing",
            "not_enough_items",
        ),
        (
            {},
            "craft 1 bedrock",
            "Could not craft bedrock: MineDojo does not make it",
            "unknown_item",
        ),
        ({}, "equip shield", "Could not equip shield: requires 1 shield", "not_enough_items"),
        ({}, "place furnace", "Could not place furnace: requires 1 furnace", "not_enough_items"),
        ({}, "dance", "Could not execute dance", "unknown_action"),
    ],
)
def test_action__that_cannot_be_done_says_why(held, action, said, reason):
    env = begin("chest", Made(held))
    step = env.step(action)
    assert (step[0], step[4]["invalid_reason"], step[4]["won"]) == (said, reason, False)


def test_place__puts_down_what_is_held():
    made = Made({"stick": 1, "crafting_table": 1})
    env = begin("chest", made)
    assert env.step("place crafting table")[0] == "Placed crafting table"
    assert functions(made) == [(6, 0, 1)]
    assert env.step("look")[0].startswith("Near: crafting table.\n")


def test_armour__is_won_when_it_is_worn():
    env = begin("leather_boots", Made({"leather": 4, "crafting_table": 1}))
    assert env.step("craft 1 leather boots")[:3] == ("Crafted 1 leather boots", 0.0, False)
    said, reward, terminated, _, _ = env.step("equip leather boots")
    assert (said, reward, terminated) == ("Equipped leather boots", 1.0, True)


def test_mine__is_the_skill_policys():
    made = Made()
    env = begin("oak_planks", made, skills=chop)
    assert env.step("mine 3 birch log with stone axe")[0] == "Mined 3 birch log"
    assert functions(made) == [(3, 0, 0)] * 3
    step = env.step("hunt 1 beef")
    assert (step[0], step[4]["invalid_reason"]) == (
        "Could not hunt beef: the skill got 0 of 1",
        "skill_failed",
    )


def test_deps__plays_it_as_it_plays_the_tech_tree():
    plan = """mine({'log': 3}, null, null)
craft({'planks': 12}, {'log': 3}, null)
craft({'stick': 4}, {'planks': 2}, null)
craft({'crafting table': 1}, {'planks': 4}, null)
craft({'wooden pickaxe': 1}, {'planks': 3, 'stick': 2}, 'crafting table')"""
    env = gym.make("MineDojo-v0", simulator=Made(), skills=chop)
    agent = DEPSAgent(load_profile(find("MineDojo-v0").profile), rounds=0)
    models = {"planner": ScriptedModel(plan), "executor": ScriptedModel()}
    episode = run_episode(env, agent, task="wooden_pickaxe", seed=0, model=models)
    assert episode.won, episode.transcript


def test_deps__takes_a_table_that_stands_near_for_one_that_it_holds():
    plan = """craft({'crafting table': 1}, {'planks': 4}, null)
craft({'wooden pickaxe': 1}, {'planks': 3, 'stick': 2}, 'crafting table')"""
    made = Made({"planks": 3, "stick": 2, "crafting_table": 1})
    env = gym.make("MineDojo-v0", simulator=made)
    agent = DEPSAgent(load_profile("minetechtree"), rounds=0)
    models = {"planner": ScriptedModel(plan), "executor": ScriptedModel()}
    episode = run_episode(PlacedFirst(env), agent, task="wooden_pickaxe", seed=0, model=models)
    assert episode.won, episode.transcript


class PlacedFirst(gym.Wrapper[str, str, str, str]):
    """Begins where the table has been placed."""

    def reset(self, **arguments: Any) -> tuple[str, dict[str, Any]]:
        first = self.env.reset(**arguments)
        self.env.step("place crafting table")
        return first


def test_mine__without_a_skill_policy_says_so():
    step = begin("oak_planks", Made()).step("mine 3 oak log")
    assert (
        step[0] == "Could not mine oak log: no skill policy was given (gym.make(..., skills=...))"
    )
    assert step[4]["invalid_reason"] == "no_skill"


def test_skill__has_so_many_ticks_and_sees_what_is_asked_for():
    skills = []

    def idle(skill: Skill, observation: Any) -> Any:
        skills.append(skill)
        return command()

    env = begin("oak_planks", Made(), skills=idle, skill_ticks=7)
    step = env.step("mine 2 cobblestone with wooden pickaxe")
    assert (step[4]["ticks"], step[4]["invalid_reason"]) == (7, "skill_failed")
    assert skills[0] == Skill("mine", "cobblestone", 2, "wooden_pickaxe")


def test_time__truncates():
    env = begin(
        "oak_planks", Made(), skills=lambda skill, observation: command(), skill_ticks=10_000
    )
    _, reward, terminated, truncated, info = env.step("mine 1 cobblestone")
    assert (reward, terminated, truncated, info["ticks_left"]) == (0.0, False, True, 0)


def test_simulator__that_ends_truncates():
    env = begin("oak_planks", Made(ends_after=2), skills=chop)
    _, _, terminated, truncated, info = env.step("mine 5 oak log")
    assert (terminated, truncated, info["ticks"]) == (False, True, 2)


def test_unknown_names__say_what_there_is():
    with pytest.raises(UnknownName, match="unknown rules"):
        gym.make("MineDojo-v0", simulator=Made(), rules="nope")
    with pytest.raises(UnknownName, match="unknown reset option 'taks'"):
        gym.make("MineDojo-v0", simulator=Made()).reset(options={"taks": 1})


def test_reset__plays_a_task_again_though_minedojo_takes_its_specification_apart(
    monkeypatch: pytest.MonkeyPatch,
):
    """As ``minedojo.make`` does: it pops what it reads, from a table that all its calls share."""
    shared = {
        "harvest_1_diamond": {"__cls__": "harvest", "prompt": "a diamond", "sides": {"left": [1]}}
    }
    before = deepcopy(shared)
    monkeypatch.setitem(sys.modules, "minedojo.tasks", SimpleNamespace(ALL_TASKS_SPECS=shared))
    made = Made()

    def make(task: str, **arguments: Any) -> StandIn:
        if task != "open-ended":
            specification = shared[task]
            specification.pop("prompt")
            specification.pop("__cls__")
            specification["sides"]["left"].clear()
        return made(task, **arguments)

    env = gym.make("MineDojo-v0", simulator=make)
    for _ in range(3):
        env.reset(seed=0, options={"task": "diamond"})
        assert shared == before
    env.reset(seed=0, options={"task": "diamond+chest"})  # of no specification
    assert len(made.all) == 4


def test_seed__is_that_of_the_simulators_generator_alone():
    made = Made()
    gym.make("MineDojo-v0", simulator=made).reset(seed=7, options={"task": "diamond"})
    ((_, arguments),) = made.calls
    assert set(arguments) == {"image_size", "seed"}  # and no world_seed


INSTALLS = r".* Java 8 .*'pip<24\.1'.*gym==0\.21\.0.*minedojo numpy==1\.23\.5 opencv-python-headless==4\.8\.1\.78"


def test_missing_simulator__says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    def fail(name: str) -> None:
        raise ImportError(f"no {name} here")

    monkeypatch.setattr("textcraft_gym.envs.minedojo.env.import_module", fail)
    with pytest.raises(MineDojoMissing, match=f"no minedojo here{INSTALLS}"):
        gym.make("MineDojo-v0")


@pytest.mark.parametrize(
    ("numpy", "java", "complaint"),
    [
        ("2.4.6", "/usr/bin/java", r"does not work with NumPy 2\.4\.6\."),
        ("1.24.0", "/usr/bin/java", r"does not work with NumPy 1\.24\.0\."),
        ("1.23.5", None, r"finds no command java\."),
        ("1.23.5", "/usr/bin/java", None),
    ],
)
def test_simulator__that_would_break_later_says_what_it_needs(
    numpy: str, java: str | None, complaint: str | None, monkeypatch: pytest.MonkeyPatch
):
    module = "textcraft_gym.envs.minedojo.env"
    monkeypatch.setattr(f"{module}.import_module", lambda name: SimpleNamespace(make=Made()))
    monkeypatch.setattr(f"{module}.np.__version__", numpy)
    monkeypatch.setattr(f"{module}.shutil.which", lambda name: java)
    if complaint:
        with pytest.raises(MineDojoMissing, match=complaint + INSTALLS):
            gym.make("MineDojo-v0")
    else:
        gym.make("MineDojo-v0").reset(seed=0)


class Planner:
    """Has one plan, for planks and sticks, whatever is asked."""

    def complete(self, prompt: Any, **how: Any) -> Completion:
        return Completion(
            "mine({'log': 2}, null, null);\n"
            "craft({'oak planks': 8}, {'oak log': 2}, null);\n"
            "craft({'stick': 4}, {'planks': 2}, null);\n"
        )


def test_minedojo__is_evaluated_as_any_other(tmp_path: Path):
    args = {"simulator": Made(), "skills": chop}
    spec = RunSpec(
        "MineDojo-v0", "MT1", "deps", env_args=args, agent_args={"rounds": 0}, model=Planner()
    )
    records = evaluate(spec, tmp_path)
    assert {record["error"] for record in records} == {None}
    assert {record["group"] for record in records} == {"MT1"}
    assert 0 < sum(record["won"] for record in records) < len(records)
    assert len(tasks("MineDojo-v0", "MT1", **args)) == len(records)
