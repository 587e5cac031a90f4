"""The limits of money, tokens and time that episodes share."""

from __future__ import annotations

import time

from textcraft_gym.errors import number


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
        self,
        max_cost: float | None = None,
        max_tokens: int | None = None,
        max_seconds: float | None = None,
    ) -> None:
        limits = {"max_cost": max_cost, "max_tokens": max_tokens, "max_seconds": max_seconds}
        for name, limit in limits.items():
            if limit is not None:
                number(name, limit)
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
