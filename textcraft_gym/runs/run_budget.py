"""The budget of a run: the limits of its spec, less what the episodes in its folders took."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from textcraft_gym.episodes.budget import Budget
from textcraft_gym.reports.records import read_lines
from textcraft_gym.runs.run_spec import RunSpec


def budget_of(spec: RunSpec, folders: Iterable[str | Path] = ()) -> Budget:
    """Return a run's budget, less all attempts at episodes in some folders.

    Without a limit of money or tokens nothing is counted. The time begins now.

    Raises:
        RunError: If a file of episodes cannot be read.
    """
    budget = Budget(spec.max_cost, spec.max_tokens_total, spec.max_seconds)
    if spec.max_cost is None and spec.max_tokens_total is None:
        return budget
    # Superseded attempts were paid for, too.
    for folder in folders:
        for line in read_lines(folder):
            if line.record is not None:
                budget.spend(line.record["cost"], sum(line.record["tokens"].values()))
    return budget


def rest_of(spec: RunSpec, budget: Budget) -> RunSpec:
    """Return a run's spec with what is left of the limits."""
    max_cost = None if budget.max_cost is None else max(0.0, budget.max_cost - budget.cost)
    max_tokens = None if budget.max_tokens is None else max(0, budget.max_tokens - budget.tokens)
    return replace(
        spec,
        max_cost=max_cost,
        max_tokens_total=max_tokens,
        max_seconds=budget.seconds_left,
    )
