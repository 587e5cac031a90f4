"""The worlds of the checkout are those whose fingerprints the package carries; ``make
fingerprints`` writes these."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.foreign_worlds import SayEnv, Word
from tests.hash_seeds import printed
from textcraft_gym import UnknownName, recipes
from textcraft_gym.agents import prompts as prompts_package
from textcraft_gym.registration import BUNDLED
from textcraft_gym.runs import fingerprints
from textcraft_gym.runs.fingerprints import (
    changes,
    compare,
    fingerprint,
    official_data,
    prompts,
    released,
)

SAY = "tests.foreign_worlds:Say-v0"
STALE = "a world or a prompt has changed: if that is meant, run `make fingerprints`"


def test_released__has_every_world_and_prompt():
    assert list(released()["worlds"]) == list(BUNDLED)
    assert len(released()["prompts"]) == len(
        list(Path(prompts_package.__file__).parent.rglob("*.txt"))
    )


@pytest.mark.parametrize("env_id", BUNDLED)
def test_fingerprint__is_that_of_the_release(env_id):
    assert list(changes(released()["worlds"][env_id], fingerprint(env_id))) == [], STALE


def test_prompts__are_those_of_the_release():
    assert list(changes(released()["prompts"], prompts())) == [], STALE


def test_fingerprint__is_the_same_in_any_process():
    code = "from textcraft_gym.runs.fingerprints import *; print(fingerprint('TextCraft-v0'))"
    assert printed(7, code) == str(fingerprint("TextCraft-v0"))


def test_compare__of_other_recipes_says_which_splits_and_tasks_differ(tmp_path: Path):
    data = Path(recipes.__file__).parent / "data"
    for file in data.glob("*.jsonl"):
        text = file.read_text(encoding="utf-8")
        (tmp_path / file.name).write_text(
            re.sub(r'"count": ?4', '"count": 5', text), encoding="utf-8"
        )
    other = fingerprint("TextCraft-v0", recipes=str(tmp_path))
    differences = list(changes(released()["worlds"]["TextCraft-v0"], other))
    assert any(
        change.startswith("test: sha256 is ") and " in the release, " in change
        for change in differences
    )
    assert any(change.startswith("test: played: minecraft:") for change in differences)


def test_compare__says_what_another_installation_has_more_and_less(monkeypatch: pytest.MonkeyPatch):
    known = released()
    known["prompts"]["adapt/textcraft.txt"] = "0" * 16
    known["prompts"]["adapt/chess.txt"] = "0" * 16
    del known["prompts"]["react/textcraft.txt"]
    known["worlds"] = {env_id: fingerprint("MineTechTree-v0") for env_id in BUNDLED}
    monkeypatch.setattr(fingerprints, "released", lambda: known)
    monkeypatch.setattr(fingerprints, "BUNDLED", ("MineTechTree-v0",))
    monkeypatch.setattr(fingerprints, "official_data", dict)
    world, texts = compare()
    assert (world.name, world.changes) == ("MineTechTree-v0", [])
    assert world.lines(5)[0].startswith("MineTechTree-v0: as released; ")
    assert texts.changes is not None
    assert sorted(change.split(" ")[0] for change in texts.changes) == [
        "adapt/chess.txt",
        "adapt/textcraft.txt",
        "react/textcraft.txt",
    ]
    assert len(texts.lines(1)) == 3


@pytest.mark.parametrize("wrong", ["text", "task", "reward"])
def test_fingerprint__of_a_foreign_world_shows_any_change(
    monkeypatch: pytest.MonkeyPatch, wrong: str
):
    before = fingerprint(SAY)
    assert before["short"]["tasks"] == 2
    step = SayEnv.step
    if wrong == "text":
        monkeypatch.setattr(SayEnv, "step", lambda env, action: ("Nope.", *step(env, action)[1:]))
    elif wrong == "reward":
        monkeypatch.setattr(
            SayEnv, "step", lambda env, action: (step(env, action)[0], 0.5, *step(env, action)[2:])
        )
    else:
        monkeypatch.setattr(Word, "content", "what is said", raising=False)
    assert fingerprint(SAY) != before
    (world,) = compare([SAY])
    assert world.changes is None
    assert "not in the release; 2 tasks, 1 splits" in world.lines(5)[0]


def test_fingerprint__refuses_what_it_cannot_make():
    with pytest.raises(UnknownName, match="unknown argument of TextCraft-v0 'distractrs'"):
        fingerprint("TextCraft-v0", distractrs=3)
    with pytest.raises(UnknownName, match="unknown mode"):
        fingerprint("WebShopLite-v0", mode="rich")
    with pytest.raises(ValueError, match="lists no tasks"):
        fingerprint("tests.foreign_worlds:GuessDigit-v0")


def test_official_data__is_counted_and_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    assert official_data() == {}
    game = tmp_path / "json_2.1.1" / "train" / "task" / "trial" / "game.tw-pddl"
    game.parent.mkdir(parents=True)
    game.write_text("a game")
    (games,) = official_data().items()
    assert games[0] == str(tmp_path / "json_2.1.1" / "train")
    assert games[1][0] == 1
    game.write_text("another")
    assert official_data() != dict([games])


def test_command__compares_one_world_and_exits_with_1_if_it_differs(tmp_path: Path):
    code = "from textcraft_gym.cli.main import main; main()"
    command = [sys.executable, "-c", code, "verify", "--env", "MineTechTree-v0", "--json"]
    same = subprocess.run(command, capture_output=True, text=True, check=True)
    (world,) = json.loads(same.stdout)
    assert (world["name"], world["changes"]) == ("MineTechTree-v0", [])
    patch = "import textcraft_gym.envs.minetechtree.env as env; env.text.reset = lambda game, state: 'Hello.'; "
    differs = subprocess.run(
        [*command[:2], patch + code, *command[3:-1]], capture_output=True, text=True, check=False
    )
    assert differs.returncode == 1
    assert "differences from the release" in differs.stdout
