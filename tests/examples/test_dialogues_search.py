"""The dialogues of the searches are those in which they win with the teacher, and its judgements
are true."""

from __future__ import annotations

import random
import re
from itertools import islice

import pytest
import recorded
import search as data
import textcraft
from dialogue import Example

from tests.examples.dialogues import branches
from textcraft_gym.agents.games import ALFWORLD, HOTPOTQA, TEXTCRAFT, WEBSHOP
from textcraft_gym.agents.lats.branches import UNJUDGED, read_score
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.envs.webshop.tasks import open_market

EXAMPLE_COUNT = 150
EPISODE_COUNT = 40
GAMES = (HOTPOTQA, ALFWORLD, TEXTCRAFT, WEBSHOP)


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    return list(islice(data.examples(3), EXAMPLE_COUNT))


@pytest.fixture(scope="module")
def episodes() -> list[data.Episode]:
    return list(islice(data.drawn(random.Random(1)), EPISODE_COUNT))


def test_examples__are_the_same_for_the_same_seed_and_others_for_another():
    assert list(islice(data.examples(3), 20)) == list(islice(data.examples(3), 20))
    assert next(data.examples(3)) != next(data.examples(4))


def test_examples__have_every_role_and_are_short(examples: list[Example]):
    assert {branch.kind for example in examples for branch in example.branches} == {
        "executor",
        "judge",
        "reflection",
    }
    for example in examples:
        assert all(
            len(example.situation) + len(branch.text) <= recorded.LONGEST_ALONE
            for branch in example.branches
        )
        assert not any(branch.spans[0].learnt for branch in example.branches)


@pytest.mark.parametrize("tree_of_thoughts", [False, True])
def test_searches__win_with_the_teacher_in_all_of_their_games(
    tree_of_thoughts: bool, episodes: list[data.Episode]
):
    """Two of three samples of a turn are wrong, so a search may end before it is at the goal."""
    assert {episode.profile for episode in episodes} == {*GAMES}
    lost = []
    for episode in episodes:
        record = data.play(episode, random.Random(0), tree_of_thoughts=tree_of_thoughts)
        lost += [] if record.episode.won else [episode.objective]
        assert all(exchange.prompt.startswith(episode.situation) for exchange in record.exchanges)
    assert len(lost) <= len(episodes) // 20, lost


def test_turns__that_are_learnt_are_right(episodes: list[data.Episode]):
    """Each learnt action is the teacher's own next one; of the samples of a turn one is learnt at
    most."""
    for episode in episodes:
        record = data.play(episode, random.Random(0))
        learnt = [
            exchange
            for exchange in record.exchanges
            if exchange.role == "executor" and exchange.said.learnt
        ]
        for exchange in learnt:
            _, action, _ = episode.player.move(exchange.prompt)
            assert exchange.said.text.endswith(f": {action}")


def test_judgements__have_a_score_that_grows_with_what_is_done(episodes: list[data.Episode]):
    scores = set()
    for episode in episodes:
        record = data.play(episode, random.Random(0), tree_of_thoughts=True)
        judged = {
            exchange.prompt.removesuffix("\n\nJudgement:"): read_score(exchange.said.text)
            for exchange in record.exchanges
            if exchange.role == "judge"
        }
        scores |= {*judged.values()}
        assert UNJUDGED not in judged.values()
        best = max(judged, key=judged.get)
        assert (judged[best] == 1.0) == record.episode.won
        before = [
            score for prompt, score in judged.items() if best.startswith(f"{prompt}\nThought ")
        ]
        assert all(score < 1.0 for score in before)
    assert {0.1, 1.0} < scores
    assert len(scores) > 5


def test_judgements__of_a_wrong_end_are_the_worst(examples: list[Example]):
    ends = 0
    for _, branch in branches(examples, "judge"):
        transcript = branch.spans[-2].text.rpartition("Thought 1:")[2]
        if "Episode finished, reward = 0" in transcript:
            assert branch.spans[-1].text.endswith(" The score is 1.")
            ends += 1
    assert ends


def test_reflections__are_of_attempts_that_failed(examples: list[Example]):
    for _, branch in branches(examples, "reflection"):
        assert "What you did:\nThought 1: " in branch.text
        assert re.search(r"New plan:\nStep 1: ", branch.spans[-1].text)


def test_tasks__are_of_the_executors_depth_and_of_other_shops(episodes: list[data.Episode]):
    instructions = {goal.instruction for goal in open_market().catalogue.goals}
    for episode in episodes:
        if episode.profile is TEXTCRAFT:
            assert episode.player.task.depth <= textcraft.EXECUTOR_DEPTH
        elif episode.profile is WEBSHOP:
            assert episode.player.goal.product.asin not in open_market().products
            assert episode.player.goal.instruction not in instructions


def test_prompts__are_short():
    for game in GAMES:
        for agent in ("lats", "lats_value"):
            assert Prompts("short").of(agent, game.name).text.startswith("{situation}\n")
