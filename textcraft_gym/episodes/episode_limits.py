"""The limits of time, tokens and money that a run sets to each of its episodes."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from textcraft_gym.errors import TextCraftGymError

EpisodeLimit: TypeAlias = Literal["seconds", "tokens", "cost"]


class LimitReached(TextCraftGymError):
    """An episode reached a limit of its run, and counts as lost.

    Attributes:
        limit: Which limit.
    """

    def __init__(self, message: object, limit: EpisodeLimit = "seconds") -> None:
        super().__init__(message)
        self.limit = limit


class EpisodeLimits(NamedTuple):
    """What one episode may take; None for no limit.

    Attributes:
        seconds: From its start, during which other episodes may be played, too.
        tokens: Read and written by the models. The completions that reach it may exceed it.
        cost: Of the completions, likewise.
    """

    seconds: float | None = None
    tokens: int | None = None
    cost: float | None = None

    def check_spent(self, tokens: int, cost: float) -> None:
        """Raise LimitReached where an episode has spent as much."""
        if self.tokens is not None and tokens >= self.tokens:
            taken = f"the episode has taken {tokens:,} of {self.tokens:,} tokens"
            raise LimitReached(taken, "tokens")
        if self.cost is not None and cost >= self.cost:
            raise LimitReached(f"the episode has cost {cost:.4g} of {self.cost:g}", "cost")

    def out_of_time(self) -> LimitReached:
        """Return what ends an episode at its limit of time."""
        return LimitReached(f"the episode has taken its {self.seconds:g} seconds", "seconds")


NO_LIMITS = EpisodeLimits()
