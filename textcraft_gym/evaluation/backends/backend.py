"""The contract between a run and the backends that play its episodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

from textcraft_gym.errors import TextCraftGymError
from textcraft_gym.evaluation.episode import MAX_ERROR, Episode, Job
from textcraft_gym.evaluation.run_spec import RunSpec

PlayJobs: TypeAlias = Callable[[Iterable[Job]], Generator[Episode, None, None]]
"""Plays jobs, consumed lazily, and yields one episode for each as it ends, in any order."""

MAX_DEATHS = 3
"""Number of workers that die while playing a job before the job is recorded as an error."""


class BackendError(TextCraftGymError, RuntimeError):
    """Workers cannot be started, or cannot make the environment, the agent or the models."""


class Backend(Protocol):
    """Plays episodes. Results are the same in every backend; only the caller writes files.

    The caller gives out no further job once the run has reached one of its limits; the episodes under way are played to
    the end where their backend cannot do better.
    """

    def open(self, spec: RunSpec) -> AbstractContextManager[PlayJobs]:
        """Start the ``spec.workers`` workers of a run; leaving the context ends them.

        Raises:
            BackendError: If there can be no workers.
        """


def failed_episode(job: Job, why: str, cost: float = 0.0) -> Episode:
    """Return the record of an error for a job that no worker returned an episode of, with what it cost."""
    known = cost if math.isfinite(cost) else 0.0
    return Episode(job.task, job.seed, job.repeat, stop_reason="error", error=why[:MAX_ERROR], cost=known)
