"""Plays TextCraft and WebShop's test split, forward or in reverse; prints a digest of the episodes and one of the plans.

Run by ``test_determinism`` in processes of its own.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys

import gymnasium as gym

import textcraft_gym  # noqa: F401

SEEDS = (0, 12345)
STEPS = 12
JUNK = (
    "inventory",
    "look",
    "get 1 oak_log",
    "get 0 stick",
    "craft 1 stick using oak",
    "craft 4 stick using 2 birch planks",
)
SHOPPING_JUNK = (
    "search[]",
    "search[[",
    "click[search]",
    "click[Next >]",
    "search[caf\u00e9 \U0001f600 1,000]",
    "buy now",
)


def episode(env: gym.Env, task: str, seed: int, junk: tuple[str, ...]) -> list:
    """Play what a generator picks from what is on offer, and some junk."""
    number = random.Random(f"{task} {seed}").random
    text, info = env.reset(seed=seed, options={"task": task})
    said = [task, seed, text]
    for _ in range(STEPS):
        offered = info["admissible_commands"]
        choices = (
            junk
            if number() < 0.2
            else [line for line in offered if line.startswith("craft")] or offered
        )
        action = choices[int(number() * len(choices))]
        observation, reward, terminated, _, info = env.step(action)
        said += [action, observation, reward, terminated, info.get("invalid_reason")]
        if terminated:
            break
    return [*said, info["admissible_commands"]]


def digest(episodes: list[list]) -> str:
    return hashlib.sha256(
        json.dumps(sorted(episodes, key=lambda said: said[:2])).encode()
    ).hexdigest()


def drawn(env: gym.Env) -> list[list]:
    """What seeds draw, without naming a task."""
    return [[f"drawn by {seed}", *env.reset(seed=seed)] for seed in range(50)]


def play(env_id: str, junk: tuple[str, ...], order: str, **arguments: str) -> None:
    env = gym.make(env_id, admissible=True, disable_env_checker=True, **arguments)
    expert = gym.make(env_id, expert=True, disable_env_checker=True, **arguments)
    tasks = [task.id for task in env.unwrapped.tasks]
    if order == "reverse":
        tasks.reverse()
    played = [episode(env, task, seed, junk) for task in tasks for seed in SEEDS]
    plans = [[task, expert.reset(options={"task": task})[1]["expert_plan"]] for task in tasks]
    print(env_id, digest(played + drawn(env)), digest(plans))  # noqa: T201


def main(recipes: str, order: str) -> None:
    for env_id in ("TextCraft-v0", "TextCraftTags-v0"):
        play(env_id, JUNK, order, split="all", recipes=recipes)
    play("WebShopLite-v0", SHOPPING_JUNK, order, split="test")


if __name__ == "__main__":
    main(*sys.argv[1:])
