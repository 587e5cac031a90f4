"""Byte for byte the real engine's: against TextWorld where it is installed, and against traces of it everywhere.

``REGENERATE_GOLDEN=1 pytest tests/envs/alfworld/test_parity.py`` has TextWorld play the traces anew.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import gymnasium as gym
import pytest

from tests.envs.alfworld.judge import OFFICIAL, Native, TextWorld, walk
from tests.envs.alfworld.memoised import memoised
from textcraft_gym.envs.alfworld.expert import expert_plan
from textcraft_gym.envs.alfworld.export import export_game
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.problem import TASK_TYPES, GameError
from textcraft_gym.envs.alfworld.task_id import Difficulty, make_id

GOLDEN = Path(__file__).parent / "golden"
OFFICIAL_GAMES = sorted(OFFICIAL.rglob("game.tw-pddl"))
PLANS = dict(zip(TASK_TYPES, (3, 310, 5, 8, 12, 205), strict=True))
CLUTTERED = Difficulty(receptacles=14, distractors=12, hidden=60)
STEPS = 190
"""So that 24 games and the walks through the household are about 5,000 records."""
GOLDEN_STEPS = 60


def made(task_type: str, folder: Path, difficulty: Difficulty = CLUTTERED) -> Path:
    task_id = make_id(task_type, PLANS[task_type], 1, difficulty)
    problem = generate(task_id)
    game = Game(problem)
    return export_game(problem, task_id, folder, expert_plan(game, game.first) or [])


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("difficulty", [CLUTTERED, Difficulty()], ids=["cluttered", "usual"])
@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_native__answers_as_textworld_on_made_games(task_type: str, difficulty: Difficulty, tmp_path: Path):
    assert_same(made(task_type, tmp_path, difficulty))


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
@pytest.mark.official_games
@pytest.mark.parametrize("file", OFFICIAL_GAMES or [OFFICIAL], ids=lambda file: file.parts[-3])
def test_native__answers_as_textworld_on_official_games(file: Path):
    assert_same(file)


def assert_same(file: Path) -> None:
    wins = compared = 0
    with memoised():
        for real, native in walk(file, STEPS):
            assert native == real
            wins += native.won
            compared += 1
    assert wins
    assert compared == STEPS + 1


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
def test_memoised__answers_as_plain_textworld_on_a_made_game(tmp_path: Path):
    assert_memoised_is_plain(made("pick_heat_then_place_in_recep", tmp_path))


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
@pytest.mark.official_games
def test_memoised__answers_as_plain_textworld_on_an_official_game():
    assert_memoised_is_plain(OFFICIAL_GAMES[-1])


def assert_memoised_is_plain(file: Path) -> None:
    with memoised():
        records = [real for real, _ in walk(file, GOLDEN_STEPS)]
    plain = TextWorld(file)
    assert [plain.begin(), *(plain.play(record.command) for record in records[1:])] == records


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
def test_env__is_the_same_on_both_engines():
    arguments = {"split": "dev", "admissible": True, "expert": True, "max_episode_steps": -1}
    native = gym.make("ALFWorld-v0", **arguments)
    real = gym.make("ALFWorld-v0", engine="textworld", **arguments)
    for _ in range(2):
        task = native.get_wrapper_attr("tasks")[31].id
        seen, info = native.reset(seed=0, options={"task": task})
        assert real.reset(seed=0, options={"task": task}) == (seen, info)
        for command in ["fly", "go to fridge", *info["expert_plan"]]:
            answer = native.step(command)
            assert real.step(command) == answer
        assert answer[2]
    real.close()


def test_env__says_what_the_real_engine_needs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "textworld", None)
    with pytest.raises(GameError, match=r"textworld.*pip install"):
        gym.make("ALFWorld-v0", engine="textworld")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_native__answers_as_textworld_did(task_type: str, tmp_path: Path):
    golden = GOLDEN / f"{task_type}.json"
    if os.environ.get("REGENERATE_GOLDEN"):
        file = made(task_type, tmp_path)
        first, *records = (real for real, _ in walk(file, GOLDEN_STEPS, seed=1))
        trace = {"task": str(file.parent.relative_to(tmp_path)), "opening": first.feedback, "turns": []}
        trace["turns"] = [[one.command, one.feedback, len(one.commands), one.reward, one.won] for one in records]
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(json.dumps(trace, indent=0) + "\n", encoding="utf-8", newline="\n")
    trace = json.loads(golden.read_text(encoding="utf-8"))
    native = Native(Game(generate(trace["task"])))
    assert native.begin().feedback == trace["opening"]
    for command, feedback, count, reward, won in trace["turns"]:
        record = native.play(command)
        assert (record.feedback, len(record.commands), record.reward, record.won) == (feedback, count, reward, won)


def test_dialect__put_says_the_same_in_words_of_before():
    trace = json.loads((GOLDEN / "pick_two_obj_and_place.json").read_text(encoding="utf-8"))
    problem = generate(trace["task"])
    put, move = Native(Game(problem, "put")), Native(Game(problem))
    assert put.begin().feedback == trace["opening"]
    for command, feedback, _, reward, won in trace["turns"]:
        record = put.play(as_before(command))
        assert (record.feedback, record.reward, record.won) == (as_before(feedback), reward, won)
        assert record.commands == sorted(map(as_before, move.play(command).commands))
    assert any(feedback.startswith("You move the ") for _, feedback, *_ in trace["turns"])
    assert put.play("help").feedback == as_before(move.play("help").feedback)


def as_before(text: str) -> str:
    """Say as before 0.4 what is said now: a command, its answer, or the help on it."""
    text = re.sub(r"^move (.+) to (.+)$", r"put \1 in/on \2", text)
    text = re.sub(r"^You move the (.+) to the (.+)\.$", r"You put the \1 in/on the \2.", text)
    return text.replace("\n  move (object) to (receptacle):", "\n  put (object) in/on (receptacle):")
