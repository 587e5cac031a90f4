from __future__ import annotations

import pytest

from tests.agents.scripted import ScriptedModel, play
from textcraft_gym.agents.adapt.react import MAX_LINE, ReActAgent
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.games import TEXTCRAFT


def act(*answers: str, **settings):
    model = ScriptedModel(*answers)
    return play(ReActAgent(TEXTCRAFT, settings=Settings(**settings)), {"executor": model}), model


def test_react__plays_its_lines_and_answers_thoughts_itself():
    episode, model = act(
        "think: first the comb", "get 3 honeycomb", "Think: task completed? No.", "Task completed!"
    )
    assert episode.transcript[1:] == [("get 3 honeycomb", "Got 3 honeycomb")]
    assert (episode.steps, episode.calls, episode.k_max) == (1, {"executor": 3}, 1)
    (attempt,) = episode.trace.children
    assert (attempt.task, attempt.role, attempt.outcome) == ("craft beehive", "executor", True)
    assert attempt.parts == ["think: first the comb", 1, "Think: task completed? No."]
    first, second, third = (request["prompt"] for request in model.asked)
    assert second == f"{first} think: first the comb\nOK.\n>"
    assert third == f"{second} get 3 honeycomb\nGot 3 honeycomb\n>"


@pytest.mark.parametrize(
    ("said", "claimed_success"),
    [
        ("Task completed!", True),
        ("think: done. TASK COMPLETED", True),
        ("task failed!", False),
        ("Task Failed", False),
    ],
)
def test_react__believes_what_its_model_says(said: str, claimed_success: bool):
    episode, _ = act(said)
    assert (episode.claimed_success, episode.won, episode.steps, episode.stop_reason) == (
        claimed_success,
        False,
        0,
        "agent",
    )


def test_react__claims_nothing_when_the_environment_ends():
    craft = "craft 4 oak planks using 1 oak logs"
    episode, _ = act(
        "get 2 oak logs",
        "get 3 honeycomb",
        craft,
        craft,
        "craft 1 beehive using 6 oak planks, 3 honeycomb",
    )
    assert (episode.won, episode.claimed_success, episode.stop_reason) == (True, None, "terminated")
    assert episode.trace.children[0].outcome is None


def test_react__gives_up_after_its_turns():
    episode, _ = act(*["inventory"] * 9, turns=7)
    assert (episode.claimed_success, episode.steps, episode.calls) == (False, 7, {"executor": 7})


def test_react__gives_up_after_so_many_dead_turns_in_a_row():
    patient = ["think: a", "fly", "inventory", "think: b", "get 1 beehive", "think: c", "inventory"]
    episode, _ = act(*patient, patience=3)
    assert episode.calls == {"executor": 6}
    assert (episode.claimed_success, episode.steps) == (False, 3)


def test_react__has_the_budgets_of_the_paper_in_textcraft():
    episode, model = act(*["inventory"] * 100)
    assert (episode.claimed_success, episode.steps) == (False, 60)
    assert {
        key: model.asked[0][key] for key in ("stop", "max_tokens", "temperature", "sample")
    } == {
        "stop": ("\n",),
        "max_tokens": 150,
        "temperature": 0.0,
        "sample": 0,
    }
    assert act(*["fly"] * 100)[0].steps == 8


def test_react__takes_the_first_line_of_a_model_that_does_not_stop():
    episode, _ = act("\n > get 1 honeycomb\nGot 1 honeycomb\n> get 2 honeycomb", "x" * 100_000)
    assert episode.transcript[1][0] == "get 1 honeycomb"
    assert len(episode.transcript[2][0]) == MAX_LINE
