"""Mistakes of a world are named where they are made, by the method that makes them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.test_env_contract import Spelling
from textcraft_gym.envs.text_env import TextEnv

PLAY = r"Spelling\._play must return \(text, reward, terminated, truncated, info\), "


@pytest.mark.parametrize("method", sorted(TextEnv.__abstractmethods__))
def test_text_env__is_not_made_without_a_method_of_the_game(method):
    misspelt = {name: getattr(Spelling, name) for name in TextEnv.__abstractmethods__ - {method}}
    world = type("Misspelt", (TextEnv,), misspelt)
    with pytest.raises(TypeError, match=f"abstract class Misspelt.*{method}"):
        world()


@pytest.mark.parametrize(
    ("played", "got"),
    [
        (None, "got NoneType"),
        (("Yes.", 1.0, True), r"got \(str, float, bool\)"),
    ],
)
def test_step__says_what_play_must_return(played, got, monkeypatch):
    monkeypatch.setattr(Spelling, "_play", lambda world, action: played)
    world = Spelling()
    world.reset(seed=0)
    with pytest.raises(TypeError, match=PLAY + ".*" + got):
        world.step("o")


@pytest.mark.parametrize(
    ("method", "expected"), [("_begin", "return a str"), ("_info", "return a dict")]
)
def test_reset__says_what_a_method_must_return(method, expected, monkeypatch):
    monkeypatch.setattr(Spelling, method, lambda *_: 5)
    with pytest.raises(TypeError, match=rf"Spelling\.{method} must {expected}, got int"):
        Spelling().reset(seed=0)


def test_step__leaves_an_error_of_the_game_as_it_is(monkeypatch):
    def jammed(world: Spelling, action: str) -> Any:
        raise ValueError("the lock is jammed")

    monkeypatch.setattr(Spelling, "_play", jammed)
    world = Spelling()
    world.reset(seed=0)
    with pytest.raises(ValueError, match=r"^the lock is jammed$"):
        world.step("o")
