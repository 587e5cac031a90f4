"""The code in README and CONTRIBUTING runs and does as the text says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import pytest
from typer.main import get_command

import textcraft_gym
from textcraft_gym.agents.baselines.naive_buyer import NaiveBuyerAgent
from textcraft_gym.cli import app
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.runner import evaluate
from textcraft_gym.evaluation.verify import verify

ROOT = Path(__file__).parents[1]


class Tagged(NamedTuple):
    """A word as spaCy tags it."""

    text: str
    pos_: str


def blocks(file: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / file).read_text(encoding="utf-8"), re.DOTALL)


def run_block(heading: str, folder: Path, number: int = 0) -> str:
    """Run one block of a section of the README alone, as a script in an empty folder, and return what it prints."""
    section = (
        (ROOT / "README.md").read_text(encoding="utf-8").split(f"# {heading}\n")[1].split("\n## ")[0].split("\n### ")[0]
    )
    script = folder / "block.py"
    script.write_text(re.findall(r"```python\n(.*?)```", section, re.DOTALL)[number], encoding="utf-8")
    command = [sys.executable, "-W", "error", str(script)]
    result = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return result.stdout


def test_readme__quick_start_wins(tmp_path: Path):
    output = run_block("Quick start", tmp_path)
    assert "Goal: craft beehive." in output
    assert "Crafted 1 minecraft:beehive" in output


def test_readme__household_is_played(tmp_path: Path):
    output = run_block("ALFWorld", tmp_path)
    assert "Your task is to: heat some apple and put it in sidetable.\n" in output
    assert "You move the apple 1 to the sidetable 1.\n" in output


def test_readme__counts_the_tasks_of_its_worlds():
    rows = re.findall(
        r"(?m)^\| `(\w+-v0)` \|[^|]+\| (\d+)[^|]*\|(.*)\|$", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert len(rows) == 7
    for world, count, splits in rows:
        assert len(textcraft_gym.tasks(world, "all")) == int(count), world
        for split, size in re.findall(r"`(\w+)` (\d+)", splits):
            assert len(textcraft_gym.tasks(world, split)) == int(size), (world, split)


def test_readme__product_is_bought(tmp_path: Path):
    last = "You have clicked orvane slate s7.\nYour score (min 0.0, max 1.0): 1.0\n1.0 1.0 1.0 1.0\n"
    assert run_block("WebShop", tmp_path).endswith(last)


def test_readme__tagger_finds_nouns(tmp_path: Path):
    assert run_block("WebShop", tmp_path, 1) == ""
    names: dict[str, Any] = {}
    exec((tmp_path / "block.py").read_text(encoding="utf-8"), names)
    nouns = names["Tagger"](lambda title: [Tagged(word, "NOUN" if word[0] == "C" else "ADP") for word in title.split()])
    assert nouns("Case for Cats") == nouns("Case for Cats") == ["case", "cats"]
    shop = gym.make("WebShopLite-v0", nouns=nouns)
    task = shop.get_wrapper_attr("tasks")[0]
    assert textcraft_gym.run_episode(shop, NaiveBuyerAgent(), task=task.id, seed=0).steps == 3
    assert task.goal.product.title in nouns.cache


def test_readme__tech_tree_is_played(tmp_path: Path):
    output = run_block("Tech tree", tmp_path)
    refusal = "Goal: obtain 1 oak boat, 1 chest.\nCould not mine cobblestone: requires wooden pickaxe\n"
    assert refusal in output
    assert 0 < int(output.partition(refusal)[2].partition("\n")[0]) < 2500


def test_readme__agents_play(tmp_path: Path):
    function, adapt = run_block("Agents", tmp_path).splitlines()
    assert function == "False 0.0 5"
    assert adapt.startswith("True True 3 {'executor': ")


def test_readme__own_agent_plays_every_seed(tmp_path: Path):
    lines = run_block("Agents", tmp_path, 1).splitlines()
    assert sorted(int(re.match(r"(\d+) (?:True|False) {", line)[1]) for line in lines) == list(range(16))


def test_readme__rollouts_yield_every_seed(tmp_path: Path):
    lines = run_block("Evaluation", tmp_path).splitlines()
    assert sorted(line.split()[:2] for line in lines) == [["minecraft:beehive", str(seed)] for seed in range(4)]


def test_readme__has_a_test_for_every_block():
    tested = [("Quick start", 1), ("ALFWorld", 1), ("WebShop", 2), ("Tech tree", 1), ("Agents", 2), ("Evaluation", 1)]
    assert len(blocks("README.md")) == sum(count for _, count in tested)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A folder with the files of CONTRIBUTING: the sentence before each block ends with its name."""
    found = re.findall(r"`(\w+\.py)`\)?:\s+```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert len(found) == len(blocks("CONTRIBUTING.md")) == 6
    for name, block in found:
        (tmp_path / name).write_text(block, encoding="utf-8")
    return tmp_path


def run_in(folder: Path, *arguments: str | Path) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])}
    command = [sys.executable, *map(str, arguments)]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_contributing__its_world_and_its_agent_keep_their_contracts(written: Path):
    summary = run_in(written, "-m", "pytest", "-q", "-p", "no:cacheprovider", ".").splitlines()[-1]
    assert "passed" in summary
    assert "skipped" not in summary


