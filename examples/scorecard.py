"""Success rates of a player by group of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import gymnasium as gym

from textcraft_gym import Episode, run_episode
from textcraft_gym.agents.contract.agent import AgentLike
from textcraft_gym.reports.success import wilson_interval
from textcraft_gym.reports.tables import markdown_table

EVALUATION_SEED = 1_000_000
"""Never used in training, so that the prompts of training goals are new, too."""


class Score(NamedTuple):
    """Results of a group of tasks, each played once."""

    goals: int
    won: int
    steps: float

    @property
    def rate(self) -> float:
        """Success rate."""
        return self.won / self.goals

    @property
    def interval(self) -> tuple[float, float]:
        """95% Wilson interval of the rate."""
        return wilson_interval(self.won, self.goals)


Scores = dict[str, Score]


def play(player: AgentLike, groups: Mapping[str, Sequence[str]]) -> Scores:
    """Play every task of every group once, with TextCraft's own limit of 100 steps."""
    env = gym.make("TextCraft-v0", split="all", admissible=True)
    played: dict[str, Episode] = {}
    scores: Scores = {}
    for group, tasks in groups.items():
        for task in tasks:
            if task not in played:
                played[task] = run_episode(env, player, task=task, seed=EVALUATION_SEED)
        scores[group] = score([played[task] for task in tasks])
    return scores


def score(episodes: Sequence[Episode]) -> Score:
    """Return the results of episodes."""
    return Score(
        len(episodes),
        sum(bool(episode.won) for episode in episodes),
        fmean(episode.steps for episode in episodes),
    )


def table(players: Iterable[tuple[str, Scores]]) -> str:
    """Return the scores of players as Markdown."""
    headings = ("player", "goals", "episodes", "won", "%", "95% interval", "mean steps")
    rows = []
    for player, scores in players:
        for group, result in scores.items():
            low, high = result.interval
            rows.append(
                (
                    player,
                    group,
                    str(result.goals),
                    str(result.won),
                    f"{100 * result.rate:.1f}",
                    f"{100 * low:.1f}-{100 * high:.1f}",
                    f"{result.steps:.1f}",
                )
            )
    return markdown_table(headings, rows)
