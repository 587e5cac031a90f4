"""The contract between a run and whatever plays its episodes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from textcraft_gym.errors import TextCraftGymError
from textcraft_gym.evaluation.episode import MAX_ERROR, Episode, Job
from textcraft_gym.evaluation.worker import Setup

Play: TypeAlias = Callable[[Iterable[Job]], Generator[Episode, None, None]]
"""Plays jobs, which it takes as it needs them, and yields one episode for each as it ends, in any order."""

MAX_DEATHS = 3
"""So many workers may die of one job before it is taken to be what kills them."""


class BackendError(TextCraftGymError, RuntimeError):
    """Workers that cannot be had, or cannot make what is to be played."""


class Backend(Protocol):
    """Where episodes are played. What they come to is the same everywhere; the caller alone writes anything down."""

    def open(self, setup: Setup, workers: int) -> AbstractContextManager[Play]:
        """Make ready what plays, and at the end put it away.

        Args:
            setup: What the episodes have in common.
            workers: How many are under way at once.

        Raises:
            BackendError: If there can be no workers.
        """


def lost(job: Job, why: str) -> Episode:
    """Return the episode of a job of which nothing is left but why: no worker ended it, or it cannot be kept."""
    return Episode(job.task, job.seed, stop_reason="error", error=why[:MAX_ERROR])
