"""All episodes in one loop of this process; their model calls run concurrently."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from textcraft_gym.runs.backends.backend import PlayJobs
from textcraft_gym.runs.backends.worker import Worker
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_budget import budget_of


class LoopBackend:
    """Plays in the calling process: the right choice where models take most of the time."""

    @contextmanager
    def open(self, run: Run) -> Iterator[PlayJobs]:
        """See ``Backend``; errors in making the worker are passed on.

        No request is sent after one has reached a limit of the run, which ends the episodes under
        way.
        """
        worker = Worker(run, envs=run.spec.worker_count, budget=budget_of(run.spec))
        yield partial(worker.run, on_request=run.on_request, on_interrupt=run.on_interrupt)
