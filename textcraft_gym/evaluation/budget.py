"""The limits of money, tokens and time that a run keeps to."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from textcraft_gym.evaluation.records import read_lines
from textcraft_gym.evaluation.run_spec import RunSpec


class Budget:
    """The money, the tokens and the time that a run may spend, and what it has spent.

    Args:
        max_cost: Maximum cost; None for no limit. The completions that reach it may exceed it.
        max_tokens: Maximum number of tokens, likewise.
        max_seconds: Maximum time from now on.

    Attributes:
        deadline: When the time is over, by ``time.monotonic``; None if it is not limited.
    """

    def __init__(
        self, max_cost: float | None = None, max_tokens: int | None = None, max_seconds: float | None = None
    ) -> None:
        self.max_cost = max_cost
        self.max_tokens = max_tokens
        self.max_seconds = max_seconds
        self.deadline = None if max_seconds is None else time.monotonic() + max_seconds
        self.cost = 0.0
        self.tokens = 0

    def spend(self, cost: float, tokens: int) -> None:
        """Add what was spent."""
        self.cost += cost
        self.tokens += tokens

    @property
    def reached(self) -> bool:
        """Whether a limit is reached."""
        return self.is_spent or self.out_of_time

    @property
    def is_spent(self) -> bool:
        """Whether the money or the tokens are spent."""
        too_dear = self.max_cost is not None and self.cost >= self.max_cost
        return too_dear or (self.max_tokens is not None and self.tokens >= self.max_tokens)

    @property
    def out_of_time(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    @property
    def seconds_left(self) -> float | None:
        """The time that is left; None if it is not limited."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    @property
    def state(self) -> str:
        """What is spent of the limit that is reached, in words."""
        if self.out_of_time and not self.is_spent:
            return f"{self.max_seconds:g} seconds are over"
        of_cost = "" if self.max_cost is None else f" of {self.max_cost:g}"
        of_tokens = "" if self.max_tokens is None else f" of {self.max_tokens:,}"
        return f"spent {self.cost:.4g}{of_cost} in money and {self.tokens:,}{of_tokens} tokens"

    def rest(self, spec: RunSpec) -> RunSpec:
        """Return a run's spec with what is left of the limits."""
        max_cost = None if self.max_cost is None else max(0.0, self.max_cost - self.cost)
        max_tokens = None if self.max_tokens is None else max(0, self.max_tokens - self.tokens)
        return replace(spec, max_cost=max_cost, max_tokens_total=max_tokens, max_seconds=self.seconds_left)


def budget_of(spec: RunSpec, folders: Iterable[str | Path] = ()) -> Budget:
    """Return a run's budget, from which the episodes in some folders were paid, superseded attempts included.

    Without a limit of money or tokens nothing is counted. The time begins now.

    Raises:
        RunError: If a file of episodes cannot be read.
    """
    budget = Budget(spec.max_cost, spec.max_tokens_total, spec.max_seconds)
    if spec.max_cost is None and spec.max_tokens_total is None:
        return budget
    for folder in folders:
        for line in read_lines(folder):
            if line.record is not None:
                budget.spend(line.record["cost"], sum(line.record["tokens"].values()))
    return budget
