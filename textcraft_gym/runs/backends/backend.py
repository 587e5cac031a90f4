"""The contract between a run and the backends that play its episodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, TypeAlias

from textcraft_gym.episodes.episode import MAX_ERROR, Episode, Job
from textcraft_gym.errors import TextCraftGymError
from textcraft_gym.runs.run import Run


class Played(NamedTuple):
    """An episode, after the job that it was played for.

    Attributes:
        calls: What its models were asked and answered, as ``lines_of`` writes it; empty where that
            is not kept or not known.
    """

    job: Job
    episode: Episode
    calls: str = ""


PlayJobs: TypeAlias = Callable[[Iterable[Job]], Generator[Played, None, None]]
"""Plays jobs, consumed lazily, and yields each with its episode as this ends, in any order."""

MAX_DEATHS = 3
"""Number of workers that die while playing a job before the job is recorded as an error."""
GRACE_SECONDS = 5.0
"""Seconds that a worker has beyond a limit to end an episode, so that what it played is kept."""


class BackendError(TextCraftGymError, RuntimeError):
    """Workers cannot be started, or cannot make the environment, the agent or the models."""


class Backend(Protocol):
    """Plays episodes. Results are the same in every backend; only the caller writes files.

    The caller gives out no further job once the run has reached one of its limits. At one of money
    or tokens, the episodes under way are played to the end where their backend cannot do better;
    the spec's ``max_seconds`` ends them. When the caller closes the generator of episodes, or it is
    broken by an interrupt, what those under way took goes to the run's ``on_interrupt``, if known.
    """

    def open(self, run: Run) -> AbstractContextManager[PlayJobs]:
        """Start the ``workers`` workers of a run; leaving the context ends them.

        Workers of this process take what was made for the run. Others are sent its spec, and make
        it again.

        Raises:
            BackendError: If there can be no workers.
        """


def failed_episode(
    job: Job,
    why: str,
    cost: float = 0.0,
    tokens: Mapping[str, int] | None = None,
) -> Episode:
    """Return the record of an error, with what it took, for a job without an episode."""
    known = cost if math.isfinite(cost) else 0.0
    return Episode(
        *job,
        stop_reason="error",
        error=why[:MAX_ERROR],
        cost=known,
        tokens=dict(tokens or {}),
    )
