"""Runs have a folder where none is named, and find it again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.doubles import CRAFTER
from textcraft_gym.cli.app import app
from textcraft_gym.cli.default_folders import short_name
from textcraft_gym.errors import RunError
from textcraft_gym.runs.run_spec import RunSpec
from textcraft_gym.runs.runner import evaluate

RUN = ["evaluate", "--env", "TextCraft-v0", "--split", "dev", "--agent", "expert", "--json"]


def played(*arguments: str) -> tuple[list[str], str]:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return list(json.loads(result.stdout)), result.stderr


def test_evaluate__resumes_in_its_folder_and_leaves_another_run_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    names, said = played(*RUN, "--limit", "1")
    assert names == ["TextCraft-v0-expert"]
    assert said.startswith("The folder is runs/TextCraft-v0-expert; --out names another.\n")
    assert played(*RUN, "--limit", "1")[0] == names
    assert played(*RUN, "--limit", "1", "--seed", "3")[0] == ["TextCraft-v0-expert-2"]
    assert played(*RUN, "--limit", "1")[0] == names
    assert played(*RUN, "--limit", "1", "--seed", "3")[0] == ["TextCraft-v0-expert-2"]


def test_sweep__has_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    sweep = ["sweep", "--env", "TextCraft-v0", "--agents", "react,random", "--limit", "1"]
    models = ["--model", f"{CRAFTER},reach=1", "--json"]
    for seed, number in (("0", ""), ("0", ""), ("1", "-2")):
        CliRunner().invoke(app, [*sweep, *models, "--seed", seed], catch_exceptions=False)
        assert (tmp_path / f"runs/TextCraft-v0-react+random-Crafter{number}/sweep.md").exists()
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_reproduce__has_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    table = ["reproduce", "adapt/table3", "--rows", "react", "--model", CRAFTER, "--json"]
    for limit, number in (("1", ""), ("2", "-2"), ("1", "")):
        result = CliRunner().invoke(app, [*table, "--limit", limit], catch_exceptions=False)
        (cells,) = json.loads(result.stdout).values()
        assert CRAFTER in {cell.get("model") for cell in cells}
        assert (tmp_path / f"runs/adapt-table3-Crafter{number}/adapt-table3.md").exists()


@pytest.mark.parametrize(
    ("described", "name"),
    [
        ("openai:gpt-4o-mini,base_url=http://h/v1,api_key=...", "gpt-4o-mini"),
        ("inspect:anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("local", "local"),
        ("local:/models/big.gguf,slots=4", "big.gguf"),
        ("local:slots=6", "slots-6"),
        ("my_module:MyAgent", "MyAgent"),
        ("..", ""),
    ],
)
def test_short_name__is_a_part_of_a_folder(described: str, name: str):
    assert short_name(described) == name


def test_folder_of_another_run__is_refused_with_short_digests(tmp_path: Path):
    evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=1), tmp_path / "run")
    with pytest.raises(RunError) as refused:
        evaluate(RunSpec("TextCraft-v0", "test", "expert", limit=2), tmp_path / "run")
    said = str(refused.value)
    assert "split: 'dev', now 'test'" in said
    assert "tasks_sha256: " in said
    assert max(map(len, said.replace(str(tmp_path), "").split())) < 20
