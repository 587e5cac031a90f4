"""All episodes in one loop of this process; only models are asked beside it, for many episodes at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from textcraft_gym.evaluation.backends.backend import PlayJobs
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.worker import Worker


class LoopBackend:
    """Plays where it is called: right where most of the time goes into models that answer over a network."""

    @contextmanager
    def open(self, spec: RunSpec) -> Iterator[PlayJobs]:
        """See ``Backend``; whatever making the worker raises is passed on."""
        worker = Worker(spec, envs=spec.workers)
        try:
            yield worker.run
        finally:
            worker.close()
