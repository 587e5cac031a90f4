"""The dialogues of AutoPlan are those in which it wins with the teacher, and its reflections are
true."""

from __future__ import annotations

import itertools
import random
import re
from itertools import islice

import autoplan as data
import pytest
import recorded
from dialogue import Example

from tests.examples.dialogues import branches
from textcraft_gym.agents.autoplan.autoplan import AutoPlanAgent
from textcraft_gym.agents.games import ALFWORLD
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.envs.alfworld.splits import split_ids
from textcraft_gym.envs.alfworld.task_id import parse_id

EXAMPLE_COUNT = 250
EPISODE_COUNT = 30
UPDATE = 7000
"""Maximum number of characters of an update by eight episodes."""


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


@pytest.fixture(scope="module")
def played() -> list[tuple[data.Episode, recorded.Record, data.Follower]]:
    rng = random.Random(1)
    episodes = islice(data.drawn(rng), EPISODE_COUNT)
    return [
        (episode, *data.play(episode, data.draw_plan(episode.profile.name, rng)))
        for episode in episodes
    ]


def test_examples__are_the_same_for_the_same_seed_and_others_for_another():
    assert list(islice(data.examples(3), 20)) == list(islice(data.examples(3), 20))
    assert next(data.examples(3)) != next(data.examples(4))


def test_examples__have_every_role_and_are_short(examples: list[Example]):
    kinds = {branch.kind for example in examples for branch in example.branches}
    assert kinds == {"thought", "summary", "flaws", "revision", "formalizer", "update"}
    for example in examples:
        for branch in example.branches:
            longest = UPDATE if branch.kind == "update" else recorded.LONGEST_ALONE
            assert len(example.situation) + len(branch.text) <= longest
            assert not branch.spans[0].learnt


def test_agent__wins_with_the_teacher_in_both_games(played):
    assert {episode.profile.name for episode, _, _ in played} == {"hotpotqa", "alfworld"}
    for episode, record, _ in played:
        assert record.episode.won, episode.objective


def test_prompts__are_about_the_situation_first(played):
    for episode, record, _ in played:
        for exchange in record.exchanges:
            assert exchange.prompt.startswith(
                "The player wrote: " if exchange.role == "formalizer" else episode.situation
            )


def test_mistakes__are_not_learnt(played):
    wrong = 0
    for episode, record, _ in played:
        answers = dict(record.episode.transcript)
        for exchange in record.exchanges:
            if exchange.role == "action":
                answer = answers[exchange.said.text.strip()]
                if not exchange.said.learnt:
                    wrong += 1
                elif episode.profile is ALFWORLD and not exchange.said.text.startswith(" go to "):
                    assert not answer.startswith("Nothing happens.")
    assert wrong > 3


def test_mistakes__may_be_made_again_in_games_that_say_why_and_in_others(played):
    explained, again = set[bool](), 0
    for episode, record, _ in played:
        if episode.profile is ALFWORLD:
            turns = record.episode.transcript
            failed = [answer for _, answer in turns if answer.startswith("Nothing happens.")]
            explained.update(answer != "Nothing happens." for answer in failed)
            again += any(turn == before for before, turn in itertools.pairwise(turns))
            assert not turns[-1][1].startswith("Nothing happens.")
    assert explained == {True, False}
    assert again


def test_flaws__are_the_lines_that_the_plan_lacks_and_those_of_one_episode(played):
    named = strange = 0
    for _, record, follower in played:
        said = {exchange.role: exchange.said.text for exchange in record.exchanges}
        missing = re.findall(
            r"The plan does not say this: (.+?)(?= The plan does not| This step is|$)",
            said["flaws"],
        )
        assert not set(missing) & set(follower.plan)
        assert set(missing) <= set(follower.used)
        named += len(missing)
        for line in missing:
            assert not follower.plan or line in said["revision"]
        for line in follower.strange():
            assert f"This step is of one episode alone: {line}" in said["flaws"]
            assert f"Leave this step out: {line}" in said["revision"]
            strange += 1
    assert named > 5
    assert strange


def test_updates__have_the_plan_and_what_the_episodes_taught(examples: list[Example]):
    for example, branch in branches(examples, "update"):
        prompt, plan = example.situation + branch.spans[0].text, branch.spans[1].text
        lines = re.findall(r"^\d+\. (.+)$", plan, re.MULTILINE)
        every = [line for game in data.LINES.values() for line in game]
        assert lines
        assert sorted(lines) == sorted(line for line in every if line in prompt)


def test_updates__have_a_line_once_that_a_mistaken_reflection_adds(examples: list[Example]):
    mistaken = 0
    for example, branch in branches(examples, "update"):
        known = re.findall(r"^\d+\. (.+)$", example.situation, re.MULTILINE)
        added = re.findall(r"^Revision: Add this step: (.+)$", branch.spans[0].text, re.MULTILINE)
        mistaken += bool({*known} & {*added})
    assert mistaken


def test_updates__are_of_batches_of_each_size_and_leave_strange_lines_out(examples: list[Example]):
    known = {line for game in data.LINES.values() for line in game}
    batches, strange = set(), 0
    for example, branch in branches(examples, "update"):
        request = branch.spans[0].text
        batches.add(len(re.findall(r"^Objective: ", request, re.MULTILINE)))
        before = set(re.findall(r"^\d+\. (.+)$", example.situation, re.MULTILINE)) - known
        strange += bool(before)
        assert all(line not in branch.spans[1].text for line in before)
    assert max(batches) >= 4
    assert strange


def test_formalizers__write_what_the_game_takes(examples: list[Example]):
    ways = set()
    for example, branch in branches(examples, "formalizer"):
        assert branch.spans[0].text == "\nAs the game takes it:"
        written, action = (
            example.situation.removeprefix("The player wrote: "),
            branch.spans[1].text.strip(),
        )
        assert all(word in written for word in re.findall(r"\[(.*)\]|(\w+ \d+)", action)[0] if word)
        ways.add(written == action)
    assert ways == {True, False}


def test_households__are_none_of_other_splits():
    rng = random.Random(2)
    tasks = [
        episode.task
        for episode in islice(data.drawn(rng), EPISODE_COUNT)
        if episode.profile is ALFWORLD
    ]
    held_out = [
        parse_id(task) for split in ("valid_seen", "valid_unseen") for task in split_ids(split)
    ]
    goals = {(spec.goal, spec.plan) for spec in held_out}
    assert not {(spec.goal, spec.plan) for spec in map(parse_id, tasks)} & goals


def test_lost_episodes__are_told_as_lost():
    rng = random.Random(3)
    lost = 0
    for episode in islice(data.drawn(rng), EPISODE_COUNT):
        turns = data.FEW_TURNS[episode.profile.name]
        record, _ = data.play(episode, (), turns=turns)
        flaws = next(
            exchange.said.text for exchange in record.exchanges if exchange.role == "flaws"
        )
        assert ("The turns ended" in flaws) == (not record.episode.won)
        lost += not record.episode.won
    assert lost > EPISODE_COUNT / 3


def test_agent__has_its_short_prompts():
    for game in data.LINES:
        prompts = Prompts("short")
        AutoPlanAgent(data.HOTPOTQA if game == "hotpotqa" else ALFWORLD, prompts)
        assert "Your task is to: {task}" in prompts.read[f"autoplan/{game}.txt"]
