"""The functions of AdaPlanner are those with which it wins, and what is said of them is true."""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from itertools import islice

import adaplanner as data
import pytest
import recorded
from dialogue import Example
from programmer import MISTAKES

from tests.examples.dialogues import branches
from textcraft_gym.agents.adaplanner.adaplanner import CHECK
from textcraft_gym.agents.adaplanner.solution import HEAD, read_solution, source_of
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.envs.alfworld.splits import split_ids
from textcraft_gym.envs.alfworld.task_id import parse_id

EXAMPLE_COUNT = 400
EPISODE_COUNT = 80


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


@pytest.fixture(scope="module")
def played() -> list[tuple[data.Episode, str, recorded.Record]]:
    episodes = islice(data.drawn(random.Random(1)), EPISODE_COUNT)
    return [(episode, episode.player.mistake, data.play(episode)) for episode in episodes]


def test_examples__are_the_same_for_the_same_seed_and_others_for_another():
    assert list(islice(data.examples(3), 20)) == list(islice(data.examples(3), 20))
    assert next(data.examples(3)) != next(data.examples(4))


def test_examples__have_every_role_and_are_short(examples: list[Example]):
    assert {branch.kind for example in examples for branch in example.branches} == {*data.ROLES}
    for example in examples:
        for branch in example.branches:
            assert len(example.situation) + len(branch.text) <= recorded.LONGEST_ALONE
            assert branch.end
            assert [span.learnt for span in branch.spans] == [False, True]


def test_agent__wins_with_the_teacher_in_every_kind_of_task_after_every_mistake(played):
    assert Counter(mistake for _, mistake, _ in played).keys() == {"", *MISTAKES}
    kinds = set()
    for episode, mistake, record in played:
        assert record.episode.won, (episode.task, mistake)
        task = episode.player.task
        kinds.add(task.treatment or ("examine" if task.lamp else task.amount))
    assert kinds == {"clean", "heat", "cool", "examine", 1, 2}


def test_mistakes__are_not_learnt_and_are_mended(played):
    for _, mistake, record in played:
        first = next(exchange for exchange in record.exchanges if exchange.role == "planner")
        assert first.said.learnt == (not mistake)
        mended = {
            exchange.said.learnt
            for exchange in record.exchanges
            if exchange.role in ("refiner", "checker")
        }
        assert True in mended


def test_functions__that_are_learnt_can_be_read(examples: list[Example]):
    for _, branch in branches(examples, "planner", "refiner"):
        if branch.spans[0].text.endswith(HEAD):
            assert read_solution(source_of(f"{HEAD}{branch.spans[1].text}"))
        else:
            assert re.fullmatch(r" \d", branch.spans[1].text)


def test_checks__say_yes_of_functions_with_errors_only(examples: list[Example]):
    decisions = set()
    for example, branch in branches(examples, "checker"):
        decision, _, corrected = branch.spans[1].text.strip().partition("\n")
        source = (example.situation + branch.spans[0].text).removesuffix(f"\n\n{CHECK}")
        if decision == "no":
            ast.parse(source)
        else:
            with pytest.raises(SyntaxError):
                ast.parse(source)
            ast.parse(corrected)
        decisions.add(decision)
    assert decisions == {"yes", "no"}


def test_questions__are_answered_from_their_text(examples: list[Example]):
    kinds = set()
    for example, branch in branches(examples, "ask"):
        question, answer = example.situation, branch.spans[1].text.strip()
        if answer.startswith("["):
            places = ast.literal_eval(answer)
            assert set(places) <= set(ast.literal_eval(question.partition("first: ")[2]))
            assert len(set(places)) == len(places) > 0
        else:
            thing = re.match(r"The number of the (\w+): ", question)[1]
            assert f"a {thing} {answer}" in question or (
                answer == "none" and f"a {thing} " not in question
            )
        kinds.add(answer[0] == "[")
    assert kinds == {True, False}


def test_refinements__search_only_places_that_were_not_searched(examples: list[Example]):
    count = 0
    for _, branch in branches(examples, "planner", "refiner"):
        if "I search the places that are left" in branch.spans[1].text:
            _, searched = re.findall(
                r"^Error in \[Step (\d+)\]: no \w+ in (\[.*?\])\.", branch.spans[0].text, re.M
            )[-1]
            named = re.findall(r"places = (\[.*\])", branch.spans[1].text)[-1]
            assert not {*ast.literal_eval(searched)} & {*ast.literal_eval(named)}
            count += 1
    assert count


def test_households__are_none_of_other_splits(played):
    held_out = [
        parse_id(task) for split in ("valid_seen", "valid_unseen") for task in split_ids(split)
    ]
    goals = {(spec.goal, spec.plan) for spec in held_out}
    assert (
        not {
            (spec.goal, spec.plan) for spec in (parse_id(episode.task) for episode, _, _ in played)
        }
        & goals
    )


def test_prompts__have_no_examples(played):
    for episode, _, record in played:
        first = record.exchanges[0].prompt
        assert first == f"{episode.situation}\nYour task is to: {episode.objective}\n{HEAD}"
    assert "{example}" in Prompts("short").of("adaplanner", "alfworld").text
