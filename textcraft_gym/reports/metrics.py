"""Aggregates of episode records, by what became of each episode.

An episode is won, lost, or lost by a limit, the model's own or one that the run sets to each
episode; its outcome is unknown in a world that does not say so; or it broke by an error of the
machinery, and then counts in no rate or mean unless errors are counted as lost.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum
from statistics import fmean, stdev
from typing import Any, Literal, TypeAlias

from textcraft_gym.errors import UnknownName
from textcraft_gym.reports.success import UNKNOWN, Outcomes, PassRates, pass_rates, success
from textcraft_gym.task import UNGROUPED

ALL = UNGROUPED
"""Group of the summary over all episodes."""

Outcome: TypeAlias = Literal["won", "lost", "limit", "unknown", "error"]
Claim: TypeAlias = Literal["success", "failure", "game", "nothing"]
"""What an agent said of an episode's success; ``game`` if the game ended the episode without a word
of the agent."""
Errors: TypeAlias = Literal["exclude", "count"]
"""Whether failed episodes are left out of rates and means, or count as lost with a score of 0."""
ERRORS: tuple[Errors, ...] = ("exclude", "count")


@dataclass(frozen=True)
class Summary:
    """Aggregate over episodes. Means exclude failed episodes; None if none remain.

    Attributes:
        tasks: Number of tasks of the episodes that count.
        families: Number of families of these tasks; a task unlike all others is a family.
        episodes: Number of episodes that count: those without an error, or all where errors count
            as lost.
        errors: Number of episodes with an error.
        limits: Number of episodes lost by a limit, by its name.
        unknown: Number of episodes in which the world did not say whether they were won.
        depth: Mean depth of the tasks, including those of errors.
        won: Number of episodes won.
        rate: Mean over tasks of the share of episodes won; None as long as the outcome of an
            episode is unknown.
        low, high: The 95% interval of the rate, for families of tasks (see ``success.interval``).
        reward: Mean reward of the episodes that count; that of an error is 0.
        steps: Mean number of actions.
        steps_over_optimal: Mean ratio of actions to the optimum, over the episodes won.
        calls: Mean number of completions by role.
        tokens: Mean number of tokens, as the models counted them.
        cost: Total cost of all completions, including those of errors.
        replies: Number of replies of models by kind (``Episode.replies``), over all episodes.
        k_max: Mean of the deepest level of decomposition at which something was executed; None of
            an agent that never divided a task.
        k_max_won: The same over the episodes won, as ADaPT's paper reports it.
        claimed: Number of episodes that the agent claimed to have won; None if it never said
            whether it had won.
        rightly_claimed: Number of these that were won.
        ended_by_game: Number of episodes that the game ended without a word of the agent.
        won_by_game: Number of these that were won.
        restores: Number of returns to an earlier moment, over all episodes.
        passes: Success with 1, 2, ... attempts; empty unless tasks were played more than once.
    """

    tasks: int
    families: int
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
    claimed: int | None
    rightly_claimed: int
    ended_by_game: int
    won_by_game: int
    restores: int
    passes: tuple[PassRates, ...]

    @property
    def wrongly_claimed(self) -> int | None:
        """Number of episodes claimed and lost; None without claims, or if any is unknown."""
        if self.unknown or self.claimed is None:
            return None
        return self.claimed - self.rightly_claimed

    @property
    def recall(self) -> float | None:
        """Share of the wins that were claimed, of those that the game did not end without a word.

        None without any, or if the outcome of any episode is unknown.
        """
        open_to_claims = self.won - self.won_by_game
        if self.unknown or not open_to_claims or self.claimed is None:
            return None
        return self.rightly_claimed / open_to_claims


def outcome_of(record: Mapping[str, Any]) -> Outcome:
    """Return what became of an episode."""
    if record.get("error"):
        return "error"
    if record["won"]:
        return "won"
    if record.get("limit"):
        return "limit"
    return "unknown" if record["won"] is None else "lost"


def claim_of(record: Mapping[str, Any]) -> Claim:
    """Return what the agent said of an episode's success."""
    claimed = record["claimed_success"]
    if claimed is not None:
        return "success" if claimed else "failure"
    return "game" if record["stop_reason"] == "terminated" else "nothing"


def summarise(records: Iterable[Mapping[str, Any]], *, errors: Errors = "exclude") -> Summary:
    """Summarise episode records (see ``records.py``).

    Args:
        records: The records.
        errors: What to do with episodes that broke.

    Raises:
        UnknownName: For another word than those of ``errors``.
    """
    return summarise_by_group(records, errors=errors)[ALL]


def summarise_by_group(
    records: Iterable[Mapping[str, Any]],
    *,
    errors: Errors = "exclude",
) -> dict[str, Summary]:
    """Return a summary for each group, in order, and one for ``all``; see ``summarise``.

    The records are read once, and only numbers of them are kept.
    """
    if errors not in ERRORS:
        raise UnknownName.of("way with errors", errors, ERRORS)
    sums = {ALL: _Sums(errors)}
    for record in records:
        for name in {record["group"], ALL}:
            if name not in sums:
                sums[name] = _Sums(errors)
            sums[name].add(record)
    by_group = {name: of_group.summary() for name, of_group in sums.items()}
    return {name: by_group[name] for name in [*groups([by_group]), ALL]}


def groups(runs: Iterable[Mapping[str, Summary]]) -> list[str]:
    """Return the groups of all runs without ``all``, by depth and then by name."""
    # The depth puts "depth 10" after "depth 9"; groups without depths are sorted by name.
    depths: dict[str, float] = {}
    for by_group in runs:
        for name, summary in by_group.items():
            depths[name] = summary.depth or 0.0
    depths.pop(ALL, None)
    return sorted(depths, key=lambda name: (depths[name], name))


