"""Avatars: what a program can reach of them, and which commands its arguments become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from textcraft_gym.agents.contract.agent import Step
from textcraft_gym.agents.games import game_names, load_profile
from textcraft_gym.agents.program.avatar import MAX_ARGUMENT, Avatar, Method
from textcraft_gym.agents.program.parse import ProgramError
from textcraft_gym.agents.program.values import AGENT, MAX_TEXT

AVATARS = {game: avatar for game in game_names() if (avatar := load_profile(game).avatar)}


class Played:
    """An episode that answers each action with itself."""

    def __init__(self) -> None:
        self.history: list[tuple[str, Step]] = []

    def act(self, text: str) -> Any:
        yield from ()
        self.history.append((text, Step(f"Played: {text}", 0.0, False, False, {})))
        return self.history[-1][1]


class Painter(Avatar):
    methods: ClassVar[Mapping[str, Method]] = {
        "paint": Method("paint {0} on {1}"),
        "count": Method("look", lambda answer, arguments: len(arguments[0]), 1),
    }

    def attributes(self) -> dict[str, Any]:
        return {"colour": "red", "colours": ["red", "blue"]}


def call(avatar: Avatar, name: str, *arguments: Any) -> Any:
    """Return the value of a method."""
    running = avatar.call(name, list(arguments))
    with pytest.raises(StopIteration) as stopped:
        next(running)
    return stopped.value.value


@pytest.mark.parametrize("game", sorted(AVATARS))
def test_avatar__has_nothing_but_its_methods_and_attributes(game: str):
    avatar = AVATARS[game](Played(), "")  # type: ignore[arg-type]
    assert {*avatar.methods, *avatar.attributes()} & {
        "play",
        "methods",
        "kinds",
        "read",
        "call",
        "command",
    } == set()
    for name in {*dir(avatar), *vars(avatar), "__dict__", "secret"} - {*avatar.attributes()}:
        with pytest.raises(ProgramError, match=f"^agent has no {name}; it has "):
            avatar.attribute(name)
        if name not in {*avatar.methods, "report"}:
            with pytest.raises(ProgramError, match=f"^agent has no {name}; it has "):
                list(avatar.call(name, []))


@pytest.mark.parametrize(
    "text",
    ["{0.__class__}", "{1}", "{", "}}", "%s", "{0!r:>9999999}", "a\nlook\r\x0b b", "  a   b "],
)
def test_argument__is_a_part_of_one_command_whatever_it_says(text: str):
    played = Played()
    said = " ".join(text.split())
    assert call(Painter(played, ""), "paint", text, 2) == f"Played: paint {said} on 2"  # type: ignore[arg-type]
    assert [action for action, _ in played.history] == [f"paint {said} on 2"]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("a",),
        ("a", "b", "c"),
        (None, "b"),
        (True, "b"),
        (["a"], "b"),
        (AGENT, "b"),
        ("a" * 201, "b"),
    ],
)
def test_method__takes_as_many_texts_and_numbers_as_its_command(arguments: tuple[Any, ...]):
    played = Played()
    with pytest.raises(ProgramError):
        list(Painter(played, "").call("paint", arguments))  # type: ignore[arg-type]
    assert played.history == []


def test_report__has_the_last_three_actions_and_the_attributes_that_are_no_lists():
    painter = Painter(Played(), "")  # type: ignore[arg-type]
    for name in "abcd":
        call(painter, "paint", name, 1)
    assert call(painter, "count", "four") == 4
    expected = ["The last actions and their answers:"]
    for action in ("paint c on 1", "paint d on 1", "look"):
        expected += [action, f"Played: {action}"]
    assert call(painter, "report") == "\n".join([*expected, "agent.colour: 'red'"])


def test_values__are_no_longer_than_a_text_may_be(monkeypatch: pytest.MonkeyPatch):
    played = Played()
    monkeypatch.setattr("textcraft_gym.agents.program.avatar.MAX_TEXT", 10)
    assert call(Painter(played, ""), "paint", "a" * MAX_ARGUMENT, 1) == "Played: pa"  # type: ignore[arg-type]
    assert len(call(Painter(played, ""), "report")) == 10  # type: ignore[arg-type]
    assert MAX_ARGUMENT < MAX_TEXT
