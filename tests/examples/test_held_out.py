"""No teacher plays a task that agents are measured on, by the hash of its content."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice

import adaplanner
import autoplan
import gymnasium as gym
import households
import pytest
import search
import webshop
from buyer import TrainingShopEnv
from recorded import Episode

from textcraft_gym.agents.games import ALFWORLD, HOTPOTQA, TEXTCRAFT, WEBSHOP
from textcraft_gym.task import task_hash, tasks

MEASURED = {
    ALFWORLD.name: ("ALFWorld-v0", ("valid_seen", "valid_unseen")),
    HOTPOTQA.name: ("HotpotQA-v0", ("all",)),
    TEXTCRAFT.name: ("TextCraft-v0", ("test",)),
    WEBSHOP.name: ("WebShopLite-v0", ("all",)),
}
"""Each game's environment and the splits that agents are measured on."""
EPISODE_COUNT = 60
Draw = Callable[[random.Random], Iterator[Episode]]


@cache
def measured(game: str) -> frozenset[str]:
    env_id, splits = MEASURED[game]
    return frozenset(task_hash(env_id, task) for split in splits for task in tasks(env_id, split))


def hash_of(game: str, env: gym.Env[str, str], task: str) -> str:
    env.reset(seed=0, options={"task": task})
    return task_hash(MEASURED[game][0], env.unwrapped.task)


@pytest.mark.parametrize(
    ("drawn", "games"),
    [
        (adaplanner.drawn, {ALFWORLD.name}),
        (autoplan.drawn, {ALFWORLD.name, HOTPOTQA.name}),
        (search.drawn, MEASURED.keys()),
    ],
)
def test_episodes__are_of_no_task_that_is_measured(drawn: Draw, games: set[str]):
    episodes = list(islice(drawn(random.Random(1)), EPISODE_COUNT))
    assert {episode.profile.name for episode in episodes} == games
    for episode in episodes:
        game = episode.profile.name
        assert hash_of(game, episode.env, episode.task) not in measured(game)


def test_households__are_none_that_are_measured():
    env, rng = gym.make("ALFWorld-v0", split="train"), random.Random(1)
    drawn = {hash_of(ALFWORLD.name, env, households.draw_task(rng)) for _ in range(100)}
    assert len(drawn) > 90
    assert not drawn & measured(ALFWORLD.name)


def test_purchases__are_none_that_are_measured():
    for shop in random.Random(1).sample(webshop.TRAINING_SHOPS, 5):
        hashes = {task_hash("WebShopLite-v0", task) for task in TrainingShopEnv(shop).tasks}
        assert len(hashes) > 100
        assert not hashes & measured(WEBSHOP.name)
