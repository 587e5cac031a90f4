"""Aggregates of episode records, by what became of each episode.

An episode is won, lost, or lost by the model's own limit; its outcome is unknown in a world that does not say so; or
it broke by an error of the machinery, and then counts in no rate or mean unless errors are counted as lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, TypeAlias

from textcraft_gym.errors import UnknownName
from textcraft_gym.evaluation.success import PassRates, mean_over_tasks, pass_rates
from textcraft_gym.task import UNGROUPED

ALL = UNGROUPED
"""Group of the summary over all episodes."""

Outcome: TypeAlias = Literal["won", "lost", "limit", "unknown", "error"]
Errors: TypeAlias = Literal["exclude", "count"]
"""Whether episodes that broke are left out of rates and means, or count as lost with a score of 0."""
ERRORS: tuple[Errors, ...] = ("exclude", "count")


@dataclass(frozen=True)
class Summary:
    """Aggregate over episodes. Means are over episodes without an error, and None without any.

    Attributes:
        tasks: Number of tasks of the episodes that count.
        episodes: Number of episodes that count: those without an error, or all where errors count as lost.
        errors: Number of episodes with an error.
        limits: Number of episodes lost by the model's own limit, by its name.
        unknown: Number of episodes in which the world did not say whether they were won.
        depth: Mean depth of the tasks, including those of errors.
        won: Number of episodes won.
        rate: Mean over tasks of the share of episodes won; None as long as the outcome of an episode is unknown.
        low, high: The 95% interval of the rate over tasks; with one episode a task the Wilson interval.
        reward: Mean reward of the episodes that count; that of an error is 0.
        steps: Mean number of actions.
        steps_over_optimal: Mean ratio of actions to the optimum, over the episodes won.
        calls: Mean number of completions by role.
        tokens: Mean number of tokens, as the models counted them.
        cost: Total cost of all completions, including those of errors.
        replies: Number of replies of models that could not be taken as they were, by kind, over all episodes.
        k_max: Mean of the deepest level of decomposition at which something was executed.
        k_max_won: The same over the episodes won, as ADaPT's paper reports it.
        claimed: Number of episodes that the agent claimed to have won.
        rightly_claimed: Number of these that were won.
        restores: Number of returns to an earlier moment, over all episodes.
        passes: Success with 1, 2, ... attempts; empty unless tasks were played more than once.
    """

    tasks: int
    episodes: int
    errors: int
    limits: dict[str, int]
    unknown: int
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
    replies: dict[str, int]
    k_max: float | None
    k_max_won: float | None
    claimed: int
    rightly_claimed: int
    restores: int
    passes: tuple[PassRates, ...]

    @property
    def precision(self) -> float | None:
        """Share of the claimed episodes that were won; None without claims, or where an outcome is unknown."""
        return self.rightly_claimed / self.claimed if self.claimed and not self.unknown else None

    @property
    def recall(self) -> float | None:
        """Share of the won episodes that were claimed; None if none was won, or where an outcome is unknown."""
        return self.rightly_claimed / self.won if self.won and not self.unknown else None


def outcome_of(record: Mapping[str, Any]) -> Outcome:
    """Return what became of an episode."""
    if record.get("error"):
        return "error"
    if record["won"]:
        return "won"
    if record.get("limit"):
        return "limit"
    return "unknown" if record["won"] is None else "lost"


def summarise(records: Iterable[Mapping[str, Any]], *, errors: Errors = "exclude") -> Summary:
    """Summarise episode records (see ``run_folder``).

    Args:
        records: The records.
        errors: What to do with episodes that broke.

    Raises:
        UnknownName: For another word than those of ``errors``.
    """
    if errors not in ERRORS:
        raise UnknownName("way with errors", errors, ERRORS)
    records = list(records)
    by_outcome: dict[Outcome, list[Mapping[str, Any]]] = {}
    for record in records:
        by_outcome.setdefault(outcome_of(record), []).append(record)
    broken, won = by_outcome.get("error", []), by_outcome.get("won", [])
    played = [record for record in records if not record.get("error")]
    scores = [record["reward"] for record in played] + ([0.0] * len(broken) if errors == "count" else [])
    counts = _by_task(played if errors == "exclude" else records)
    unknown = len(by_outcome.get("unknown", []))
    rate = mean_over_tasks([wins / episodes for episodes, wins in counts], len(scores))
    claimed = [record for record in played if record["claimed_success"]]
    return Summary(
        tasks=len(counts),
        episodes=len(scores),
        errors=len(broken),
        limits=dict(Counter(record["limit"] for record in by_outcome.get("limit", []))),
        unknown=unknown,
        depth=_mean(record["depth"] for record in records),
        won=len(won),
        rate=None if unknown else rate.mean,
        low=0.0 if unknown else rate.low,
        high=1.0 if unknown else rate.high,
        reward=_mean(scores),
        steps=_mean(record["steps"] for record in played),
        steps_over_optimal=_mean(_steps_over_optimal(won)),
        calls=_mean_calls(played),
        tokens=_mean(sum(record["tokens"].values()) for record in played),
        cost=sum(record["cost"] + record.get("spent_before", 0.0) for record in records),
        replies=_sum_of_replies(records),
        k_max=_mean(record["k_max"] for record in played),
        k_max_won=_mean(record["k_max"] for record in won),
        claimed=len(claimed),
        rightly_claimed=sum(bool(record["won"]) for record in claimed),
        restores=sum(len(record["restores"]) for record in played),
        passes=() if unknown or len(scores) == len(counts) else pass_rates(counts),
    )


def summarise_by_group(records: Iterable[Mapping[str, Any]], *, errors: Errors = "exclude") -> dict[str, Summary]:
    """Return a summary for each group, in order, and one for ``all``; see ``summarise``."""
    records = list(records)
    names = {record["group"] for record in records}
    by_group = {
        name: summarise((record for record in records if record["group"] == name), errors=errors) for name in names
    }
    return {name: by_group[name] for name in groups([by_group])} | {ALL: summarise(records, errors=errors)}


def groups(runs: Iterable[Mapping[str, Summary]]) -> list[str]:
    """Return the groups of all runs without ``all``, by depth and then by name."""
    # The depth puts "depth 10" after "depth 9"; groups without depths are sorted by name.
    depths = {name: summary.depth or 0.0 for by_group in runs for name, summary in by_group.items() if name != ALL}
    return sorted(depths, key=lambda name: (depths[name], name))


def _by_task(records: Iterable[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """Return the number of episodes of each task, and how many of them were won."""
    flags: dict[str, list[bool]] = {}
    for record in records:
        flags.setdefault(record["task"], []).append(outcome_of(record) == "won")
    return [(len(of_task), sum(of_task)) for of_task in flags.values()]


def _sum_of_replies(records: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    whole: Counter[str] = Counter()
    for record in records:
        whole.update(record.get("replies", {}))
    return dict(whole)


def _mean(values: Iterable[float]) -> float | None:
    values = list(values)
    return fmean(values) if values else None


def _mean_calls(played: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the mean number of completions by role, over all episodes, whether or not they asked the role."""
    roles = dict.fromkeys(role for record in played for role in record["calls"])
    return {role: fmean(record["calls"].get(role, 0) for record in played) for role in roles}


def _steps_over_optimal(won: Iterable[Mapping[str, Any]]) -> list[float]:
    return [record["steps"] / record["optimal_length"] for record in won if record.get("optimal_length")]
