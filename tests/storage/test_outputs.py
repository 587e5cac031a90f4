"""Commands overwrite nothing that they read, and nothing of a run."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.test_main import fail, run
from textcraft_gym import RunSpec, evaluate
from textcraft_gym.recipes.pack import BUNDLED
from textcraft_gym.registration import find
from textcraft_gym.storage.outputs import RUN_FILES
from textcraft_gym.wrappers import TranscriptRecorder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with two runs, links into one, a split and recipes."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        evaluate(RunSpec("TextCraft-v0", "dev", "expert", limit=1), tmp_path / name)
    os.link(tmp_path / "a" / "episodes.jsonl", tmp_path / "hard")
    (tmp_path / "soft").symlink_to("a/config.json")
    (tmp_path / "mine.jsonl").write_text(
        '{"split": "train", "task": "minecraft:chest", "depth": 2}\n'
    )
    shutil.copytree(BUNDLED, tmp_path / "recipes")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


OF_RUNS = [f"{name}/{file}" for name in ("a", "b") for file in RUN_FILES] + [
    "hard",
    "soft",
    "./b/../a/report.md",
]
DEMOS = (
    "demos",
    "--env",
    "TextCraft-v0",
    "--split",
    "mine.jsonl:train",
    "--env-arg",
    "recipes=recipes",
)


@pytest.mark.parametrize("out", OF_RUNS)
@pytest.mark.parametrize(
    "command", [("report", "a"), ("export", "a"), DEMOS, ("splits", "make")], ids=" ".join
)
def test_out__is_no_file_of_a_run(
    folder: Path, monkeypatch, capsys, command: tuple[str, ...], out: str
):
    if out == "hard" and "a" not in command:
        pytest.skip("nothing tells the second name of a file that is not read")
    before = contents(folder)
    said = fail(monkeypatch, capsys, *command, "--out", out)
    assert said.startswith(f"textcraft-gym: {Path(out)} is ")
    assert said.count("\n") == 1
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("command", "out"),
    [
        (DEMOS, "mine.jsonl"),
        (DEMOS, "recipes/recipes.jsonl"),
        (("splits", "make", "--recipes", "recipes"), "recipes/tags.jsonl"),
        (("recipes", "import", "recipes"), "recipes"),
    ],
    ids=str,
)
def test_out__is_nothing_that_is_read(
    folder: Path, monkeypatch, capsys, command: tuple[str, ...], out: str
):
    before = contents(folder)
    assert "is an input, and would be overwritten" in fail(
        monkeypatch, capsys, *command, "--out", out
    )
    assert contents(folder) == before


def test_out__may_be_an_older_page_or_another_file(folder: Path):
    for out in ("a/page.html", "page.html", "config.html"):
        for _ in range(2):
            address = (folder / out).resolve().as_uri()
            written = f"Wrote 2 episodes to {out}: {address}\n"
            assert run("report", "a", "b", "--out", out) == written
    assert run("export", "a", "--out", "a/talk.jsonl") == "Wrote 1 episodes to a/talk.jsonl\n"


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        ("report a --out", ".html or .htm"),
        ("report a --latex", ".tex"),
        ("report a --csv", ".csv"),
        ("report a --md", ".md"),
        ("report a --csv new.csv --plot", ".svg or .pdf"),
        ("export a --out", ".jsonl"),
        (f"{' '.join(DEMOS)} --out", ".jsonl"),
        ("splits make --out", ".jsonl"),
    ],
)
def test_out__ends_as_its_format_does(folder: Path, monkeypatch, capsys, command: str, ending: str):
    (folder / "agent.py").write_text("mine")
    before = contents(folder)
    said = fail(monkeypatch, capsys, *command.split(), "agent.py")
    assert said == f"textcraft-gym: expected a file {ending}, got agent.py\n"
    assert contents(folder) == before


def test_recorder__writes_into_no_records(folder: Path):
    env = find("TextCraft-v0").make()
    with pytest.raises(ValueError, match=r"a/episodes\.jsonl is a file of a run"):
        TranscriptRecorder(env, folder / "a" / "episodes.jsonl")
