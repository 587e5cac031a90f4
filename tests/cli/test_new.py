"""``textcraft-gym new``: what it writes keeps its contract as it is, and can do all that it says."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import gymnasium as gym
import pytest
from typer.testing import CliRunner

from textcraft_gym.cli.app import app


def run(*arguments: str, stdin: str = "") -> str:
    result = CliRunner().invoke(app, arguments, input=stdin, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder, whose modules are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    known = {*sys.modules}
    yield tmp_path
    gym.registry.pop("MyMaze-v0", None)
    for name in {*sys.modules} - known:
        if name.startswith(("my_", "test_my_")):
            del sys.modules[name]


def keeps_its_contract(module: str) -> int:
    """Run the tests of a module, and return their number."""
    (contract,) = (
        member
        for _, member in inspect.getmembers(import_module(module), inspect.isclass)
        if member.__module__ == module
    )
    tests = inspect.getmembers(contract, inspect.isfunction)
    names = [name for name, _ in tests if name.startswith("test_")]
    for name in names:
        getattr(contract(), name)()
    return len(names)


def test_world__keeps_its_contract_and_has_hint_undo_experts_and_searches(folder: Path):
    assert "textcraft-gym play my_maze:MyMaze-v0" in run("new", "world", "my_maze")
    assert keeps_its_contract("test_my_maze") == 17
    typed = "hint\nopen red\nundo\nhint\nopen blue\n"
    played = run("play", "my_maze:MyMaze-v0", "--task", "blue", stdin=typed)
    assert played.count("\nopen blue\n") == 2
    assert "Took back: " in played
    assert played.endswith("Won after 1 action.\n")
    model = "textcraft_gym.testing:SayingModel,text="
    lats = f'{model}"Thought 1: I try it.\\nAction 1: open blue"'
    for agent, won, *options in (
        ("expert", 2),
        ("random", 2),
        ("lats", 1, "--model", lats),
        ("react", 1, "--model", f"{model}open blue", "--prompts", "prompts"),
    ):
        out = ("--agent", agent, *options, "--out", agent, "--no-table")
        printed = run("evaluate", "--env", "my_maze:MyMaze-v0", *out)
        assert f"won {won} " in printed
        assert "errors 0" in printed


def test_agent__keeps_its_contract_and_plays(folder: Path):
    assert "--agent my_asker:MyAsker" in run("new", "agent", "my_asker")
    assert keeps_its_contract("test_my_asker") == 8


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("random", "there is a module random already"),
        ("My-World", "expected the name of a module, such as my_maze, got 'My-World'"),
        ("class", "expected the name of a module"),
        ("my_old", "my_old.py is there already"),
    ],
)
def test_name__that_cannot_be_a_new_module_is_refused(folder: Path, name: str, said: str):
    (folder / "sub").mkdir()
    (folder / "sub" / "my_old.py").touch()
    with pytest.raises(ValueError, match=said):
        run("new", "world", name, "--out", "sub")
    assert [file.name for file in (folder / "sub").iterdir()] == ["my_old.py"]
