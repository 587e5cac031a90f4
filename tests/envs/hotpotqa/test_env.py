"""The environment: its contract, its info, and other data than the made one."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import gymnasium as gym
import pytest

from tests.envs.hotpotqa.shelf import BORN, CORPUS, MUSIC, PAGES, SPLITS, UNTOLD, Shelf
from textcraft_gym import UnknownName
from textcraft_gym.envs.hotpotqa.env import HotpotQAEnv
from textcraft_gym.envs.hotpotqa.rules import REASONS
from textcraft_gym.envs.hotpotqa.wiki.corpus import Corpus, Page
from textcraft_gym.envs.text_env import TextEnv
from textcraft_gym.task import task_hash
from textcraft_gym.testing import NONSENSE, EnvContract


def made(**arguments: Any) -> TextEnv:
    return HotpotQAEnv(**{"data": CORPUS, **arguments})


class Small(EnvContract):
    """The environment with the pages of the shelf."""

    arguments: dict[str, Any] = {}

    def make_env(self, **arguments: Any) -> gym.Env[str, str]:
        return gym.make("HotpotQA-v0", data=CORPUS, **self.arguments, **arguments)


class TestReAct(Small):
    pass


class TestAutoPlan(Small):
    arguments = {"dialect": "autoplan"}


class TestReflexion(Small):
    arguments = {"dialect": "reflexion", "scope": "question"}


def test_info__tells_pages_while_playing_and_the_score_at_the_end():
    env = made()
    observation, info = env.reset(seed=0, options={"task": MUSIC.id})
    assert observation == f"Question: {MUSIC.question}"
    assert info == {"task": "q2", "won": False, "opened": [], "gold_opened": []}
    env.step("search[sarn]")
    info = env.step("search[harrow vale]")[4]
    assert (info["opened"], info["gold_opened"]) == (["Sarn", "Harrow Vale"], ["Harrow Vale"])
    assert env.step("search[Harrow]")[4]["invalid_reason"] == "no_such_page"
    observation, reward, terminated, truncated, info = env.step("finish[the village Sarn!]")
    assert (observation, reward, terminated, truncated) == (
        "Episode finished, reward = 0\n",
        0.0,
        True,
        False,
    )
    assert info["f1"] == pytest.approx(2 / 3)
    shown = {name: info[name] for name in ("won", "em", "answer", "gt_answer", "question_idx")}
    assert shown == {
        "won": False,
        "em": False,
        "answer": "the village Sarn!",
        "gt_answer": "Sarn",
        "question_idx": 0,
    }
    assert info["gold"] == list(dict(MUSIC.gold))


@pytest.mark.parametrize(
    ("arguments", "end"),
    [
        ({}, "in 1950.."),
        ({"dialect": "reflexion"}, "in 1950.."),
        ({"dialect": "autoplan"}, "in 1950."),
        ({"dialect": "autoplan", "sentences": "period"}, "in 1950.."),
        ({"sentences": "given"}, "in 1950."),
    ],
)
def test_sentences__are_by_default_those_of_the_dialect(arguments: dict[str, Any], end: str):
    env = made(**arguments)
    env.reset(seed=0)
    assert (
        env.step("search[Élodie Mercer]")[0]
        == f"Élodie Mercer is a director. She was born in Sarn {end}"
    )


def test_limit__is_that_of_react_and_can_be_that_of_others():
    for limit, arguments in ((7, {}), (10, {"dialect": "autoplan", "max_episode_steps": 10})):
        env = gym.make("HotpotQA-v0", data=CORPUS, **arguments)
        env.reset(seed=0)
        assert [env.step(NONSENSE)[3] for _ in range(limit)] == [False] * (limit - 1) + [True]


@pytest.mark.parametrize("action", ["finish[]", "finish[The Lantern]"])
def test_question__without_an_answer_has_no_right_one(action: str):
    env = made(split="test", expert=True)
    assert env.reset(options={"task": UNTOLD.id})[1]["expert_plan"] == []
    _, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["won"], info["f1"]) == (0.0, True, False, 0.0)


@pytest.mark.parametrize(
    "arguments", [{}, {"scope": "question"}, {"dialect": "autoplan"}, {"sentences": "given"}]
)
@pytest.mark.parametrize("split", SPLITS)
def test_expert__opens_all_evidence_and_wins_every_question(split: str, arguments: dict[str, Any]):
    env = made(split=split, expert=True, **arguments)
    for task in env.tasks:
        info = env.reset(seed=0, options={"task": task.id})[1]
        plan = info["expert_plan"]
        assert len(plan) == task.optimal_length <= 7
        for left in range(len(plan), 0, -1):
            assert len(info["expert_plan"]) == left
            info = env.step(info["expert_plan"][0])[4]
            assert "invalid_reason" not in info
        if plan:
            assert info["won"]
            assert info["expert_plan"] == []
            assert {title for title, _ in task.question.gold} == set(info["gold_opened"])


def test_expert__looks_up_what_a_search_does_not_show():
    env = made(expert=True)
    plan = env.reset(options={"task": MUSIC.id})[1]["expert_plan"]
    assert plan == ["search[Harrow Vale]", "lookup[music]", "search[Tobin Aske]", "finish[Sarn]"]
    env.step("search[Tobin Aske]")
    assert env.step("search[Harrow Vale]")[4]["expert_plan"] == ["lookup[music]", "finish[Sarn]"]
    # Having left the page, it goes back for what it has not read; what was looked up it knows.
    again = ["search[Harrow Vale]", "lookup[music]", "finish[Sarn]"]
    assert env.step("search[Sarn]")[4]["expert_plan"] == again
    for action in again[:2]:
        env.step(action)
    assert env.step("search[Sarn]")[4]["expert_plan"] == ["finish[Sarn]"]


def test_expert__leaves_out_pages_that_there_are_not_and_lookups_that_are_too_many():
    facts = tuple(f" Number {number} of the list is here." for number in range(6))
    pages = [Page(f"Part {name}", ((*facts, f" The {name} is last."),)) for name in "ABCD"]
    gold = tuple((page.title, 6) for page in pages)
    questions = [
        BORN._replace(id=str(count), gold=(("Nowhere", 0), *gold[:count])) for count in (1, 4)
    ]
    env = made(data=Corpus(Shelf(pages), {"dev": questions}), expert=True)
    plans = [env.reset(options={"task": id})[1]["expert_plan"] for id in ("1", "4")]
    assert plans[0] == ["search[Part A]", "lookup[last]", "finish[Quill Bay]"]
    verbs = [action.partition("[")[0] for action in plans[1]]
    assert verbs == ["search", "lookup", "search", "lookup", "search", "search", "finish"]


def test_thoughts__tell_what_was_read_on_the_way():
    env = made()
    task = next(task for task in env.tasks if task.id == MUSIC.id)
    plan = ["search[Harrow Vale]", "lookup[music]", "search[Tobin Aske]", "finish[Sarn]"]
    assert env.thoughts(task, plan) == [
        "I begin with Harrow Vale.",
        "What I need is further down the page, with the word music.",
        "The music is by Tobin Aske. Next I search for Tobin Aske.",
        "He grew up in Sarn. So the answer is Sarn.",
    ]


def test_admissible__begins_with_the_titles_of_the_question_and_goes_on_with_those_in_view():
    env = made(admissible=True)
    commands = env.reset(options={"task": MUSIC.id})[1]["admissible_commands"]
    assert "search[Harrow Vale]" in commands
    assert not any(command.startswith(("finish", "lookup")) for command in commands)
    commands = env.step("search[Harrow Vale]")[4]["admissible_commands"]
    assert {
        "search[Ines Calder]",
        "search[Port Lamby]",
        "search[Harrow Vale]",
        "lookup[music]",
    } <= set(commands)
    assert "search[Tobin Aske]" not in commands  # the search does not show him
    commands = env.step("lookup[music]")[4]["admissible_commands"]
    assert "search[Tobin Aske]" in commands
    assert "lookup[music]" not in commands
    commands = env.step("search[the village]")[4]["admissible_commands"]
    assert "search[Sarn]" in commands
    commands = env.step("search[Mercer (film)]")[4]["admissible_commands"]
    assert "search[Mercer (film)]" in commands  # the page has no title of its own in its text


def test_admissible__is_an_empty_answer_where_there_is_nothing_to_search_for():
    lost = Corpus(Shelf(), {"dev": (BORN._replace(question="who?", gold=(), titles=()),)})
    env = made(data=lost, admissible=True)
    assert env.reset(seed=0)[1]["admissible_commands"] == ["finish[]"]


def test_explain__says_why_nothing_happened():
    env = made()
    env.reset(options={"task": BORN.id})
    said = {
        "fly": "Actions are: search[title]; lookup[word]; finish[answer].",
        "lookup[film]": "No page is open to look 'film' up on: search for one first.",
        "search[Mercer]": "There is no page of just the title 'Mercer'. Pages like it: Mercer (band), Mercer (film), ",
        "search[Sarn]": None,
        "lookup[film]  ": "The page 'Sarn' has no further sentence with 'film'.",
    }
    reasons = set()
    for action, expected in said.items():
        reason = env.step(action)[4].get("invalid_reason")
        reasons.add(reason)
        assert expected is None or env.explain(action, reason).startswith(expected)
    assert reasons == {*REASONS, None}


def test_vocabulary__has_every_word_that_is_read():
    env = made(expert=True, split="all")
    known = set("".join(letter if letter.isalnum() else " " for letter in env.vocabulary).split())
    for task in env.tasks:
        seen, info = env.reset(seed=0, options={"task": task.id})
        for action in ["fly", "search[zzz]", "lookup[zzz]", *info["expert_plan"]]:
            seen += f"\n{env.step(action)[0]}"
        words = "".join(letter if letter.isalnum() else " " for letter in seen).split()
        assert set(words) <= known | {"fly", "zzz"}


def test_group_and_depth__are_type_and_level():
    tasks = {task.id: task for task in made(split="all").tasks}
    assert (tasks["q1"].group, tasks["q1"].depth) == ("bridge easy", 1)
    assert (tasks["q3"].group, tasks["q3"].depth) == ("comparison medium", 2)
    assert tasks["q2"].depth == 3
    assert len(tasks) == 11


def test_content__is_the_same_for_the_same_question_with_another_id():
    tasks = {task.id: task_hash("HotpotQA-v0", task) for task in made(split="all").tasks}
    assert tasks["q1"] == tasks["q8"]
    assert len(set(tasks.values())) == 7


def test_snapshot__is_refused_with_another_dialect_or_other_pages():
    env = made()
    env.reset(seed=0)
    fewer = Corpus(Shelf(list(Shelf().pages.values())[:-1]), SPLITS)
    for other, said in ((made(dialect="autoplan"), "dialect='react'"), (made(data=fewer), "data=")):
        other.reset(seed=0)
        with pytest.raises(ValueError, match=said):
            env.restore(other.snapshot())


def test_fingerprint__is_of_pages_and_questions():
    fewer = {"train": SPLITS["train"], "dev": SPLITS["dev"][1:], "test": SPLITS["test"]}
    assert made().fingerprint == made(data=Corpus(Shelf(), SPLITS)).fingerprint
    assert made().fingerprint != made(data=Corpus(Shelf(), fewer)).fingerprint
    assert made().fingerprint != made(data=Corpus(Shelf(PAGES[1:]), SPLITS)).fingerprint


def test_copy__shares_the_pages():
    env = made()
    assert deepcopy(env).reading.library is env.reading.library
    env.reset(seed=0)
    assert pickle.loads(pickle.dumps(env)).step("search[Sarn]") == env.step("search[Sarn]")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"split": "tset"}, "unknown split 'tset'. Did you mean test?"),
        ({"dialect": "reakt"}, "unknown dialect 'reakt'. Did you mean react?"),
        ({"scope": "page"}, "unknown scope 'page'. Possible: wiki, question"),
        ({"sentences": "full"}, "unknown division of sentences 'full'"),
    ],
)
def test_make__says_what_there_is(arguments: dict[str, Any], said: str):
    with pytest.raises(UnknownName) as error:
        made(**arguments)
    assert said in str(error.value)


@pytest.mark.parametrize("name", ["q0", 0, None, ["q1"], {}])
def test_reset__says_which_tasks_there_are(name: object):
    with pytest.raises(UnknownName, match="unknown task"):
        made().reset(options={"task": name})


def test_make__says_what_the_data_lacks():
    with pytest.raises(ValueError, match=r"split 'dev' of .* has no question"):
        made(data=Corpus(Shelf(), {"dev": ()}))
    alone = Corpus(Shelf(), {"dev": (BORN._replace(titles=()),)})
    with pytest.raises(ValueError, match="scope='question'"):
        made(data=alone, scope="question")
    with pytest.raises(ValueError, match=r"expected pages in 1000\.\.50000, got 9"):
        HotpotQAEnv(pages=9)


def test_split__react_has_the_questions_of_its_paper_in_their_order():
    dev = tuple(BORN._replace(id=f"d{number}") for number in range(7405))
    env = made(data=Corpus(Shelf(), {"dev": dev}), split="react")
    assert [task.id for task in env.tasks[:5]] == ["d3687", "d6238", "d5388", "d3522", "d3824"]
    assert env.tasks[0].number == 3687
    assert len(env.tasks) == 500
    assert len(made(data=Corpus(Shelf(), {"dev": dev}), split="all").tasks) == 7405