def test_contributing__its_world_agent_model_and_wrapper_play_together(written: Path):
    options = ("--agent", "looker:Looker", "--wrapper", "upper_case:UpperCase", "--no-table")
    run_in(written, "-m", "textcraft_gym", "evaluate", "--env", "doors:Doors-v0", *options, "--out", "looked")
    (first, _) = (json.loads(line) for line in (written / "looked" / "episodes.jsonl").read_text().splitlines())
    assert first["transcript"][1] == ["inventory", "NOTHING HAPPENS."]
    options = ("--agent", "react", "--model", "constant_model:ConstantModel,text=open blue", "--no-table")
    run_in(written, "-m", "textcraft_gym", "evaluate", "--env", "doors:Doors-v0", *options, "--out", "opened")
    records = [json.loads(line) for line in (written / "opened" / "episodes.jsonl").read_text().splitlines()]
    assert {record["task"]: record["won"] for record in records} == {"blue": True, "green": False}


def test_contributing__its_code_passes_the_linter(written: Path):
    run_in(written, "-m", "ruff", "check", "--no-cache", "--config", ROOT / "ruff.toml", ".")


def test_readme__its_commands_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8").replace("\\\n", "")
    lines = re.findall(r"^    textcraft-gym (.*?)(?:  #.*)?$", readme, re.MULTILINE)
    assert len(lines) >= 14
    for line in lines:
        command: Any = get_command(app)
        words = line.split()
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, line


LINKED = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "recipes/data/SOURCE.md", "agents/models/adapters/README.md"]
LINKED += [file.relative_to(ROOT).as_posix() for file in sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("file", LINKED)
def test_links__lead_to_files_that_are_there(file: str):
    links = re.findall(r"\]\(([^)#]+)\)", re.sub(r"\n", " ", (ROOT / file).read_text(encoding="utf-8")))
    local = [link for link in links if "://" not in link]
    assert all((ROOT / file).parent.joinpath(link).exists() for link in local), local


def test_lats_page__has_a_beam_search_that_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (block,) = blocks("docs/lats.md")
    (tmp_path / "beam.py").write_text(block, encoding="utf-8")
    assert len(block.partition("class Beam")[2].splitlines()) <= 33
    monkeypatch.syspath_prepend(str(tmp_path))
    spec = RunSpec("TextCraft-v0", "test", "beam:Beam", model="simulated:span=5", limit=3)
    records = evaluate(spec, tmp_path / "run")
    assert [record["error"] for record in records] == [None] * 3
    assert all(record["won"] and record["claimed_success"] for record in records)
    assert sum(len(record["restores"]) for record in records) > 3
    assert verify(tmp_path / "run", trusted=("beam",)).identical
