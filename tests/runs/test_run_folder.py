from __future__ import annotations

import importlib.util
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textcraft_gym import RunSpec, evaluate
from textcraft_gym.cli.app import app
from textcraft_gym.envs.textcraft.env import TextCraftEnv
from textcraft_gym.errors import RunError
from textcraft_gym.reports.records import SCHEMA, read_config, without_timing
from textcraft_gym.runs import fingerprints, run_folder, runner
from textcraft_gym.runs.run_folder import RunFolder
from textcraft_gym.verify.recheck import verify

SPEC = RunSpec("TextCraft-v0", "dev", "expert", limit=3)


def test_config__has_schema_times_and_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    repository = tmp_path / "repository"
    repository.mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (
        ["init", "--quiet"],
        ["commit", "--quiet", "--allow-empty", "--message", "first"],
    ):
        subprocess.run([*git, *command], cwd=repository, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository, check=True, capture_output=True, text=True
    )
    monkeypatch.chdir(repository)
    evaluate(SPEC, tmp_path / "run")
    config = read_config(tmp_path / "run")
    assert config["schema"] == SCHEMA == 4
    assert config["begun_with"]["commit"] == head.stdout.strip()
    assert datetime.fromisoformat(config["started"]) <= datetime.fromisoformat(config["finished"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    evaluate(SPEC, tmp_path / "elsewhere")
    assert read_config(tmp_path / "elsewhere")["begun_with"]["commit"] is None


def test_run__that_other_code_goes_on_with_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run = tmp_path / "run"
    evaluate(SPEC, run)
    assert read_config(run)["codes"] == [fingerprints.code()]
    lines = (run / "episodes.jsonl").read_text().splitlines(keepends=True)
    (run / "episodes.jsonl").write_text("".join(lines[:1]))
    monkeypatch.setattr(runner, "code", lambda *own: "0123456789abcdef")
    with pytest.warns(
        UserWarning, match=f"played with other code \\({fingerprints.code()}; now 0123"
    ):
        evaluate(SPEC, run)
    assert read_config(run)["codes"] == [fingerprints.code(), "0123456789abcdef"]
    (note,) = verify(run).notes
    assert (
        note
        == f"its episodes were played by 2 versions of the code: {fingerprints.code()}, 0123456789abcdef"
    )
    assert f"run: {note}" in CliRunner().invoke(app, ["report", str(run)]).output


def test_run__that_has_all_its_episodes_is_not_of_the_code_that_only_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    evaluate(SPEC, tmp_path)
    monkeypatch.setattr(runner, "code", lambda *own: "0123456789abcdef")
    with pytest.warns(UserWarning, match="no episode is missing; to play it again, choose another"):
        evaluate(SPEC, tmp_path)
    assert read_config(tmp_path)["codes"] == [fingerprints.code()]


def test_finished__is_when_the_last_episode_was_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def finished(time: str) -> str:
        monkeypatch.setattr(run_folder, "now", lambda: time)
        evaluate(SPEC, tmp_path)
        return read_config(tmp_path)["finished"]

    assert finished("first") == "first"
    assert finished("second") == "first"
    episodes = tmp_path / "episodes.jsonl"
    episodes.write_text(episodes.read_text().splitlines(keepends=True)[0])
    assert finished("third") == "third"


AGENT = """
class Mine:
    def act(self, observation):
        return "inventory"
"""


def test_code__has_the_module_of_an_agent_of_ones_own(tmp_path: Path):
    digests = []
    for text in (AGENT, AGENT, AGENT.replace("inventory", "look")):
        file = tmp_path / "mine.py"
        file.write_text(text)
        spec = importlib.util.spec_from_file_location("mine", file)
        module = importlib.util.module_from_spec(spec)
        sys.modules["mine"] = module
        try:
            spec.loader.exec_module(module)
            digests.append(fingerprints.code(module.Mine, TextCraftEnv))
            assert fingerprints.code(module.Mine()) == digests[-1]
        finally:
            del sys.modules["mine"]
    first, again, changed = digests
    assert first == again != changed
    assert {digest.partition("+")[0] for digest in digests} == {fingerprints.code()}


def test_code__changes_with_a_source_that_can_change_an_episode(tmp_path: Path):
    seen = {}
    for name, text in {
        "": "",
        "rules.py": "a = 1",
        "prompts/react.txt": "Play.",
        "readme.md": "Read.",
    }.items():
        if name:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        seen[name] = b"".join(fingerprints._sources(tmp_path))
    assert seen["rules.py"] != seen[""]
    assert seen["prompts/react.txt"] != seen["rules.py"]
    assert seen["readme.md"] == seen["prompts/react.txt"]


def test_records__say_when_and_how_long(tmp_path: Path):
    records = evaluate(
        RunSpec("TextCraft-v0", "dev", "react", model="tests.doubles:Crafter", limit=2), tmp_path
    )
    for record in records:
        assert datetime.fromisoformat(record["start"]).tzinfo is not None
        assert 0 <= record["model_seconds"] <= record["seconds"] < 60
        assert not {"start", "seconds", "model_seconds"} & without_timing(record).keys()


def test_lock__keeps_a_second_process_out(tmp_path: Path):
    evaluate(SPEC, tmp_path)
    code = (
        f"import sys; from textcraft_gym import RunSpec, evaluate;evaluate({SPEC!r}, sys.argv[1])"
    )
    with RunFolder(tmp_path).locked({}):
        second = subprocess.run(
            [sys.executable, "-c", code, tmp_path], capture_output=True, text=True
        )
        assert second.returncode == 1
        assert f"RunError: another process is writing to {tmp_path}" in second.stderr
        with pytest.raises(RunError, match="another process"):
            evaluate(SPEC, tmp_path)
    assert subprocess.run([sys.executable, "-c", code, tmp_path], check=False).returncode == 0
