"""The run of both engines over a folder: which games it takes, where it stops, and how it goes
on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.envs.alfworld import parity
from tests.envs.alfworld.parity import Compared, Notes, evenly, main, report, task_type
from textcraft_gym.envs.alfworld.expert import expert_plan
from textcraft_gym.envs.alfworld.export import export_game
from textcraft_gym.envs.alfworld.game import Game
from textcraft_gym.envs.alfworld.generator import generate
from textcraft_gym.envs.alfworld.splits import split_ids

FILES = [
    Path(f"games/{name}-Mug/trial_{n}/game.tw-pddl")
    for name, count in (("a", 40), ("b", 9), ("c", 3))
    for n in range(count)
]


def test_evenly__takes_the_types_of_tasks_in_turn():
    games = evenly(FILES, seed=0)
    assert sorted(games) == sorted(FILES)
    assert Counter(map(task_type, games[:9])) == {"a": 3, "b": 3, "c": 3}
    assert Counter(map(task_type, games[:20])) == {"a": 9, "b": 8, "c": 3}
    assert games == evenly(reversed(FILES), seed=0) != evenly(FILES, seed=1)


def test_notes__are_read_back_without_an_unfinished_line(tmp_path: Path):
    file = tmp_path / "runs" / "notes.jsonl"
    done = [
        Compared("a", 201, []),
        Compared("b", 7, ["b: 'look'\n  feedback: real 'x', native 'y'"]),
    ]
    for entry in done:
        Notes(file).add(entry)
    with file.open("a") as lines:
        lines.write('{"game": "c", "rec')
    assert Notes(file).compared == done
    Notes(file).add(Compared("c", 3, []))
    assert Notes(file).compared == [*done, Compared("c", 3, [])]


def test_report__fails_for_mismatches_and_for_no_games(capsys: pytest.CaptureFixture[str]):
    types = {"a-1": "a", "a-2": "a", "b-1": "b"}
    same = [Compared("a-1", 11, []), Compared("b-1", 20, [])]
    assert report(types, same) == 0
    assert report(types, []) == 1
    capsys.readouterr()
    assert report(types, [*same, Compared("a-2", 5, ["wrong"])]) == 1
    assert capsys.readouterr().out == (
        "a: 2 games, 16 records, 1 mismatches\n"
        "b: 1 games, 20 records, 0 mismatches\n"
        "all: 3 games, 36 records, 1 mismatches\n"
    )


@pytest.mark.real_engine
@pytest.mark.filterwarnings("ignore")
def test_main__stops_in_time_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(parity, "NOTES", tmp_path / "notes")
    for task_id in split_ids("valid_unseen")[:2]:
        problem = generate(task_id)
        export_game(
            problem,
            task_id,
            tmp_path / "games",
            expert_plan(Game(problem), Game(problem).first) or [],
        )
    (tmp_path / "games" / "broken-Mug" / "trial").mkdir(parents=True)
    (tmp_path / "games" / "broken-Mug" / "trial" / "game.tw-pddl").write_text("{")
    command = [str(tmp_path / "games"), "20"]
    assert main([*command, "--minutes", "0"]) == 1
    assert "all: 0 games" in capsys.readouterr().out
    assert main(command) == 1
    first = capsys.readouterr().out
    assert "3 games, of which 0 are in " in first
    assert "JSONDecodeError" in first
    assert "all: 3 games, 42 records, 1 mismatches" in first
    monkeypatch.setattr(parity, "walk", None)  # nothing is played again
    assert main(command) == 1
    again = capsys.readouterr().out
    assert "3 games, of which 3 are in " in again
    assert "all: 3 games, 42 records, 1 mismatches" in again
    assert main([str(tmp_path / "games"), "21", "--minutes", "0"]) == 1
    assert "3 games, of which 0 are in " in capsys.readouterr().out
