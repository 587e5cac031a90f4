"""The dialogues of HotpotQA are those of agents that win with the teacher, of other questions than
are played."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import islice, pairwise

import dialogue
import hotpotqa as data
import pytest
from dialogue import Example
from recorded import dialogues
from scholar import MISTAKES, RELATIONS, shortened, words_for
from teacher import FAILED

from tests.examples.dialogues import branches, learns_only_the_players_lines, turns
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.envs.hotpotqa.rules import finish
from textcraft_gym.envs.hotpotqa.tasks import Reading, open_library, split_tasks
from textcraft_gym.task import task_hash

EXAMPLE_COUNT = 120
QUESTION_COUNT = 25


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


@pytest.fixture(scope="module")
def questions() -> list[data.Asked]:
    return list(islice(data.drawn(random.Random(1)), QUESTION_COUNT))


def test_examples__are_the_same_for_the_same_seed_and_others_for_another():
    assert list(islice(data.examples(3), 10)) == list(islice(data.examples(3), 10))
    assert next(data.examples(3)) != next(data.examples(4))


def test_examples__have_every_kind_of_dialogue_and_are_short(examples: list[Example]):
    assert {branch.kind for example in examples for branch in example.branches} == {
        "executor",
        "planner",
        "reflection",
    }
    sizes = [
        len(example.situation) + sum(len(branch.text) for branch in example.branches)
        for example in examples
    ]
    assert max(sizes) <= dialogue.LONGEST
    for mark in (
        "one level down:\n",
        "in full:\n",
        "then the answer:\n",
        f"say it. {FAILED}\n",
        "There is no page of",
    ):
        assert any(mark in branch.text for example in examples for branch in example.branches), mark


def test_examples__what_is_learnt_are_the_players_lines_only(examples: list[Example]):
    for _, branch in branches(examples, "executor", "planner", "reflection"):
        assert learns_only_the_players_lines(branch), branch.text


def test_questions__are_none_of_those_that_agents_are_measured_on(questions: list[data.Asked]):
    reading = Reading(open_library(), "react", "period", "wiki")
    held_out = split_tasks(reading, "all")
    words = {task.question.question for task in held_out}
    hashes = {task_hash("HotpotQA-v0", task) for task in held_out}
    assert not {quiz.task.question.question for quiz in questions} & words
    assert not {task_hash("HotpotQA-v0", quiz.task) for quiz in questions} & hashes
    assert {quiz.task.question.type for quiz in questions} == {"bridge", "comparison"}


@pytest.mark.parametrize("agent", ["react", "adapt", "plan_and_execute", "reflexion"])
def test_agents__win_with_the_teacher(agent: str, questions: list[data.Asked]):
    for quiz in questions:
        record = data.play(quiz, agent, random.Random(quiz.task.id))
        assert record.episode.won, quiz.task.question.question
        for exchange in record.exchanges:
            assert exchange.prompt.startswith(quiz.situation)


def test_chain_of_thought__says_that_it_guesses(questions: list[data.Asked]):
    """Nothing of a made wiki can be known, so that it wins what it guesses."""
    for quiz in questions:
        record = data.play(quiz, "chain_of_thought", random.Random(quiz.task.id))
        (branch,) = dialogues(quiz.situation, record.exchanges)
        assert re.search(r"I have read nothing of .+, so I guess\.\nfinish\[", branch.text)
        template = Prompts("short").of("chain_of_thought", "hotpotqa")
        filled = template.fill(situation=quiz.situation, task="answer the question", information="")
        assert quiz.situation + branch.spans[0].text == filled


def test_answers__that_are_learnt_are_right_and_follow_from_what_was_read(
    questions: list[data.Asked],
):
    answered = 0
    for quiz in questions:
        record = data.play(quiz, "reflexion", random.Random(quiz.task.id))
        for branch in dialogues(quiz.situation, record.exchanges):
            for line, _, learnt in turns(branch) if branch.kind == "executor" else []:
                if line.startswith("finish["):
                    assert learnt == (line == finish(quiz.task.question.answer))
                    evidence = [sentence for hop in quiz.hops for sentence in hop.evidence]
                    assert not learnt or all(sentence in branch.text for sentence in evidence)
                    answered += learnt
    assert answered == QUESTION_COUNT


def test_mistakes__are_not_learnt_and_are_recovered_from(questions: list[data.Asked]):
    erred = set()
    for quiz in questions:
        for mistake in MISTAKES if quiz.task.optimal_length <= data.LONGEST_PLAN else ():
            scholar = data.Scholar(quiz.task, quiz.hops, random.Random(0), mistakes=(mistake,))
            record = data.record(quiz.env, data.agent("react"), quiz.task.id, scholar, ())
            assert record.episode.won
            unlearnt = [exchange for exchange in record.exchanges if not exchange.said.learnt]
            hints = [exchange for exchange in unlearnt if "I look for the word" in exchange.prompt]
            assert len(scholar.erred) <= len(unlearnt) <= len(scholar.erred) + 2 * len(hints) + 1
            erred |= scholar.erred
    assert erred == {*MISTAKES}


def test_wrong_pages__are_left_after_what_was_done_there_in_vain(questions: list[data.Asked]):
    left: Counter[tuple[str, bool]] = Counter()
    for quiz in questions:
        if quiz.task.optimal_length > data.LONGEST_PLAN:
            continue
        rng = random.Random(quiz.task.id)
        scholar = data.Scholar(quiz.task, quiz.hops, rng, mistakes=("other",))
        record = data.record(quiz.env, data.agent("react"), quiz.task.id, scholar, ())
        assert record.episode.won
        for wrong, after in pairwise(record.exchanges):
            action, said = wrong.said.text.strip(), after.said.text
            if not wrong.said.learnt and after.said.learnt and "is not what I need" in said:
                verb, _, title = action.rstrip("]").partition("[")
                left[verb, f"{title} is not what I need" in wrong.prompt] += 1
    assert min(left["lookup", False], left["search", False], left["search", True]) > 1


def test_comparisons__set_the_values_side_by_side(examples: list[Example]):
    compared = of_years = 0
    for _, branch in branches(examples, "executor"):
        for line, _, _ in turns(branch):
            if said := re.match(
                r"think: (.+): (.+)\. (.+): (.+)\. (.+) against ([^:.]+)(.*)\. (\w+): (.+)\. So (.+)\.$",
                line,
            ):
                first, one, second, other, *numbers, digits, word, chosen, answer = said.groups()
                assert tuple(numbers) == shortened(one, other)
                assert answer in (first if chosen == numbers[0] else second)
                if " " not in chosen:
                    above = digits.endswith("above")
                    assert above == (
                        int(numbers[0].replace(",", "")) > int(numbers[1].replace(",", ""))
                    )
                    assert chosen == numbers[above == (word in ("First", "Earlier", "Fewer"))]
                compared += 1
                of_years += numbers != [one, other]
    assert compared > of_years > 0
    assert shortened("3 May 1925", "11 June 1925") == ("3 May 1925", "11 June 1925")
    assert shortened("3 May 1925", "11 June 1923") == ("1925", "1923")


def test_lookups__that_are_learnt_are_of_words_in_an_order_that_the_question_tells(
    questions: list[data.Asked],
):
    orders = {word for relation in RELATIONS for word in words_for(relation.question)}
    first = later = hinted = 0
    for quiz in questions:
        record = data.play(quiz, "react", random.Random(quiz.task.id))
        assert record.episode.won
        ranks: list[int] = []
        for exchange in record.exchanges:
            action = exchange.said.text.strip()
            if action.startswith("search["):
                ranks = []
            if action.startswith("lookup[") and exchange.said.learnt:
                word = action.removeprefix("lookup[").removesuffix("]")
                assert word in orders
                known = [words_for(hop.relation.question) for hop in quiz.hops]
                at = [words.index(word) for words in known if word in words]
                assert at
                assert len(ranks) in at, exchange.text
                ranks.append(len(ranks))
                first, later = first + (len(ranks) == 1), later + (len(ranks) > 1)
            elif action.startswith("lookup["):
                hinted += 1
    assert first > 5
    assert later > 1
    assert hinted < first


def test_claims__of_failure_are_of_what_no_page_says(questions: list[data.Asked]):
    played = [
        record
        for quiz in questions
        if (record := data.play_in_vain(quiz, random.Random(quiz.task.id)))
    ]
    assert len(played) > QUESTION_COUNT / 3
    for record in played:
        assert record.exchanges[-1].said.text.endswith(FAILED)
        assert "(Result" not in record.exchanges[-1].prompt
