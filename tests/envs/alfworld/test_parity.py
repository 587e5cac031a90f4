"""Byte for byte the real engine's: against TextWorld where it is installed, and against traces of it everywhere.

``REGENERATE_GOLDEN=1 pytest tests/envs/alfworld/test_parity.py`` has TextWorld play the traces
anew.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from pathlib import Path

import gymnasium as gym
import pytest

from tests.envs.alfworld.judge import INVALID, OFFICIAL, OLD_WHEELS, Native, TextWorld, walk
from tests.envs.alfworld.memoised import memoised
from textcraft_gym.envs.alfworld.expert import expert_plan
from textcraft_gym.envs.alfworld.export import export_game, installed_logic, wheel_logic
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.problem import TASK_TYPES, GameError, known_dialect, read_game
from textcraft_gym.envs.alfworld.task_id import Difficulty, make_id
from textcraft_gym.envs.alfworld.text import NOTHING_HAPPENS, Dialect

GOLDEN = Path(__file__).parent / "golden"
OFFICIAL_GAMES = sorted(OFFICIAL.rglob("game.tw-pddl"))
PLANS = dict(zip(TASK_TYPES, (3, 310, 5, 8, 12, 205), strict=True))
CLUTTERED = Difficulty(receptacles=14, distractors=12, hidden=60)
STEPS = 190
"""So that 24 games and the walks through the household are about 5,000 records."""
GOLDEN_STEPS = 60


def made(
    task_type: str, folder: Path, difficulty: Difficulty = CLUTTERED, dialect: Dialect = "0.4"
) -> Path:
    task_id = make_id(task_type, PLANS[task_type], 1, difficulty)
    problem = generate(task_id)
    game = Game(problem, dialect)
    logic = wheel_logic(OLD_WHEELS[-1]) if dialect == "0.3" else None
    return export_game(problem, task_id, folder, expert_plan(game, game.first) or [], logic)


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("difficulty", [CLUTTERED, Difficulty()], ids=["cluttered", "usual"])
@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_native__answers_as_textworld_on_made_games(
    task_type: str, difficulty: Difficulty, tmp_path: Path
):
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
@pytest.mark.parametrize(
    ("dialect", "task_type"),
    [
        *(("0.4", task_type) for task_type in TASK_TYPES),
        *(("0.3", task_type) for task_type in TASK_TYPES[-2:]),
    ],
)
def test_native__answers_as_textworld_did(dialect: Dialect, task_type: str, tmp_path: Path):
    golden = GOLDEN / f"{task_type}{'' if dialect == '0.4' else '-' + dialect}.json"
    if os.environ.get("REGENERATE_GOLDEN"):
        file = made(task_type, tmp_path, dialect=dialect)
        first, *records = (real for real, _ in walk(file, GOLDEN_STEPS, seed=1))
        trace = {
            "task": str(file.parent.relative_to(tmp_path)),
            "opening": first.feedback,
            "turns": [],
        }
        trace["turns"] = [
            [answer.command, answer.feedback, len(answer.commands), answer.reward, answer.won]
            for answer in records
        ]
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(json.dumps(trace, indent=0) + "\n", encoding="utf-8", newline="\n")
    trace = json.loads(golden.read_text(encoding="utf-8"))
    native = Native(Game(generate(trace["task"]), dialect))
    assert native.begin().feedback == trace["opening"]
    for command, feedback, count, reward, won in trace["turns"]:
        record = native.play(command)
        assert (record.feedback, len(record.commands), record.reward, record.won) == (
            feedback,
            count,
            reward,
            won,
        )


@pytest.mark.real_engine
@pytest.mark.old_wheels
@pytest.mark.parametrize("wheel", OLD_WHEELS or [Path()], ids=lambda wheel: wheel.name)
def test_dialect__of_every_old_release_is_known(wheel: Path):
    logic = wheel_logic(wheel)
    assert known_dialect(logic.domain, logic.grammar) == "0.3"
    assert known_dialect(logic.domain, installed_logic().grammar) is None


@pytest.mark.real_engine
@pytest.mark.old_wheels
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_dialect__of_before_answers_as_textworld_with_the_old_grammar(
    task_type: str, tmp_path: Path
):
    assert_same(made(task_type, tmp_path, dialect="0.3"))


@pytest.mark.real_engine
@pytest.mark.old_wheels
@pytest.mark.official_games
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", OFFICIAL_GAMES[::4] or [OFFICIAL], ids=lambda file: file.parts[-3])
def test_dialect__of_before_answers_as_textworld_on_official_households(file: Path, tmp_path: Path):
    """The household of an official game, in a file as the old releases wrote it."""
    game = Game(read_game(file), "0.3")
    plan = expert_plan(game, game.first) or []
    assert_same(
        export_game(read_game(file), "task/trial", tmp_path, plan, wheel_logic(OLD_WHEELS[0]))
    )


@pytest.mark.real_engine
@pytest.mark.old_wheels
@pytest.mark.filterwarnings("ignore")
def test_env__plays_a_file_in_every_dialect_and_textworld_in_its_own(tmp_path: Path):
    made("pick_heat_then_place_in_recep", tmp_path / "train", dialect="0.3")
    arguments = {"games": tmp_path, "split": "train", "expert": True}
    for dialect in ("0.3", "0.4"):
        env = gym.make("ALFWorld-v0", dialect=dialect, **arguments)
        _, info = env.reset(seed=0)
        for command in info["expert_plan"]:
            info = env.step(command)[4]
        assert info["won"]
    env = gym.make("ALFWorld-v0", dialect="0.3", engine="textworld", **arguments)
    _, info = env.reset(seed=0)
    assert env.step(info["expert_plan"][0])[0].startswith("You arrive at loc ")
    env.close()
    env = gym.make("ALFWorld-v0", engine="textworld", **arguments)
    with pytest.raises(GameError, match=r"needs the dialect of the file, '0\.3'"):
        env.reset(seed=0)
    env.close()


def test_dialect__of_before_differs_in_its_wording_alone():
    problem = generate(
        json.loads((GOLDEN / "pick_two_obj_and_place.json").read_text(encoding="utf-8"))["task"]
    )
    old, new = Native(Game(problem, "0.3")), Native(Game(problem))
    assert old.begin().feedback == new.begin().feedback
    rng = random.Random(0)
    said = set()
    for _ in range(400):
        command = rng.choice([*INVALID, *new.record("", "", 0).commands])
        before, now = old.play(as_before(command)), new.play(command)
        assert before.commands == sorted(
            as_before(command) for command in now.commands if command != "help"
        )
        assert (before.reward, before.won) == (now.reward, now.won)
        if command == "help" or command.startswith("put "):
            assert command.startswith("put ") or before.feedback == NOTHING_HAPPENS
            continue
        arrival = re.match(r"You arrive at (.+?)\. ", now.feedback)
        expected = as_before(now.feedback)
        if arrival:
            location = re.match(r"You arrive at (loc \d+)\. ", before.feedback)
            assert location, before.feedback
            expected = expected.replace(arrival[1], location[1], 1)
        assert before.feedback == expected
        said.add(expected.split()[1])
    assert {"arrive", "put", "happens.", "pick"} <= said


def as_before(text: str) -> str:
    """Say as before 0.4 what is said now: a command, or its answer."""
    text = re.sub(r"^move (.+) to (.+)$", r"put \1 in/on \2", text)
    return re.sub(r"^You move the (.+) to the (.+)\.$", r"You put the \1 in/on the \2.", text)
