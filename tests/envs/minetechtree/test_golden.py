"""Whole episodes, word for word. A changed word is a new version of the environment.

``REGENERATE_GOLDEN=1 pytest tests/envs/minetechtree/test_golden.py`` plays the actions below anew
and writes the files.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import gymnasium as gym
import pytest

GOLDEN = Path(__file__).parent / "golden"

EPISODES: dict[str, tuple[dict, int, str | list[str] | None, list[str]]] = {
    "bucket_won": (
        {},
        0,
        "bucket",
        [
            "mine 5 oak log",
            "craft 20 oak planks using 5 oak log",
            "craft 4 stick using 2 oak planks",
            "craft 1 crafting table using 4 oak planks",
            "craft 1 wooden pickaxe using 2 stick, 3 oak planks",
            "mine 11 cobblestone with wooden pickaxe",
            "look",
            "craft 1 stone pickaxe using 2 stick, 3 cobblestone",
            "craft 1 furnace using 8 cobblestone",
            "mine 3 iron ore",
            "inventory",
            "smelt 3 iron ingot using 3 iron ore, 2 oak planks",
            "craft 1 bucket using 3 iron ingot",
        ],
    ),
    "mistakes": (
        {},
        1,
        "shield",
        [
            "",
            "mine cobblestone",
            "mine 1 cobblestone",
            "mine 1 sheep",
            "hunt 2 leather",
            "inventory",
            "craft 1 leather boots",
            "craft 1 leather boots using 4 leather",
            "craft 1 leather boots using 2 leather",
            "smelt 2 cooked beef using 2 beef",
            "smelt 2 cooked beef using 2 beef, 2 oak planks",
            "equip leather boots",
            "craft 1 chest using planks",
            "x" * 250,
        ],
    ),
    "terse": ({"feedback": "terse"}, 1, "coal", ["mine 1 coal", "mine 1 stick", "craft 4 stick", "dance"]),
    "boots_worn": ({}, 2, "leather_boots", ["mine 1 acacia log", "hunt 4 leather", "equip leather", "inventory"]),
    "two_goals": ({}, 3, ["stick", "crafting_table"], [
        "mine 2 oak log",
        "craft 8 oak planks using 2 oak log",
        "craft 4 stick using 2 oak planks",
        "craft 1 crafting table using 4 oak planks",
    ]),
    "time_is_up": ({"ticks": 600}, 4, None, ["hunt 1 beef", "look", "mine 50 oak log"]),
}  # fmt: skip


def transcript(env_args: dict, seed: int, task: str | list[str] | None, actions: list[str]) -> dict:
    env = gym.make("MineTechTree-v0", **env_args)
    text, info = env.reset(seed=seed, options={"task": task} if task else None)
    steps = []
    for action in actions:
        observation, reward, terminated, truncated, after = env.step(action)
        step = {
            "action": action,
            "observation": observation,
            "reward": reward,
            "ticks": after["ticks"],
        }
        ends = {
            "terminated": terminated,
            "truncated": truncated,
            "invalid_reason": after.get("invalid_reason"),
        }
        steps.append(step | ends)
    return {
        "env_args": env_args,
        "seed": seed,
        "task": info["task"],
        "reset": text.split("\n"),
        "steps": steps,
    }


@pytest.mark.parametrize("name", EPISODES)
def test_transcript__is_word_for_word_the_golden_one(name):
    played = transcript(*EPISODES[name])
    file = GOLDEN / f"{name}.json"
    if os.environ.get("REGENERATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(played, indent=1) + "\n", encoding="utf-8")
    assert played == json.loads(file.read_text(encoding="utf-8"))


def test_golden_files__are_those_of_the_episodes():
    assert {file.stem for file in GOLDEN.iterdir()} == set(EPISODES)


def test_golden_files__hold_episodes_of_every_end():
    ends = [
        json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))["steps"][-1]
        for name in EPISODES
    ]
    assert [end["terminated"] for end in ends] == [True, False, False, False, True, False]
    assert [end["truncated"] for end in ends] == [False, False, False, False, False, True]
