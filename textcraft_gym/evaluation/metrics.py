"""Aggregates of episode records. An episode that raised counts as an error, and in no rate or mean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from textcraft_gym.task import UNGROUPED

Z_95 = 1.959963984540054
ALL = UNGROUPED
"""Group of the summary over all episodes."""


@dataclass(frozen=True)
class Summary:
    """Aggregate over episodes. Means are over episodes without an error, and None without any.

    Attributes:
        episodes: Number of episodes without an error.
        errors: Number of episodes with an error.
        depth: Mean depth of the tasks, including those of errors.
        won: Number of episodes won.
        rate: ``won / episodes``.
        low, high: The 95% Wilson interval of the rate.
        reward: Mean reward.
        steps: Mean number of actions.
        steps_over_optimal: Mean ratio of actions to the optimum, over the episodes won.
        calls: Mean number of completions by role.
        tokens: Mean number of tokens, as the models counted them.
        cost: Total cost of all completions, including those of errors.
        k_max: Mean of the deepest level of decomposition at which something was executed.
        k_max_won: The same over the episodes won, as ADaPT's paper reports it.
        claimed: Number of episodes that the agent claimed to have won.
        rightly_claimed: Number of these that were won.
        restores: Number of returns to an earlier moment, over all episodes.
    """

    episodes: int
    errors: int
    depth: float | None
    won: int
    rate: float | None
    low: float
    high: float
    reward: float | None
    steps: float | None
    steps_over_optimal: float | None
    calls: dict[str, float]
    tokens: float | None
    cost: float
    k_max: float | None
    k_max_won: float | None
    claimed: int
    rightly_claimed: int
    restores: int

    @property
    def precision(self) -> float | None:
        """Share of the claimed episodes that were won; None without claims."""
        return self.rightly_claimed / self.claimed if self.claimed else None

    @property
    def recall(self) -> float | None:
        """Share of the won episodes that were claimed; None if none was won."""
        return self.rightly_claimed / self.won if self.won else None


def wilson_interval(successes: float, trials: float, z: float = Z_95) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion; (0, 1) without trials.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927.
    """
    if not trials:
        return 0.0, 1.0
    rate = successes / trials
    scale = 1 + z * z / trials
    centre = (rate + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    # Rounding can put the bounds slightly outside of 0 to 1.
    return max(0.0, centre - half), min(1.0, centre + half)


def summarise(records: Iterable[Mapping[str, Any]]) -> Summary:
    """Summarise episode records (see ``run_folder``)."""
    records = list(records)
    played = [record for record in records if not record.get("error")]
    won = [record for record in played if record["won"]]
    claimed = [record for record in played if record["claimed_success"]]
    low, high = wilson_interval(len(won), len(played))
    return Summary(
        episodes=len(played),
        errors=len(records) - len(played),
        depth=_mean(record["depth"] for record in records),
        won=len(won),
        rate=len(won) / len(played) if played else None,
        low=low,
        high=high,
        reward=_mean(record["reward"] for record in played),
        steps=_mean(record["steps"] for record in played),
        steps_over_optimal=_mean(_steps_over_optimal(won)),
        calls=_mean_calls(played),
        tokens=_mean(sum(record["tokens"].values()) for record in played),
        cost=sum(record["cost"] + record.get("spent_before", 0.0) for record in records),
        k_max=_mean(record["k_max"] for record in played),
        k_max_won=_mean(record["k_max"] for record in won),
        claimed=len(claimed),
        rightly_claimed=sum(record["won"] for record in claimed),
        restores=sum(len(record["restores"]) for record in played),
    )


def summarise_by_group(records: Iterable[Mapping[str, Any]]) -> dict[str, Summary]:
    """Return a summary for each group, in order, and one for ``all``."""
    records = list(records)
    names = {record["group"] for record in records}
    by_group = {name: summarise(record for record in records if record["group"] == name) for name in names}
    return {name: by_group[name] for name in groups([by_group])} | {ALL: summarise(records)}


def groups(runs: Iterable[Mapping[str, Summary]]) -> list[str]:
    """Return the groups of all runs without ``all``, by depth and then by name."""
    # The depth puts "depth 10" after "depth 9"; groups without depths are sorted by name.
    depths = {name: summary.depth or 0.0 for by_group in runs for name, summary in by_group.items() if name != ALL}
    return sorted(depths, key=lambda name: (depths[name], name))


def _mean(values: Iterable[float]) -> float | None:
    values = list(values)
    return fmean(values) if values else None


def _mean_calls(played: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the mean number of completions by role, over all episodes, whether or not they asked the role."""
    roles = dict.fromkeys(role for record in played for role in record["calls"])
    return {role: fmean(record["calls"].get(role, 0) for record in played) for role in roles}


def _steps_over_optimal(won: Iterable[Mapping[str, Any]]) -> list[float]:
    return [record["steps"] / record["optimal_length"] for record in won if record.get("optimal_length")]
