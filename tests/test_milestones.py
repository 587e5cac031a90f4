"""When the milestones on the way to a diamond were first held."""

from __future__ import annotations

import csv
from importlib import import_module
from pathlib import Path
from types import ModuleType

import gymnasium as gym
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module("milestones")


def test_milestones__are_read_from_what_the_game_answered(module: ModuleType):
    transcript = [
        ("look", "You are in the forest."),
        ("mine 1 birch log", "Failed to mine birch log"),
        ("mine 2 birch log", "Mined 2 birch log"),
        ("mine 1 coal", "Could not mine coal: requires wooden pickaxe"),
        ("mine 1 oak log", "Mined 1 oak log"),
        ("craft 4 birch planks using 1 birch log", "Crafted 4 birch planks"),
        ("hunt 1 beef", "Hunted 1 beef, 1 leather"),
        (None, "You are in the forest."),
        ("craft 1 crafting table using 4 birch planks", "Crafted 1 crafting table"),
    ]
    ticks = [0, 200, 260, 260, 320, 321, 400]
    found = module.milestones(transcript, ticks)
    assert found == {"log": (3, 260), "planks": (6, 321), "crafting table": (8, None)}
    assert {name: each.step for name, each in module.milestones(transcript).items()} == {
        name: each.step for name, each in found.items()
    }
    assert module.milestones([]) == {}


@pytest.mark.parametrize("reliability", ["perfect", "published"])
def test_milestones__are_when_the_inventory_first_has_them(module: ModuleType, reliability: str):
    env = gym.make("MineTechTree-v0", expert=True, reliability=reliability, ticks=50_000)
    _, info = env.reset(seed=1, options={"task": "diamond"})
    transcript, ticks, held = [], [], {}
    while not info["won"]:
        action = info["expert_plan"][0]
        observation, *_, info = env.step(action)
        transcript.append((action, observation))
        ticks.append(info["ticks"])
        for item in env.unwrapped._state.inventory:
            name = item.removeprefix("minecraft:").replace("_", " ")
            kind = next((kind for kind in ("log", "planks") if name.endswith(f" {kind}")), name)
            if kind in module.MILESTONES:
                held.setdefault(kind, (len(transcript), info["ticks"]))
    assert module.milestones(transcript, ticks) == held
    assert set(held) == set(module.MILESTONES) - {"coal"}


def test_csv__counts_the_episodes_that_reach_each(module: ModuleType):
    early, late = module.Milestone(3, 40), module.Milestone(5, 60)
    text = module.write_csv({"span 9": [{"log": early, "planks": late}, {"log": late}, {}]})
    rows = {row["milestone"]: row for row in csv.DictReader(text.splitlines())}
    assert list(rows) == list(module.MILESTONES)
    kept = ("model", "episodes", "reached", "median_action", "median_tick")
    assert [rows["log"][key] for key in kept] == ["span 9", "3", "2", "4", "50"]
    assert [rows["planks"][key] for key in kept] == ["span 9", "3", "1", "5", "60"]
    assert [rows["diamond"][key] for key in kept] == ["span 9", "3", "0", "", ""]
