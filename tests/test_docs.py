"""What README and CONTRIBUTING tell a reader to write does what they say."""

from __future__ import annotations

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

ROOT = Path(__file__).parents[1]


class Tagged(NamedTuple):
    """A word as spaCy tags it."""

    text: str
    pos_: str


def blocks(file: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / file).read_text(encoding="utf-8"), re.DOTALL)


def test_readme__its_code_plays_as_it_says(capsys: pytest.CaptureFixture[str]):
    names: dict[str, Any] = {}
    for block in blocks("README.md"):
        exec(block, names)
    shown = capsys.readouterr().out
    assert "Goal: craft beehive." in shown
    assert "Crafted 1 minecraft:beehive" in shown
    assert "False 0.0 5\n" in shown
    assert "True True 3 {'executor': " in shown
    assert sorted(map(int, re.findall(r"^(\d+) (?:True|False) {", shown, re.MULTILINE))) == list(range(16))
    assert "Your task is to: heat some apple and put it in sidetable.\n" in shown
    assert "You move the apple 1 to the sidetable 1.\n" in shown
    assert shown.endswith("You have clicked tessik pad 11 pro.\nYour score (min 0.0, max 1.0): 1.0\n1.0 1.0 1.0 1.0\n")
    nouns = names["Tagger"](lambda title: [Tagged(word, "NOUN" if word[0] == "C" else "ADP") for word in title.split()])
    assert nouns("Case for Cats") == nouns("Case for Cats") == ["case", "cats"]
    shop = gym.make("WebShopLite-v0", nouns=nouns)
    task = shop.get_wrapper_attr("tasks")[0]
    assert textcraft_gym.run_episode(shop, NaiveBuyerAgent(), task=task.id, seed=0).steps == 3
    assert task.goal.product.title in nouns.found
    assert "Goal: obtain 1 oak boat, 1 chest.\nCould not mine cobblestone: requires wooden pickaxe\n" in shown
    assert 0 < int(shown.partition("requires wooden pickaxe\n")[2].partition("\n")[0]) < 2500


def test_contributing__its_agent_plays():
    names: dict[str, Any] = {"__name__": "looker"}
    for block in blocks("CONTRIBUTING.md"):
        exec(block, names)
    names["TestLooker"]().test_agent__plays_the_same_again()
    episode = textcraft_gym.run_episode(gym.make("TextCraft-v0"), names["Looker"](), seed=0)
    assert (episode.claimed_success, episode.won, episode.steps) == (False, False, 1)


def test_contributing__its_agent_passes_the_linter(tmp_path: Path):
    block, *_ = blocks("CONTRIBUTING.md")
    (tmp_path / "looker.py").write_text(block)
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--config", str(ROOT / "ruff.toml"), str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


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


@pytest.mark.parametrize("file", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "recipes/data/SOURCE.md"])
def test_links__lead_to_files_that_are_there(file: str):
    links = re.findall(r"\]\(([^)#]+)\)", re.sub(r"\n", " ", (ROOT / file).read_text(encoding="utf-8")))
    local = [link for link in links if "://" not in link]
    assert all((ROOT / file).parent.joinpath(link).exists() for link in local), local
