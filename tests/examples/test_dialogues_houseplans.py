"""The planners of goals win in ALFWorld with what their teacher says, which knows no more than they
are told."""

from __future__ import annotations

import random
import re
from itertools import islice

import gymnasium as gym
import houseplans as data
import pytest
import recorded
from dialogue import Example
from households import draw_task

from tests.examples.dialogues import branches, learns_only_the_players_lines
from textcraft_gym.agents.games import ALFWORLD
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.envs.alfworld.splits import split_ids
from textcraft_gym.envs.alfworld.task_id import parse_id
from textcraft_gym.envs.alfworld.tasks import Task
from textcraft_gym.task import task_hash

EXAMPLE_COUNT = 150
KINDS = {
    "dep planner",
    "dep explainer",
    "zero_shot planner",
    "inner_monologue planner",
    "controller",
}
UNSEEN = split_ids("valid_unseen")[::7]


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


def played(agent: str, task: str) -> recorded.Record:
    env = gym.make("ALFWorld-v0", split="all", admissible=True)
    arguments, _ = data.AGENTS[agent]
    player = make_agent(agent, profile=ALFWORLD, prompts=Prompts("short", "0.4"), args=arguments)
    planner = data.Planner(agent)
    return recorded.record(
        env, player, task, planner, data.ROLES, on_request=planner.watch, max_steps=50
    )


def test_examples__are_the_same_for_the_same_seed_and_others_for_another():
    assert list(islice(data.examples(3), 10)) == list(islice(data.examples(3), 10))
    assert next(data.examples(3)) != next(data.examples(4))


def test_examples__have_every_kind_of_dialogue_and_learn_the_last_answer(examples: list[Example]):
    assert {branch.kind for example in examples for branch in example.branches} == KINDS
    for _, branch in branches(examples, *KINDS):
        assert learns_only_the_players_lines(branch), branch.text
        assert branch.end


@pytest.mark.parametrize("agent", data.AGENTS)
def test_agents__win_in_unseen_rooms_with_the_teacher(agent: str):
    """It loses what lies in one of the last places to look into: 12 re-plans and 50 actions come to
    an end."""
    records = [played(agent, task) for task in UNSEEN]
    assert sum(record.episode.won for record in records) >= 0.9 * len(records)
    again = [
        record
        for record in records
        if sum(exchange.role == "planner" for exchange in record.exchanges) > 1
    ]
    assert len(again) > len(records) / 4


def test_planner__knows_no_more_than_it_is_told(examples: list[Example]):
    """A place that is named as one where a thing is not, or where it is, has been told of."""
    named = 0
    for _, branch in branches(examples, "dep explainer"):
        prompt, said = branch.spans[0].text, branch.spans[1].text
        match = re.fullmatch(r"\nNo (\w+) at (.+)\. (Next:|It is at) (\w+ \d+)\.", said)
        assert match, said
        thing, places, mark, following = match.groups()
        for place in places.split(", "):
            seen = re.findall(
                rf"(?:On the|The) {place}(?:| is open\. In it), you see (.+)\.", prompt
            )
            assert seen, branch.text
            assert f" {thing} " not in seen[-1]
            named += 1
        sightings = re.findall(
            rf"(?:On the|The) {following}(?:| is open\. In it), you see (.+)\.", prompt
        )
        assert (mark == "It is at") == (bool(sightings) and f" {thing} " in sightings[-1])
    assert named > 20


def test_controller__picks_a_command_that_is_listed(examples: list[Example]):
    picked = set()
    for _, branch in branches(examples, "controller"):
        said = branch.spans[1].text.strip()
        assert said == "done" or f"\n{said} " in branch.spans[0].text
        picked.add(said if said in ("0", "done") else "number")
    assert picked == {"0", "done", "number"}


def test_tasks__are_none_of_those_that_are_measured():
    rng = random.Random(0)
    drawn = {draw_task(rng) for _ in range(200)}
    measured = {task for split in ("valid_seen", "valid_unseen") for task in split_ids(split)}
    assert not drawn & measured
    assert not hashes(drawn) & hashes(measured)


def hashes(ids: set[str]) -> set[str]:
    return {task_hash("ALFWorld-v0", Task(task, parse_id(task).goal.task_type)) for task in ids}
