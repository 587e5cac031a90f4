"""Every question of the made wiki, and the real ones where they are, is answered by the expert."""

from __future__ import annotations

import pytest

from tests.envs.hotpotqa.wiki.real import REAL, needs_real
from textcraft_gym import tasks
from textcraft_gym.envs.hotpotqa.env import HotpotQAEnv
from textcraft_gym.envs.hotpotqa.tasks import open_library


def play_all(env: HotpotQAEnv) -> None:
    for task in env.tasks:
        info = env.reset(seed=0, options={"task": task.id})[1]
        assert len(info["expert_plan"]) == task.optimal_length <= 7
        for action in info["expert_plan"]:
            info = env.step(action)[4]
            assert "invalid_reason" not in info, (task.id, action)
        assert info["won"], task.id
        assert set(info["gold_opened"]) == {title for title, _ in task.question.gold}


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_expert__answers_every_question_of_the_made_wiki(split: str):
    play_all(HotpotQAEnv(split, expert=True))


def test_expert__answers_in_the_other_programs_and_in_the_question_alone():
    play_all(HotpotQAEnv(dialect="autoplan", scope="question", expert=True))
    play_all(HotpotQAEnv(dialect="reflexion", sentences="given", expert=True))


@needs_real
@pytest.mark.parametrize("scope", ["wiki", "question"])
def test_expert__answers_the_real_questions(scope: str):
    env = HotpotQAEnv("all", data=REAL, scope=scope, expert=True)
    assert len(env.tasks) == 40
    play_all(env)


def test_splits__share_no_question():
    contents = [
        {task.content for task in tasks("HotpotQA-v0", split)} for split in ("train", "dev", "test")
    ]
    assert [len(split) for split in contents] == [1000, 200, 500]
    assert len(set.union(*contents)) == 1700


def test_library__is_the_same_object_for_the_same_arguments():
    assert open_library("made", 1000, 3) is open_library("made", 1000, 3)
    assert open_library("made", 1000, 3).fingerprint != open_library("made", 1000, 4).fingerprint
