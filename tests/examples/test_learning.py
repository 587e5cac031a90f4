"""The examples learn. The tests need the extra [rl]: ``make test-rl``."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest

import textcraft_gym
from tests.examples.conftest import EXAMPLES

torch = pytest.importorskip("torch", reason="needs the extra [rl]")


def run(script: str, *arguments: str, out: Path) -> str:
    command = [sys.executable, str(EXAMPLES / script), "--smoke", "--out", str(out), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_scorer__does_not_mind_in_which_order_commands_stand():
    from crafting import COMMANDS, Reader
    from scorer import Scorer, batch

    env = gym.make("TextCraft-v0", admissible=True)
    observation, info = env.reset(seed=0)
    graph = Reader().read("", observation, info["admissible_commands"])
    torch.manual_seed(0)
    order = torch.randperm(COMMANDS)
    moved = {
        name: tensor[order.numpy()] if name.startswith("command") else tensor
        for name, tensor in graph.items()
    }
    scores, value = Scorer().double()(
        {name: tensor.double() for name, tensor in batch(graph, moved).items()}
    )
    assert (scores[0, order] - scores[1]).abs().max().item() < 1e-6
    assert (value[0] - value[1]).abs().max().item() < 1e-6


def test_demonstrator__wins():
    from behaviour_cloning import Demonstrator

    env = gym.make("TextCraft-v0", split="all", admissible=True, expert=True)
    for task in textcraft_gym.tasks("TextCraft-v0")[::20]:
        demonstrator = Demonstrator()
        episode = textcraft_gym.run_episode(env, demonstrator, task=task.id, seed=0)
        assert episode.won, task
        assert len(demonstrator.graphs) == len(demonstrator.indices) == episode.steps


def test_curriculum__trains_and_draws_its_curve(tmp_path: Path):
    printed = run("curriculum.py", "--seeds", "0", out=tmp_path)
    assert "curriculum, seed 0, 2048 steps, stage 0: " in printed
    rows = [*csv.DictReader((tmp_path / "curriculum.csv").read_text().splitlines())]
    assert [(row["steps"], row["goals"]) for row in rows] == [
        (steps, f"depth {depth}") for steps in ("0", "2048") for depth in (2, 3, 4)
    ]
    assert "Test goals of depth 4" in (tmp_path / "curriculum.svg").read_text()


@pytest.mark.slow
def test_maskable_ppo__learns(tmp_path: Path):
    run("train_maskable_ppo.py", "--seeds", "0", out=tmp_path)
    before, after = csv.DictReader((tmp_path / "learning.csv").read_text().splitlines())
    report = (tmp_path / "learning.md").read_text()
    at_random = re.search(r"^\| random \|.* (\S+) \|$", report, re.MULTILINE)
    assert int(after["won"]) >= int(before["won"]) + 10
    assert float(after["mean_steps"]) < float(at_random[1])
    assert "Goals won, greedy" in (tmp_path / "learning.svg").read_text()
    assert torch.load(tmp_path / "scorer-0.pt").keys() >= {"score.0.weight", "value.0.weight"}


def test_behaviour_cloning__learns(tmp_path: Path):
    printed = run("behaviour_cloning.py", out=tmp_path)
    rows = re.findall(r"^\| (\w+) \| all \| (\d+) \| (\d+) \|", printed, re.MULTILINE)
    won = {player: int(number) for player, _, number in rows}
    assert won["cloned"] >= won["untrained"] + 40
    assert " 0 were goals in train" in re.sub(r"\s+", " ", printed)
    assert torch.load(tmp_path / "behaviour_cloning.pt").keys() >= {"score.0.weight"}
