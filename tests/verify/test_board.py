from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from typer.testing import CliRunner

from textcraft_gym import RunSpec, evaluate
from textcraft_gym.cli.app import app
from textcraft_gym.errors import RunError
from textcraft_gym.verify.board import BOARD, check, read_board, submit, table_page

ROOT = Path(__file__).parents[2]


def play(folder: Path, **more: Any) -> Path:
    evaluate(RunSpec("TextCraft-v0", "test", **{"agent": "expert", "limit": 3, **more}), folder)
    return folder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("runs") / "expert")


@pytest.fixture
def board(played: Path, tmp_path: Path) -> Path:
    """A board with one run."""
    submit(played, tmp_path / "board" / "board.jsonl")
    return tmp_path / "board" / "board.jsonl"


def test_board__is_rechecked_from_its_runs_alone(board: Path):
    runner = CliRunner()
    result = runner.invoke(app, ["submit", "--check", "--board", str(board)])
    assert (result.exit_code, result.output) == (
        0,
        f"rechecked 1 runs of {board}: all lines follow from them\n",
    )
    (entry,) = read_board(board)
    assert (entry.agent, entry.n, entry.limit, entry.success) == ("expert", 3, 3, 1.0)
    assert (
        "| Expert† | - | 3 (first 3 tasks) | 100.0% |" in board.with_name("README.md").read_text()
    )


OWN = """
from pathlib import Path

import gymnasium as gym

from textcraft_gym.envs.textcraft.env import TextCraftEnv

Path("imported").touch()
gym.register("Mine-v0", entry_point=TextCraftEnv)


class Crafter:
    env_args = {"admissible": True}

    def act(self, observation):
        return "inventory"
"""


def test_submit__imports_what_is_trusted_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "own_of_board.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(gym.registry, "Mine-v0", None)  # so that its end takes the world away
    del gym.registry["Mine-v0"]
    mine = RunSpec("own_of_board:Mine-v0", "test", "own_of_board:Crafter", limit=2, max_steps=3)
    evaluate(mine, "run")

    def submitted(*arguments: str) -> str:
        Path("imported").unlink(missing_ok=True)
        monkeypatch.delitem(sys.modules, "own_of_board", raising=False)
        monkeypatch.delitem(gym.registry, "Mine-v0", raising=False)
        command = ["submit", *arguments, "--board", "mine/board.jsonl"]
        result = CliRunner().invoke(app, command)
        return f"{result.output}{result.exception or ''}"

    assert "add --trust own_of_board" in submitted("run")
    assert not Path("imported").exists()
    assert "it is on mine/board.jsonl" in submitted("run", "--trust", "own_of_board")
    assert "add --trust own_of_board" in submitted("--check")
    assert not Path("imported").exists()
    assert "all lines follow" in submitted("--check", "--trust", "own_of_board")
    page = Path("mine/README.md").read_text()
    assert "The runs are\nin `mine/runs`, so" in page
    assert "textcraft-gym submit --check --board mine/board.jsonl\n" in page
    assert "benchmarks" not in page
    assert "| Crafter† | - | 2 (first 2 tasks) |" in page
    assert "† Crafter sees the list of admissible commands" in page


def test_submit__tells_players_apart_that_act_alike(tmp_path: Path):
    (tmp_path / "quiet.py").write_text(
        "def anna(observation):\n    return 'inventory'\n\n\n"
        "def ben(observation):\n    return 'inventory'\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        runs = [
            str(play(tmp_path / name, agent=f"quiet:{name}", max_steps=2))
            for name in ("anna", "ben")
        ]
        board = tmp_path / "class" / "board.jsonl"
        result = CliRunner().invoke(app, ["submit", *runs, runs[0], "--board", str(board)])
    assert [entry.agent for entry in read_board(board)] == ["quiet:anna", "quiet:ben"]
    ends = [line.rpartition("; it ")[2] for line in result.output.splitlines()]
    assert ends == [f"is on {board}", f"is on {board}", f"was already on {board}"]


def test_submit__founds_no_board_outside_a_checkout(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["submit", str(played)])
    assert "--board" in str(result.exception)
    assert not list(tmp_path.iterdir())


def broken(observation: str) -> str:
    raise ValueError("no way")


def test_submit__refuses_a_run_of_errors_alone(tmp_path: Path):
    board = tmp_path / "board.jsonl"
    with pytest.raises(RunError, match="every episode ended with an error"):
        submit(play(tmp_path / "broken", agent=broken), board)
    assert not board.exists()


def test_digest__is_that_of_whoever_plays_it_again(played: Path, tmp_path: Path):
    board = tmp_path / "board.jsonl"
    entry = submit(played, board)
    assert submit(play(tmp_path / "again"), board) == entry
    other = submit(play(tmp_path / "random", agent="random"), board)
    assert read_board(board) == [entry, other]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"success": 0.5}, "success is 1.0, the board says 0.5"),
        ({"model": "openai:better"}, "model is '', the board says 'openai:better'"),
        ({"digest": "0" * 64}, "No such file"),
    ],
)
def test_check__says_which_line_does_not_follow_from_its_run(
    board: Path, fields: dict[str, Any], expected: str
):
    line = json.loads(board.read_text())
    board.write_text(json.dumps({**line, **fields}) + "\n")
    wrong = check(board)
    assert expected in wrong[0]
    assert "does not show" in wrong[-1]


def win(folder: Path) -> None:
    file = folder / "episodes.jsonl"
    file.write_text(file.read_text().replace('"steps": ', '"steps": 1'))


def cut(folder: Path) -> None:
    file = folder / "episodes.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:2]))


def choose(folder: Path) -> None:
    shutil.rmtree(folder)
    play(folder, limit=None, tasks=("minecraft:beehive",))


@pytest.mark.parametrize(
    ("change", "message"),
    [(win, "difference"), (cut, "2 of 3 episodes so far"), (choose, "got tasks")],
)
def test_submit__refuses_what_it_cannot_recheck(
    change: Callable[[Path], None], message: str, played: Path, tmp_path: Path
):
    folder, board = tmp_path / "run", tmp_path / "board.jsonl"
    shutil.copytree(played, folder)
    change(folder)
    with pytest.raises(RunError, match=message):
        submit(folder, board)
    assert not board.exists()


def test_page__shows_names_as_text(board: Path):
    (entry,) = read_board(board)
    page = table_page([entry._replace(model="<img>|[x](y)*`\n#")])
    (row,) = [line for line in page.splitlines() if line.startswith("| Expert")]
    assert row.count("|") == 9
    assert not set(row) & set("<>[]*`")


def test_suites_board__follows_from_its_runs():
    assert check(ROOT / BOARD) == []
    page = (ROOT / BOARD).with_name("README.md").read_text()
    assert page == table_page(read_board(ROOT / BOARD))
