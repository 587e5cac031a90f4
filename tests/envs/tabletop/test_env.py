"""The environment: what it says, counts and draws."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import gymnasium as gym
import pytest

from textcraft_gym import UnknownName, run_episode, tasks
from textcraft_gym.agents.baselines.expert import ExpertAgent
from textcraft_gym.envs.tabletop.generator import generate
from textcraft_gym.envs.tabletop.state import COLOURS, KINDS, SHAPES
from textcraft_gym.envs.tabletop.tasks import split_tasks
from textcraft_gym.envs.tabletop.text import INSTRUCTIONS
from textcraft_gym.task import task_hash
from textcraft_gym.testing import EnvContract

ID = "Tabletop-v0"


class TestContract(EnvContract):
    env_id = ID


class TestContractWithMisses(EnvContract):
    env_id = ID
    env_args = {"reliability": "cliport"}
    solved = 0


def test_splits__have_their_sizes_and_do_not_overlap():
    sizes = {split: len(tasks(ID, split)) for split in ("paper", "dev", "test", "all")}
    assert sizes == {"paper": 25, "dev": 500, "test": 500, "all": 1025}
    assert len({task_hash(ID, task) for task in tasks(ID)}) == 1025
    assert [task.id for task in tasks(ID, "paper")] == [
        f"{kind}/{number}" for number in range(5) for kind in KINDS
    ]


def test_tables__are_of_every_sort():
    kits = [task.world for task in split_tasks("all") if task.group == KINDS[0]]
    assert 0.3 < sum(len(set(world.places)) < 5 for world in kits) / len(kits) < 0.7
    bowls = [task.world for task in split_tasks("all") if task.group == "put-block-in-bowl"]
    assert {len(world.places) for world in bowls} == {3, 4, 5}
    assert {len(world.things) for world in bowls} == {1, 2, 3, 4}
    assert any(len(set(world.things)) < len(world.things) for world in bowls)
    assert any(thing.colour not in world.places for world in bowls for thing in world.things)
    things = {thing for task in split_tasks("all") for thing in task.world.things}
    assert {thing.colour for thing in things} == {*COLOURS, ""}
    assert {*SHAPES} <= {thing.shape for thing in things}


def test_generate__yields_no_table_twice():
    for kind in KINDS:
        worlds = generate(kind)
        first = [next(worlds) for _ in range(300)]
        assert len(set(first)) == 300


def test_reset__ends_in_forms_and_instruction():
    env = gym.make(ID)
    for kind in KINDS:
        said, info = env.reset(seed=0, options={"task": f"{kind}/3"})
        *_, forms, blank, instruction = said.split("\n")
        assert forms.startswith("Goals are: ")
        assert (blank, instruction) == ("", f"Your task is to: {INSTRUCTIONS[kind]}.")
        assert (info["score"], info["goals_left"], info["won"]) == (0.0, 15, False)


def test_goals__truncate_when_they_are_spent_and_looking_costs_none():
    env = gym.make(ID, goals=2)
    env.reset(seed=0, options={"task": "towers-of-hanoi/0"})
    assert env.step("look")[4]["goals_left"] == 2
    assert env.step("dance")[4]["goals_left"] == 2
    assert env.step("move the brown ring to the darker brown side")[4]["goals_left"] == 1
    _, _, terminated, truncated, info = env.step("move the brown ring to the darker brown side")
    assert (terminated, truncated, info["goals_left"]) == (False, True, 0)
    with pytest.raises(gym.error.ResetNeeded):
        env.step("look")


def test_goals__that_end_with_the_task_do_not_truncate():
    env = gym.make(ID, goals=7, expert=True)
    info = env.reset(seed=0, options={"task": "towers-of-hanoi/0"})[1]
    for goal in info["expert_plan"]:
        _, _, terminated, truncated, info = env.step(goal)
    assert (terminated, truncated, info["goals_left"]) == (True, False, 0)


def test_score__grows_by_parts():
    env = gym.make(ID, expert=True)
    info = env.reset(seed=0, options={"task": "stack-block-pyramid/1"})[1]
    scores = [env.step(goal)[4]["score"] for goal in info["expert_plan"]]
    assert scores == [16.7, 33.3, 50.0, 66.7, 83.3, 100.0]


def test_arguments__are_checked():
    with pytest.raises(
        UnknownName, match=r"unknown reliability 'perfect'\. Possible: oracle, cliport"
    ):
        gym.make(ID, reliability="perfect")
    with pytest.raises(ValueError, match="expected goals of 1 or more, got 0"):
        gym.make(ID, goals=0)
    env, other = gym.make(ID).unwrapped, gym.make(ID, reliability="cliport").unwrapped
    other.reset(seed=0)
    with pytest.raises(ValueError, match=r"reliability='oracle'.*reliability='cliport'"):
        env.restore(other.snapshot())


def test_explain__says_how_goals_are_written():
    env = gym.make(ID).unwrapped
    env.reset(seed=0, options={"task": "packing-shapes/0"})
    reason = env.step("put it in")[4]["invalid_reason"]
    assert env.explain("put it in", reason) == "Goals are: pack the <shape> in the brown box."


def test_possible_commands__include_all_that_become_admissible():
    env = gym.make(ID, split="paper", admissible=True, expert=True)
    possible = set(env.unwrapped.possible_commands())
    for task in tasks(ID, "paper"):
        info = env.reset(seed=0, options={"task": task.id})[1]
        while not info["won"]:
            assert set(info["admissible_commands"]) <= possible
            assert info["expert_plan"][0] in info["admissible_commands"]
            info = env.step(info["expert_plan"][0])[4]
    own = env.unwrapped.possible_commands(["towers-of-hanoi/0"])
    assert len(own) == 10
    assert set(own) <= possible


def test_vocabulary__has_every_word_that_is_written():
    env = gym.make(ID, split="all", admissible=True, reliability="cliport").unwrapped
    known = set(re.findall(r"\w+", env.vocabulary))
    for number, task in enumerate(env.tasks[::7]):
        said, info = env.reset(seed=number, options={"task": task.id})
        for turn in range(12):
            assert set(re.findall(r"[^\W\d]+", said)) <= known, said
            commands = info["admissible_commands"] or ["look"]
            if info["won"] or not info["admissible_commands"]:
                break
            said, *_, info = env.step(commands[(7 * turn + number) % len(commands)])


@pytest.mark.parametrize("kind", KINDS)
def test_pictures__show_everything_that_can_be_moved(kind: str):
    for reliability in ("oracle", "cliport"):
        env = gym.make(ID, render_mode="svg", expert=True, reliability=reliability)
        for number in range(5):
            info = env.reset(seed=number, options={"task": f"{kind}/{number}"})[1]
            world = env.unwrapped.game.world
            before = env.render()
            for goal in info["expert_plan"]:
                if env.step(goal)[2]:
                    break
            after = env.render()
            assert before != after
            for picture in (before, after):
                root = ElementTree.fromstring(picture)
                assert root.tag == "{http://www.w3.org/2000/svg}svg"
                assert not re.search("script|href|url", picture)
            drawn = env.unwrapped.drawing()
            assert all(len(line) <= 80 and line == line.rstrip() for line in drawn.split("\n"))
            for thing in world.things:
                assert (
                    thing.name.removesuffix(" block").removesuffix(" ring").removesuffix(" shape")
                    in drawn
                )


def test_episode__keeps_the_picture_of_its_end():
    env = gym.make(ID, expert=True)
    episode = run_episode(env, ExpertAgent(), task="towers-of-hanoi/0", seed=0)
    assert episode.won
    assert episode.picture == env.unwrapped.picture() != ""


def test_drawing__of_a_pyramid_is_one():
    env = gym.make(ID, expert=True, render_mode="ansi")
    info = env.reset(seed=0, options={"task": "stack-block-pyramid/0"})[1]
    for goal in info["expert_plan"]:
        env.step(goal)
    rows = [len(re.findall(r"\[", line)) for line in env.unwrapped.drawing().split("\n")]
    assert [count for count in rows if count] == [1, 2, 3]
