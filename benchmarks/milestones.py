"""Milestones on the way to a diamond: when each was first held, as in figure 9 of the DEPS paper."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from statistics import median
from typing import Any, NamedTuple, SupportsFloat

import gymnasium as gym

from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.evaluation.episode import run_episode
from textcraft_gym.registration import make

MILESTONES = (
    "log",
    "planks",
    "stick",
    "crafting table",
    "wooden pickaxe",
    "cobblestone",
    "stone pickaxe",
    "furnace",
    "coal",
    "iron ore",
    "iron ingot",
    "iron pickaxe",
    "diamond",
)
"""Of the kinds log and planks any wood counts."""

_GAINED = re.compile(r"^(?:Mined|Hunted|Crafted|Smelted) (.+)$", re.MULTILINE)
_ITEM = re.compile(r"[0-9]+ ([a-z ]+)")


class Milestone(NamedTuple):
    """The moment at which something was first held: the number of actions until then, and of ticks if known."""

    step: int
    ticks: int | None


def milestones(transcript: Iterable[tuple[str | None, str]], ticks: Sequence[int] = ()) -> dict[str, Milestone]:
    """Return when each milestone was first held, in that order.

    Args:
        transcript: The actions of an episode with their observations, as an ``Episode`` has them; None for a reset.
        ticks: The ticks of the game after each action, as far as they are known.
    """
    found: dict[str, Milestone] = {}
    actions = ((action, observation) for action, observation in transcript if action is not None)
    for step, (turn, at) in enumerate(zip_longest(actions, ticks), 1):
        gained = _GAINED.match(turn[1]) if turn else None
        for item in _ITEM.findall(gained[1]) if gained else ():
            name = next((kind for kind in ("log", "planks") if item.endswith(f" {kind}")), item)
            if name in MILESTONES:
                found.setdefault(name, Milestone(step, at))
    return found


class TickRecorder(gym.Wrapper[str, str, str, str]):
    """Keeps the ticks after each action of the episode."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode without ticks."""
        self.ticks: list[int] = []
        return self.env.reset(seed=seed, options=options)

    def step(self, action: str) -> tuple[str, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one action and note the ticks."""
        step = self.env.step(action)
        self.ticks.append(step[4]["ticks"])
        return step


EPISODES = 30


def play(model: str, episodes: int = EPISODES) -> list[dict[str, Milestone]]:
    """Return the milestones of DEPS's episodes for a diamond, in which goals fail as often as the paper's."""
    agent = DEPSAgent(MINETECHTREE)
    env = TickRecorder(make("MineTechTree-v0", reliability="published", **agent.env_args))
    played = []
    for seed in range(episodes):
        episode = run_episode(env, agent, task="diamond", seed=seed, model=make_model(model, seed=seed))
        played.append(milestones(episode.transcript, env.ticks))
    return played


def write_csv(by_model: dict[str, Sequence[dict[str, Milestone]]]) -> str:
    """Return the share of episodes that reach each milestone, and when they do in the median, as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", "milestone", "episodes", "reached", "median_action", "median_tick"])
    for model, played in by_model.items():
        for name in MILESTONES:
            found = [episode[name] for episode in played if name in episode]
            when = [f"{median(each[index] or 0 for each in found):.0f}" if found else "" for index in (0, 1)]
            writer.writerow([model, name, len(played), len(found), *when])
    return text.getvalue()
