"""Agents win at the table with what their teacher says, at other tables than those that are
measured."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import islice

import gymnasium as gym
import pytest
import recorded
import tables as data
from dialogue import Example

from tests.examples.dialogues import branches, learns_only_the_players_lines
from textcraft_gym.agents.games import TABLETOP
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.envs.tabletop.state import KINDS, KITS, PACKING, PYRAMID
from textcraft_gym.envs.tabletop.tasks import split_tasks
from textcraft_gym.task import task_hash

EXAMPLE_COUNT = 200
ENV = "Tabletop-v0"
PLANNERS = {
    f"{agent} planner"
    for agent in ("deps", "zero_shot", "inner_monologue", "plan_and_execute", "adapt")
}
EXPLAINER = "deps explainer"
EXECUTORS = {"react executor", "plan_and_execute executor", "adapt executor"}
TASKS = [task.id for task in split_tasks("paper")]


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


def played(
    agent: str,
    task: str,
    rng: random.Random | None = None,
    reliability: str = "oracle",
    spoils: int = 1,
) -> recorded.Record:
    env = gym.make(ENV, split="all", reliability=reliability)
    player = make_agent(agent, profile=TABLETOP, prompts=Prompts("short"))
    planner = data.Planner(env.unwrapped, agent, rng, spoils)
    return recorded.record(env, player, task, planner, data.ROLES)


def test_examples__are_the_same_for_the_same_seed_and_others_for_another():
    assert list(islice(data.examples(3), 10)) == list(islice(data.examples(3), 10))
    assert next(data.examples(3)) != next(data.examples(4))


def test_examples__have_every_kind_of_dialogue_and_learn_answers_only(examples: list[Example]):
    assert {branch.kind for example in examples for branch in example.branches} == {
        *PLANNERS,
        EXPLAINER,
        *EXECUTORS,
    }
    for _, branch in branches(examples, *PLANNERS, EXPLAINER, *EXECUTORS):
        assert learns_only_the_players_lines(branch), branch.text
        assert branch.end == (branch.kind not in EXECUTORS)


@pytest.mark.parametrize("agent", [*data.AGENTS, "dep"])
def test_agents__win_at_every_table_with_the_teacher(agent: str):
    for task in TASKS:
        record = played(agent, task)
        assert record.episode.won, task
        assert all(exchange.prompt.startswith("There ") for exchange in record.exchanges)


def test_deps__mends_plans_in_the_wrong_order():
    explained = Counter[str]()
    for task in TASKS:
        record = played("deps", task, random.Random(task))
        explained += Counter(exchange.role for exchange in record.exchanges)
        if len(record.exchanges) > 1:
            assert record.episode.won, task
            assert [exchange.said.learnt for exchange in record.exchanges] == [False, True, True]
    assert explained["explainer"] > 5


KIT_TASKS = [task for task in TASKS if task.startswith(KITS)]


@pytest.mark.parametrize("agent", ["deps", "dep"])
def test_kits__mends_plans_with_a_wrong_hole_twice_if_need_be(agent: str):
    explained = Counter[str]()
    for task in KIT_TASKS:
        record = played(agent, task, random.Random(task), spoils=2)
        assert record.episode.won, task
        roles = [(exchange.role, exchange.said.learnt) for exchange in record.exchanges]
        plans = [learnt for role, learnt in roles if role == "planner"]
        assert plans == [False, False, True], task
        for exchange in record.exchanges:
            if exchange.role == "explainer":
                assert exchange.said.learnt
                explained[exchange.said.text.split()[2]] += 1
    assert explained.total() > len(KIT_TASKS)


def test_kits__explanations_are_of_holes_that_have_one_shape_or_are_not_there(
    examples: list[Example],
):
    said = Counter[str]()
    for example, branch in branches(examples, EXPLAINER):
        if example.situation.startswith("There is a kit"):
            answer = branch.spans[-1].text.strip()
            said.update(part for part in ("There are two", "There is no", "fit") if part in answer)
    assert min(said[part] for part in ("There are two", "There is no", "fit")) > 1, said


def test_kits__a_plan_notes_the_holes_of_each_shape_and_names_one_where_there_are_two(
    examples: list[Example],
):
    named = Counter[bool]()
    for example, branch in branches(examples, "deps planner", "zero_shot planner"):
        if not example.situation.startswith("There is a kit"):
            continue
        note, *goals = branch.spans[-1].text.strip().splitlines()
        kit = dict(re.findall(r"(\w[\w ]*): ([^;.]+)", note.removeprefix("# ")))
        for goal in goals:
            location, shape = data._HOLE.findall(goal)[0]
            places = kit[shape].replace(" (taken)", "").split(" and ")
            assert bool(location) == (len(places) == 2), (note, goal)
            assert not location or location in places
            for place in places:
                assert f"{shape} ({place})" in example.situation
            named[len(places) == 2] += 1
    assert min(named[True], named[False]) > 10, named


def test_bowls__a_plan_notes_each_block_and_has_a_goal_for_each_that_has_a_bowl(
    examples: list[Example],
):
    noted = Counter[str]()
    for example, branch in branches(examples, "deps planner", "zero_shot planner"):
        if "bowls of " not in example.situation:
            continue
        note, *goals = branch.spans[-1].text.strip().splitlines()
        blocks = re.findall(r"(\w+): (bowl|none)", note)
        assert note == f"# {'; '.join(f'{colour}: {has}' for colour, has in blocks)}."
        bowls = re.findall(r"bowls? of ([\w, ]+) on", example.situation)[0].split(", ")
        assert all((has == "bowl") == (colour in bowls) for colour, has in blocks)
        assert [goal.split()[3] for goal in goals] == [c for c, has in blocks if has == "bowl"]
        noted.update(has for _, has in blocks)
    assert min(noted["bowl"], noted["none"]) > 5, noted


@pytest.mark.parametrize("agent", ["deps", "inner_monologue", "react", "plan_and_execute"])
def test_agents__win_wherever_a_miss_spoils_nothing(agent: str):
    """A shape that falls to the floor is out of reach, and one that sticks askew stays; plans break
    with a pyramid."""
    spoilt = {PACKING, KITS, PYRAMID} if agent == "plan_and_execute" else {PACKING, KITS}
    lost = {task for task in TASKS if not played(agent, task, reliability="cliport").episode.won}
    assert {task.partition("/")[0] for task in lost} <= spoilt
    assert len(lost) < len(TASKS) / 2


def test_tables__are_none_of_those_of_a_split():
    measured = {task_hash(ENV, task) for task in split_tasks("all")}
    worlds = {task.world for task in split_tasks("all")}
    for kind in KINDS:
        drawn = data.tables(kind)
        assert len(drawn) >= 500
        assert not {task_hash(ENV, task) for task in drawn} & measured
        assert not {task.world for task in drawn} & worlds
