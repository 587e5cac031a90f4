"""All episodes in one loop of this process; model calls of many episodes run concurrently."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from textcraft_gym.evaluation.backends.backend import PlayJobs
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.worker import Worker


class LoopBackend:
    """Plays in the calling process: the right choice where most of the time is spent waiting for models."""

    @contextmanager
    def open(self, spec: RunSpec) -> Iterator[PlayJobs]:
        """See ``Backend``; errors in making the worker are passed on."""
        worker = Worker(spec, envs=spec.workers)
        try:
            yield worker.run
        finally:
            worker.close()
