"""The last turns as one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wrappers.worlds import Corridor
from textcraft_gym.registration import find
from textcraft_gym.spaces import AnyText
from textcraft_gym.wrappers import ActionMasking, TextHistory, TokenIds


def test_history__is_the_beginning_and_the_last_turns():
    env = TextHistory(Corridor(rooms=9), 2)
    seen = [env.reset(seed=0)[0], *(env.step("on")[0] for _ in range(3))]
    assert seen == [
        "room 0",
        "room 0\n> on\nroom 1",
        "room 0\n> on\nroom 1\n> on\nroom 2",
        "room 0\n> on\nroom 2\n> on\nroom 3",
    ]
    assert env.reset()[0] == "room 0"


def test_history__of_a_game_begins_with_its_prompt():
    env = TextHistory(find("TextCraft-v0").make(), 1)
    prompt = env.reset(seed=0)[0]
    env.step("get 1 nothing")
    assert (
        env.step("inventory")[0]
        == f"{prompt}\n> inventory\nInventory: You are not carrying anything."
    )


@pytest.mark.parametrize(
    ("bound", "shown"),
    [
        (30, "room 0\n> on\nroom 1\n> on\nroom 2"),
        (29, "room 0\n> on\nroom 2"),
        (18, "room 0\n> on\nroom 2"),
        (17, "oom 0\n> on\nroom 2"),
        (1, "2"),
    ],
)
def test_history__that_is_too_long_loses_its_oldest_turns_first(bound, shown):
    env = TextHistory(Corridor(rooms=9), 5, max_length=bound)
    env.reset(seed=0)
    env.step("on")
    observation = env.step("on")[0]
    assert observation == shown
    assert observation in env.observation_space
    assert env.observation_space == AnyText(bound)


@given(
    actions=st.lists(st.text(max_size=30), max_size=8),
    turns=st.integers(1, 4),
    bound=st.integers(1, 120),
)
def test_history__is_never_too_long_and_ends_with_the_newest(actions, turns, bound):
    env = TextHistory(Corridor(), turns, max_length=bound)
    observation = env.reset(seed=0)[0]
    for action in actions:
        observation = env.step(action)[0]
        assert observation in env.observation_space
        assert observation.endswith(f"> {action}\nroom {env.unwrapped.place}"[-bound:])
    assert observation.count("\n> ") >= min(len(actions), 1) * (bound > 60)


@pytest.mark.parametrize(
    "arguments", [{"turns": 0}, {"turns": -1}, {"turns": True}, {"turns": 2, "max_length": 0}]
)
def test_bound__below_1_raises(arguments):
    name = "max_length" if "max_length" in arguments else "turns"
    with pytest.raises(
        ValueError, match=f"expected {name} (of 1 or more|in 1..1048576|to be a whole number), got"
    ):
        TextHistory(Corridor(), **arguments)


def test_environment__of_other_than_text_raises():
    with pytest.raises(ValueError, match="TextHistory expected actions of text, got Discrete"):
        TextHistory(ActionMasking(Corridor(admissible=True), 3), 2)
    with pytest.raises(ValueError, match="observations of text, got Dict"):
        TextHistory(TokenIds(Corridor(), 3, buckets=4), 2)
