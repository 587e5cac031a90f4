"""Training examples of AdaPlanner in ALFWorld, in the short prompts that it sends.

A household's function, and what it was mended to, are about its situation; the questions of
functions and about them stand alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import gymnasium as gym
import households
from dialogue import Example
from player import Episode
from programmer import MISTAKES, Programmer
from recorded import LONGEST_ALONE, Record, alone, dialogues, packed, record

from textcraft_gym.agents.adaplanner.adaplanner import AdaPlannerAgent
from textcraft_gym.agents.games import ALFWORLD
from textcraft_gym.agents.prompts import Prompts

ROLES = ("planner", "checker", "ask", "refiner")
ERRING = 0.35
"""Share of the episodes whose first function has a mistake."""
ALONE = 0.4
"""Chance of an example of its own of a request that stands alone."""


def drawn(rng: random.Random) -> Iterator[Episode]:
    """Yield households for training without end."""
    env = gym.make("ALFWorld-v0", split="train", max_episode_steps=-1)
    while True:
        yield household(env, households.draw_task(rng), rng)


def household(env: gym.Env[str, str], task: str, rng: random.Random) -> Episode:
    """Return an episode in a household."""
    home = households.Situation(task)
    mistake = rng.choice(MISTAKES) if rng.random() < ERRING else ""
    programmer = Programmer(home.task, home.places, rng, mistake=mistake)
    return Episode(ALFWORLD, env, task, home.text, home.sentence, programmer)


def play(episode: Episode) -> Record:
    """Return an episode of AdaPlanner."""
    agent = AdaPlannerAgent(ALFWORLD, Prompts("short"))
    return record(episode.env, agent, episode.task, episode.player, ROLES)


def examples(seed: int) -> Iterator[Example]:
    """Yield examples without end; the same seed gives the same ones."""
    rng = random.Random(f"adaplanner/{seed}")
    for episode in drawn(rng):
        played, exchanges = play(episode)
        if not played.won:
            continue
        yield from packed(episode.situation, dialogues(episode.situation, exchanges), rng)
        for exchange in exchanges:
            is_short = len(exchange.text) <= LONGEST_ALONE
            is_alone = not exchange.prompt.startswith(episode.situation)
            if is_short and is_alone and rng.random() < ALONE:
                yield alone(exchange)