class TaskOutcomes(dict[str, Outcomes]):
    """The outcomes of each task's episodes that count; unknown ones count as not won.

    Args:
        errors: What to do with episodes that broke.
    """

    def __init__(self, errors: Errors = "exclude") -> None:
        super().__init__()
        self.count_errors = errors == "count"

    def add(self, record: Mapping[str, Any]) -> None:
        """Add an episode."""
        self.count(record["task"], record["family"], outcome_of(record))

    def count(self, task: str, family: str, outcome: Outcome) -> None:
        """Add an outcome of a task."""
        if outcome != "error" or self.count_errors:
            _, won, episodes = self.get(task, (family, 0, 0))
            self[task] = Outcomes(family, won + (outcome == "won"), episodes + 1)


class _Sums:
    """What a summary needs of episodes, added up one by one.

    Args:
        errors: What to do with episodes that broke.
    """

    def __init__(self, errors: Errors) -> None:
        self.count_errors = errors == "count"
        self.outcomes: Counter[Outcome] = Counter()
        self.limits: Counter[str] = Counter()
        self.replies: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.tasks = TaskOutcomes(errors)
        self.rewards, self.ratios, self.costs = array("d"), array("d"), array("d")
        self.claims: Counter[Claim] = Counter()
        self.depth: float = 0
        self.steps = self.tokens = self.k_max = self.k_max_won = self.restores = 0
        self.rightly_claimed = self.won_by_game = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Add an episode."""
        outcome = outcome_of(record)
        self.outcomes[outcome] += 1
        self.depth += record["depth"]
        self.costs.append(record["cost"] + record.get("spent_before", 0.0))
        self.replies.update(record.get("replies", {}))
        self.tasks.add(record)
        # A failed episode that counts is lost, with a score of 0.
        if outcome != "error" or self.count_errors:
            self.rewards.append(0.0 if outcome == "error" else record["reward"])
        if outcome != "error":
            self._add_played(record, outcome)

    def _add_played(
        self,
        record: Mapping[str, Any],
        outcome: Outcome,
    ) -> None:
        self.steps += record["steps"]
        self.tokens += sum(record["tokens"].values())
        self.calls.update(record["calls"])
        self.k_max += record["k_max"]
        self.restores += len(record["restores"])
        if outcome == "limit":
            self.limits[record["limit"]] += 1
        claim = claim_of(record)
        self.claims[claim] += 1
        if outcome == "won":
            self.rightly_claimed += claim == "success"
            self.won_by_game += claim == "game"
            self.k_max_won += record["k_max"]
            if record.get("optimal_length"):
                self.ratios.append(record["steps"] / record["optimal_length"])

    def summary(self) -> Summary:
        """Return the summary of the episodes."""
        unknown, won = self.outcomes["unknown"], self.outcomes["won"]
        episodes = self.outcomes.total()
        played = episodes - self.outcomes["error"]
        counted = len(self.rewards)
        says = self.claims["success"] or self.claims["failure"]

        of_tasks = list(self.tasks.values())
        passes: tuple[PassRates, ...] = ()
        if not unknown and counted > len(of_tasks):  # tasks were played more than once
            passes = pass_rates(of_tasks)
        # Any of the unknown episodes may be won.
        estimate = UNKNOWN if unknown else success(of_tasks)
        return Summary(
            tasks=len(of_tasks),
            families=len({task.family for task in of_tasks}),
            episodes=counted,
            errors=self.outcomes["error"],
            limits=dict(self.limits),
            unknown=unknown,
            depth=_share(self.depth, episodes),
            won=won,
            rate=estimate.mean,
            low=estimate.low,
            high=estimate.high,
            reward=_mean(self.rewards),
            steps=_share(self.steps, played),
            steps_over_optimal=_mean(self.ratios),
            calls={role: calls / played for role, calls in self.calls.items()},
            tokens=_share(self.tokens, played),
            cost=fsum(self.costs),
            replies=dict(self.replies),
            k_max=_share(self.k_max, played) if self.k_max else None,
            k_max_won=_share(self.k_max_won, won) if self.k_max else None,
            claimed=self.claims["success"] if says else None,
            rightly_claimed=self.rightly_claimed,
            ended_by_game=self.claims["game"],
            won_by_game=self.won_by_game,
            restores=self.restores,
            passes=passes,
        )


def _share(total: float, number: int) -> float | None:
    return total / number if number else None


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


@dataclass(frozen=True)
class Pooled(Summary):
    """Aggregate over the episodes of runs that differ only in their seed.

    More seeds narrow its interval only as far as the episodes of a task vary.

    Attributes:
        runs: The summary of each run, of those that have the group.
    """

    runs: tuple[Summary, ...]

    @property
    def between_runs(self) -> float | None:
        """Sample standard deviation of the success rates of the runs; None with fewer than two."""
        rates = [run.rate for run in self.runs if run.rate is not None]
        return stdev(rates) if len(rates) > 1 else None


def pool_by_group(
    runs: Sequence[Iterable[Mapping[str, Any]]],
    *,
    errors: Errors = "exclude",
) -> dict[str, Pooled]:
    """Summarise runs that differ only in their seed, by group; see ``summarise_by_group``.

    Each run is read twice if there are several.

    Args:
        runs: The records of each run, at least one.
        errors: What to do with episodes that broke.
    """
    each = [summarise_by_group(records, errors=errors) for records in runs]
    whole = each[0]
    if len(each) > 1:
        whole = summarise_by_group(chain.from_iterable(runs), errors=errors)
    pooled = {}
    for group, summary in whole.items():
        of_group = tuple(by_group[group] for by_group in each if group in by_group)
        pooled[group] = Pooled(**vars(summary), runs=of_group)
    return pooled
