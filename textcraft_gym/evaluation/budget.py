"""The limits of money and tokens that a run keeps to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from textcraft_gym.evaluation.records import read_lines
from textcraft_gym.evaluation.run_spec import RunSpec


class Budget:
    """The money and the tokens that a run may spend, and what it has spent.

    Args:
        max_cost: Maximum cost; None for no limit. The completions that reach it may exceed it.
        max_tokens: Maximum number of tokens, likewise.
        cost: Cost of earlier starts of the run.
        tokens: Their tokens.
    """

    def __init__(
        self, max_cost: float | None = None, max_tokens: int | None = None, cost: float = 0.0, tokens: int = 0
    ) -> None:
        self.max_cost = max_cost
        self.max_tokens = max_tokens
        self.cost = cost
        self.tokens = tokens

    def spend(self, cost: float, tokens: int) -> None:
        """Add what was spent."""
        self.cost += cost
        self.tokens += tokens

    @property
    def is_unlimited(self) -> bool:
        """Whether there is no limit."""
        return self.max_cost is None and self.max_tokens is None

    @property
    def reached(self) -> bool:
        """Whether a limit is reached."""
        too_dear = self.max_cost is not None and self.cost >= self.max_cost
        return too_dear or (self.max_tokens is not None and self.tokens >= self.max_tokens)

    @property
    def state(self) -> str:
        """What is spent of each limit, in words."""
        of_cost = "" if self.max_cost is None else f" of {self.max_cost:g}"
        of_tokens = "" if self.max_tokens is None else f" of {self.max_tokens:,}"
        return f"spent {self.cost:.4g}{of_cost} in money and {self.tokens:,}{of_tokens} tokens"

    def rest(self, spec: RunSpec) -> RunSpec:
        """Return a run's spec with what is left of the limits."""
        max_cost = None if self.max_cost is None else max(0.0, self.max_cost - self.cost)
        max_tokens = None if self.max_tokens is None else max(0, self.max_tokens - self.tokens)
        return replace(spec, max_cost=max_cost, max_tokens_total=max_tokens)


def budget_of(spec: RunSpec, folders: Iterable[str | Path] = ()) -> Budget:
    """Return a run's budget, from which the episodes in some folders were paid, superseded attempts included.

    Without a limit nothing is counted.

    Raises:
        RunError: If a file of episodes cannot be read.
    """
    budget = Budget(spec.max_cost, spec.max_tokens_total)
    if budget.is_unlimited:
        return budget
    for folder in folders:
        for line in read_lines(folder):
            if line.record is not None:
                budget.spend(line.record["cost"], sum(line.record["tokens"].values()))
    return budget
