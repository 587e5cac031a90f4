"""Whole episodes, word for word. A changed word is a new version of the environment.

``REGENERATE_GOLDEN=1 pytest tests/envs/tabletop/test_golden.py`` plays the actions below anew and
writes the files.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from textcraft_gym.registration import find

GOLDEN = Path(__file__).parent / "golden"

EPISODES: dict[str, tuple[dict, int, str, list[str]]] = {
    "bowls_won": (
        {},
        0,
        "put-block-in-bowl/4",
        ["look", "expert", "look", "expert", "expert", "expert"],
    ),
    "kit_missed": ({"reliability": "cliport"}, 0, "assembling-kits/2", ["expert"] * 9),
    "pyramid_fallen": ({"reliability": "cliport"}, 16, "stack-block-pyramid/0", ["expert"] * 12),
    "packing_fallen": ({"reliability": "cliport"}, 5, "packing-shapes/0", ["expert"] * 4),
    "rings_spent": (
        {"goals": 4},
        1,
        "towers-of-hanoi/0",
        [
            "look",
            "move the orange ring to the darker brown side",
            "move the blue ring to the darker brown side",
            "move the green ring to the darker brown side",
            "sit down",
            "look",
            "move the green ring to the middle of the stand",
        ],
    ),
}


def transcript(env_args: dict, seed: int, task: str, actions: list[str]) -> dict:
    """An episode; the action ``expert`` is the expert's next one, and the last one where it knows
    none."""
    env = find("Tabletop-v0").make(expert=True, render_mode="ansi", **env_args)
    text, info = env.reset(seed=seed, options={"task": task})
    steps: list[dict] = []
    for action in actions:
        if action == "expert":
            action = (info["expert_plan"] or ["look"])[0]
        observation, reward, terminated, truncated, info = env.step(action)
        step = {
            "action": action,
            "observation": observation,
            "reward": reward,
            "score": info["score"],
        }
        ends = {
            "terminated": terminated,
            "truncated": truncated,
            "invalid_reason": info.get("invalid_reason"),
        }
        steps.append(step | ends)
        if terminated or truncated:
            break
    drawn = env.unwrapped.drawing().split("\n")
    return {
        "env_args": env_args,
        "seed": seed,
        "task": task,
        "reset": text.split("\n"),
        "steps": steps,
        "drawn": drawn,
    }


@pytest.mark.parametrize("name", EPISODES)
def test_transcript__is_word_for_word_the_golden_one(name: str):
    played = transcript(*EPISODES[name])
    file = GOLDEN / f"{name}.json"
    if os.environ.get("REGENERATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(played, indent=1) + "\n", encoding="utf-8")
    assert played == json.loads(file.read_text(encoding="utf-8"))


def test_golden_files__are_those_of_the_episodes():
    assert {file.stem for file in GOLDEN.iterdir()} == set(EPISODES)


def test_golden_files__hold_misses_of_each_sort_and_both_ends():
    said = [
        step
        for name in EPISODES
        for step in json.loads((GOLDEN / f"{name}.json").read_text())["steps"]
    ]
    for part in ("stuck askew", "on the floor", "It took the", "is still on", "Done: "):
        assert any(part in step["observation"] for step in said), part
    assert any(step["terminated"] for step in said)
    assert any(step["truncated"] for step in said)
