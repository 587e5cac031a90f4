"""Numbers from episode records. An episode that broke is an error: counted, and in no rate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

Z_95 = 1.959963984540054
ALL = "all"
"""What stands in the place of a group for all episodes together, and for tasks that form no groups."""


@dataclass(frozen=True)
class Summary:
    """What a set of episodes came to.

    Attributes:
        episodes: How many ended without an error.
        errors: How many did not.
        depth: Mean depth of the tasks, those of errors too; None without any.
        won: How many were won.
        rate: ``won / episodes``, or None without episodes.
        low, high: The 95% Wilson interval of the rate.
        reward: Mean reward.
        steps: Mean number of actions.
        steps_over_optimal: Mean ratio of actions to the optimum, over the won ones; None without any.
        calls: Mean number of completions by role.
        tokens: Mean number of tokens, as the models counted them.
        cost: What all completions cost together, those of errors too.
        k_max: Mean of the deepest level at which something was executed.
        claimed: How many episodes the agent took to be won.
        rightly_claimed: How many of these were won.
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
    claimed: int
    rightly_claimed: int

    @property
    def precision(self) -> float | None:
        """How many of the episodes that the agent took to be won were; None if it took none to be."""
        return self.rightly_claimed / self.claimed if self.claimed else None

    @property
    def recall(self) -> float | None:
        """How many of the episodes that were won the agent took to be; None if none was won."""
        return self.rightly_claimed / self.won if self.won else None


def wilson_interval(successes: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion; (0, 1) without trials.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927.
    """
    if not trials:
        return 0.0, 1.0
    rate = successes / trials
    scale = 1 + z * z / trials
    centre = (rate + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    return max(0.0, centre - half), min(1.0, centre + half)


def summarise(records: Iterable[Mapping[str, Any]]) -> Summary:
    """Summarise episode records (see ``runner``)."""
    records = list(records)
    played = [record for record in records if not record.get("error")]
    won = [record for record in played if record["won"]]
    low, high = wilson_interval(len(won), len(played))
    claimed = [record for record in played if record["claimed_success"]]
    roles = dict.fromkeys(role for record in played for role in record["calls"])
    ratios = [record["steps"] / record["optimal_length"] for record in won if record.get("optimal_length")]
    return Summary(
        episodes=len(played),
        errors=len(records) - len(played),
        depth=fmean(record["depth"] for record in records) if records else None,
        won=len(won),
        rate=len(won) / len(played) if played else None,
        low=low,
        high=high,
        reward=fmean(record["reward"] for record in played) if played else None,
        steps=fmean(record["steps"] for record in played) if played else None,
        steps_over_optimal=fmean(ratios) if ratios else None,
        calls={role: fmean(record["calls"].get(role, 0) for record in played) for role in roles},
        tokens=fmean(sum(record["tokens"].values()) for record in played) if played else None,
        cost=sum(record["cost"] + record.get("spent_before", 0.0) for record in records),
        k_max=fmean(record["k_max"] for record in played) if played else None,
        claimed=len(claimed),
        rightly_claimed=sum(record["won"] for record in claimed),
    )


def summarise_by_group(records: Iterable[Mapping[str, Any]]) -> dict[str, Summary]:
    """Return a summary for each group, in order, and one for ``all``."""
    records = list(records)
    names = {record["group"] for record in records}
    by_group = {name: summarise(record for record in records if record["group"] == name) for name in names}
    return {name: by_group[name] for name in groups([by_group])} | {ALL: summarise(records)}


def groups(runs: Iterable[Mapping[str, Summary]]) -> list[str]:
    """Return the groups of all runs without ``all``: the shallow ones first, those of one depth by name."""
    depths = {name: summary.depth or 0.0 for by_group in runs for name, summary in by_group.items() if name != ALL}
    return sorted(depths, key=lambda name: (depths[name], name))
