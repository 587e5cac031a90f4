"""Milestones on the way to a diamond: when each was first held, as in figure 9 of the DEPS paper.

python benchmarks/milestones.py --episodes 30 --span 99 --rounds 12
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from statistics import median
from typing import Any, NamedTuple, SupportsFloat

import gymnasium as gym

from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.games import MINETECHTREE
from textcraft_gym.agents.simulated import SimulatedModel
from textcraft_gym.evaluation.episode import run_episode
from textcraft_gym.evaluation.report import markdown_table
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


def play(episodes: int, span: int, rounds: int | None, reliability: str) -> list[dict[str, Milestone]]:
    """Return the milestones of DEPS's episodes for a diamond, with the simulated model."""
    agent = DEPSAgent(MINETECHTREE, rounds=rounds)
    env = TickRecorder(make("MineTechTree-v0", reliability=reliability, **agent.env_args))
    played = []
    for seed in range(episodes):
        episode = run_episode(env, agent, task="diamond", seed=seed, model=SimulatedModel(span))
        played.append(milestones(episode.transcript, env.ticks))
    return played


def table(played: Sequence[dict[str, Milestone]]) -> str:
    """Return a table of the share of episodes that reach each milestone, and when they do in the median."""
    rows = []
    for name in MILESTONES:
        found = [episode[name] for episode in played if name in episode]
        when = [f"{median(each[index] or 0 for each in found):.0f}" if found else "" for index in (0, 1)]
        rows.append((name, f"{100 * len(found) / len(played):.1f}", *when))
    return markdown_table(("milestone", "episodes (%)", "median action", "median tick"), rows)


def main() -> None:
    """Play and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--episodes", type=int, default=30)
    arguments.add_argument("--span", type=int, default=99)
    arguments.add_argument("--rounds", type=int, default=12)
    arguments.add_argument("--reliability", default="published")
    options = arguments.parse_args()
    print(table(play(options.episodes, options.span, options.rounds, options.reliability)))


if __name__ == "__main__":
    main()
