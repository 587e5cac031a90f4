"""The contract between a run and whatever plays its episodes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from textcraft_gym.errors import TextCraftGymError
from textcraft_gym.evaluation.episode import MAX_ERROR, Episode, Job
from textcraft_gym.evaluation.run_spec import RunSpec

PlayJobs: TypeAlias = Callable[[Iterable[Job]], Generator[Episode, None, None]]
"""Plays jobs, which it takes as it needs them, and yields one episode for each as it ends, in any order."""

MAX_DEATHS = 3
"""Workers that may die of one job before it is taken to be what kills them."""


class BackendError(TextCraftGymError, RuntimeError):
    """Workers cannot be had, or cannot make what is to be played."""


class Backend(Protocol):
    """A place where episodes are played. Results are the same everywhere; the caller alone writes anything down."""

    def open(self, spec: RunSpec) -> AbstractContextManager[PlayJobs]:
        """Start the ``spec.workers`` workers of a run; leaving the context ends them.

        Raises:
            BackendError: If there can be no workers.
        """


def failed_episode(job: Job, why: str) -> Episode:
    """Return the record of an error for a job of which no worker returned an episode."""
    return Episode(job.task, job.seed, stop_reason="error", error=why[:MAX_ERROR])
