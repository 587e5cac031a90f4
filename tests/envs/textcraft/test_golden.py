"""Whole episodes, word for word. A changed word is a new version of the environment.

``REGENERATE_GOLDEN=1 pytest tests/envs/textcraft/test_golden.py`` plays the actions below anew and
writes the files.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import gymnasium as gym
import pytest

GOLDEN = Path(__file__).parent / "golden"
V0, TAGS = "TextCraft-v0", "TextCraftTags-v0"

EPISODES: dict[str, tuple[str, int, str | None, list[str]]] = {
    "v0_chest_won": (
        V0,
        0,
        "minecraft:chest",
        [
            "inventory",
            "get 2 oak logs",
            "craft 4 oak planks using 1 oak logs",
            "craft 4 oak planks using 1 oak_logs",
            "inventory",
            "craft 1 chest using 8 planks",
            "craft 1 chest using 8 oak planks",
        ],
    ),
    "v0_mistakes": (
        V0,
        1,
        "minecraft:redstone_lamp",
        [
            "",
            "look around",
            "get glowstone",
            "get 0 glowstone dust",
            "get 1000000 glowstone dust",
            "get 1 redstone lamp",
            "get 1 minecraft:redstone",
            " get 4 glowstone_dust \n",
            "craft 1 redstone lamp",
            "craft 1 redstone lamp using redstone",
            "craft 1 redstone lamp using 4 redstone, 0 glowstone",
            "craft 1 redstone lamp using 4 redstone, 1 glowstone",
            "craft 1 glowstone using 2 glowstone dust, 2 glowstone dust",
            "craft 1 glowstone using 3 glowstone dust",
            "craft 0 glowstone using 4 glowstone dust",
            "craft 7 glowstone using 4 glowstone dust",
            "inventory:",
            "x" * 250,
        ],
    ),
    "v0_drawn_from_dev": (
        V0,
        42,
        None,
        ["inventory", "get 3 oak log", "get 2 string", "inventory."],
    ),
    "v0_piston_in_other_order": (
        V0,
        7,
        "minecraft:sticky_piston",
        [
            "get 1 birch logs",
            "get 4 cobblestone",
            "get 1 slime ball",
            "get 1 iron ingot",
            "get 1 redstone",
            "craft 4 birch planks using 1 birch logs",
            "inventory",
            "craft 1 piston using 1 redstone, 1 iron ingot, 3 birch planks, 4 cobblestone",
            "get 1 birch logs",
            "inventory",
            "craft 1 sticky piston using 1 slime ball, 1 piston",
        ],
    ),
    "tags_campfire_with_a_mix": (
        TAGS,
        0,
        "minecraft:campfire",
        [
            "get 2 oak log",
            "get 2 stripped birch log",
            "get 1 charcoal",
            "craft 4 oak planks using 1 oak log",
            "craft 4 birch planks using 1 stripped birch log",
            "craft 4 stick using 1 oak planks, 1 birch planks",
            "inventory",
            "craft 1 campfire using 2 logs, 3 stick, 1 coals",
            "get 1 warped stem",
            "craft 1 campfire using 1 oak log, 1 stripped birch log, 1 warped stem, 3 stick, 1 charcoal",
        ],
    ),
    "tags_alternative": (
        TAGS,
        5,
        "minecraft:fire_charge",
        [
            "get 1 gunpowder",
            "get 1 blaze rod",
            "get 1 coal or charcoal",
            "get 1 charcoal",
            "craft 2 blaze powder using 1 blaze rod",
            "craft 3 fire charge using 1 gunpowder, 1 blaze powder, 1 coal",
            "craft 3 fire charge using 1 gunpowder, 1 blaze powder, 1 charcoal",
        ],
    ),
}


def transcript(env_id: str, seed: int, task: str | None, actions: list[str]) -> dict:
    env = gym.make(env_id)
    text, info = env.reset(seed=seed, options={"task": task} if task else None)
    steps = []
    for action in actions:
        observation, reward, terminated, _, after = env.step(action)
        step = {
            "action": action,
            "observation": observation,
            "reward": reward,
            "terminated": terminated,
        }
        steps.append(step | {"invalid_reason": after.get("invalid_reason")})
    return {
        "id": env_id,
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
        file.write_text(json.dumps(played, indent=1) + "\n", encoding="utf-8")
    assert played == json.loads(file.read_text(encoding="utf-8"))


def test_golden_files__are_those_of_the_episodes():
    assert {file.stem for file in GOLDEN.iterdir()} == set(EPISODES)


def test_golden_files__hold_episodes_of_both_kinds():
    ends = [
        json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))["steps"][-1]
        for name in EPISODES
    ]
    assert [end["terminated"] for end in ends] == [True, False, False, True, True, True]
