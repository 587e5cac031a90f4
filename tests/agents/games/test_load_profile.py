"""Profiles of games, by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from textcraft_gym import UnknownName
from textcraft_gym.agents import games
from textcraft_gym.agents.games import DEFAULT, TEXTCRAFT, game_names, load_profile
from textcraft_gym.registration import SUITE, find

OWN = """
import re
from textcraft_gym.agents.contract.game_profile import GameProfile

PROFILE = GameProfile("chess", re.compile("(?P<situation>.*)"), ("Illegal",))
BOARD = 64
"""


def test_load_profile__returns_the_profile_of_each_game():
    assert game_names() == [
        "alfworld",
        "hotpotqa",
        "minetechtree",
        "tabletop",
        "textcraft",
        "webshop",
    ]
    assert [load_profile(name).name for name in game_names()] == game_names()
    assert load_profile("textcraft") is TEXTCRAFT is games.TEXTCRAFT
    assert load_profile("default") is DEFAULT
    assert load_profile("textcraft_gym.agents.games:TEXTCRAFT") is TEXTCRAFT
    assert {load_profile(find(env_id).profile).name for env_id in SUITE} == set(game_names())


def test_load_profile__loads_one_of_your_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my_chess.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_profile("my_chess:PROFILE").name == "chess"
    with pytest.raises(UnknownName, match="Did you mean my_chess:PROFILE"):
        load_profile("my_chess:PROFIL")
    with pytest.raises(ValueError, match="my_chess:BOARD: expected a GameProfile, got int"):
        load_profile("my_chess:BOARD")
    sys.modules.pop("my_chess")


def test_load_profile__says_what_is_wrong():
    with pytest.raises(UnknownName, match=r"unknown game 'textcarft'\. Did you mean textcraft"):
        load_profile("textcarft")
    with pytest.raises(ValueError, match="no module named 'no_such_game'"):
        load_profile("no_such_game:PROFILE")
    with pytest.raises(AttributeError, match="CHESS"):
        _ = games.CHESS
    with pytest.raises(UnknownName, match="crafting"):  # a module of two games, and no game
        load_profile("crafting")


@pytest.mark.parametrize("name", game_names())
def test_load_profile__imports_no_other_game(name: str):
    code = f"""
import sys
from textcraft_gym.agents.games import load_profile
start = "textcraft_gym.agents.games."
print([module for module in sys.modules if module.startswith(start)])
load_profile({name!r})
loaded = {{module.removeprefix(start).split(".")[0] for module in sys.modules if module.startswith(start)}}
print(loaded - {{"crafting"}})
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[]", str({name})]
