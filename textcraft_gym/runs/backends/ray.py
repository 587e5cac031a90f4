"""Episodes as tasks on a Ray cluster, for several machines. Ray is imported on first use."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from threading import Event, Thread, current_thread, main_thread
from typing import Any, NamedTuple

from textcraft_gym.episodes.budget import Budget
from textcraft_gym.episodes.episode import Job
from textcraft_gym.errors import require
from textcraft_gym.runs.backends.backend import (
    GRACE_SECONDS,
    MAX_DEATHS,
    BackendError,
    Played,
    PlayJobs,
    failed_episode,
)
from textcraft_gym.runs.backends.worker import Worker
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_budget import budget_of

OBJECT_STORE_BYTES = 100 << 20
"""Shared memory of a local cluster: episodes are small, and Ray takes a third of all by default."""

BATCH_SECONDS, MAX_BATCH = 0.2, 256
"""Target seconds of a Ray task, and its maximum number of episodes.

A task has milliseconds of overhead, which may be more than an episode takes.
"""
MAX_WAITING = 4096
"""Maximum number of workers on this machine that wait for the end of a run."""

_playing = Event()
"""Set in a worker while it plays."""


class RayBackend:
    """Plays on a Ray cluster, one task per worker at a time, each a small batch of episodes.

    It joins the cluster that this process is connected to, else the one at ``address`` or
    ``$RAY_ADDRESS``, else it starts one on this machine. Machines of an existing cluster need this
    package, and the module of an agent or a model that is named by its module. A cassette is a
    local file, so it cannot be used here.

    Args:
        address: As ``ray.init`` takes it: ``auto``, or host and port.
    """

    def __init__(self, address: str | None = None) -> None:
        self.address = address

    @contextmanager
    def open(self, run: Run) -> Iterator[PlayJobs]:
        """See ``Backend``."""
        run.close()  # each process makes an environment of its own
        spec = run.spec
        if spec.cassette is not None or spec.replay_only:
            raise BackendError(
                "the machines of a Ray cluster cannot share a cassette: "
                "omit it, or play on this machine"
            )
        require("ray", "ray")
        import ray

        try:
            pickled_spec = ray.cloudpickle.dumps(replace(spec, backend="loop"))
        except Exception as error:  # pickling a user's object may raise anything
            raise BackendError(
                f"this agent or model cannot be sent to another machine: {error}"
            ) from error
        with _connection(ray, self.address, spec.worker_count):
            yield partial(_play, ray, ray.put(pickled_spec), spec.worker_count, budget_of(spec))


@contextmanager
def _connection(
    ray: Any,
    address: str | None,
    workers: int,
) -> Iterator[None]:
    if ray.is_initialized():
        yield
        return
    address = address or os.environ.get("RAY_ADDRESS")
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    with _sigterm_kept():
        if address:
            ray.init(address=address, **quiet)
        else:
            # No telemetry from a cluster that the user did not start.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            ray.init(
                address="local",
                num_cpus=workers,
                object_store_memory=OBJECT_STORE_BYTES,
                include_dashboard=False,
                **quiet,
            )
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _sigterm_kept() -> Iterator[None]:
    """Keep what SIGTERM does in this process; Ray puts an exit of its own in its place."""
    # Signals are handled in the main thread only; in others Ray leaves them alone.
    if current_thread() is not main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Lifeline(NamedTuple):
    """A socket that the process that gives out the jobs holds open as long as its run goes on.

    Workers on the same machine wait for its end, and end with it. Ray by itself ends them a second
    or more later, in which they would ask models for answers that nobody reads.

    Attributes:
        node: The machine, by its node of the cluster.
        port: The port there.
    """

    node: str
    port: int


@contextmanager
def _lifeline(node: str) -> Iterator[_Lifeline]:
    # Connections are never accepted: as long as the socket is open they stay in its queue, and then
    # they end.
    with socket.create_server(("127.0.0.1", 0), backlog=MAX_WAITING) as listener:
        yield _Lifeline(node, listener.getsockname()[1])


class _Batches:
    """The batches of a run that are under way on the cluster, at most one for each worker.

    Args:
        ray: The module.
        pickled_spec: A reference to the spec.
        workers: Maximum number of batches under way.
        budget: How long episodes may take.
        jobs: The jobs, consumed lazily.
    """

    def __init__(
        self,
        ray: Any,
        pickled_spec: Any,
        workers: int,
        budget: Budget,
        jobs: Iterable[Job],
    ) -> None:
        self.ray = ray
        self.task = ray.remote(max_retries=MAX_DEATHS - 1)(_play_batch)
        self.pickled_spec = pickled_spec
        self.workers = workers
        self.budget = budget
        self.waiting = iter(jobs)
        self.alone: deque[Job] = deque()
        self.size = 1
        self.under_way: dict[Any, tuple[list[Job], Future[tuple[float, list[bytes]]]]] = {}

    def send(self, lifeline: _Lifeline) -> None:
        """Send batches until every worker has one, or no job is left."""
        while len(self.under_way) < self.workers:
            if self.alone:
                batch = [self.alone.popleft()]
            else:
                batch = list(islice(self.waiting, self.size))
            if not batch:
                return
            seconds = self.budget.seconds_left
            reference = self.task.remote(self.pickled_spec, batch, lifeline, seconds)
            self.under_way[reference] = batch, reference.future()

    def wait(self) -> Any:
        """Wait for a batch and return its reference; None if none ends in time."""
        patience = self.budget.seconds_left
        if patience is not None:
            patience += GRACE_SECONDS
        # By futures: ray.wait notices an interrupt only after a second.
        futures = [future for _, future in self.under_way.values()]
        wait(futures, patience, return_when=FIRST_COMPLETED)
        for reference, (_, future) in self.under_way.items():
            if future.done():
                return reference
        return None

    def receive(self, reference: Any) -> Iterator[Played]:
        """Yield the episodes of a batch that ended; those of one that failed are played again."""
        batch, future = self.under_way.pop(reference)
        try:
            seconds, episodes = future.result()
        except self.ray.exceptions.RayTaskError as error:
            raise BackendError(f"a worker could not play: {error.cause!r}") from error
        except self.ray.exceptions.RayError as error:
            # A worker died, or its machine, and so did those after it.
            if len(batch) > 1:
                self.alone.extend(batch)  # each is played alone, to find the one that kills workers
            else:
                why = f"{MAX_DEATHS} workers died playing it: {error}"
                yield Played(batch[0], failed_episode(batch[0], why))
            return

        # Doubles at most, since the first episodes may be unusually short.
        in_time = int(len(batch) * BATCH_SECONDS / max(seconds, 1e-9))
        self.size = max(1, min(MAX_BATCH, 2 * self.size, in_time))
        for played in episodes:
            yield pickle.loads(played)  # noqa: S301


def _play(
    ray: Any,
    pickled_spec: Any,
    workers: int,
    budget: Budget,
    jobs: Iterable[Job],
) -> Generator[Played, None, None]:
    batches = _Batches(ray, pickled_spec, workers, budget, jobs)
    node = ray.get_runtime_context().get_node_id()
    with _cancelling(ray, batches.under_way), _lifeline(node) as lifeline:
        while True:
            batches.send(lifeline)
            if not batches.under_way:
                return
            ended = batches.wait()
            if ended is None:
                return  # the rest does not stop by itself; the next start plays it
            yield from batches.receive(ended)


@contextmanager
def _cancelling(ray: Any, under_way: Iterable[Any]) -> Iterator[None]:
    """Cancel, at the end, the tasks that are under way then."""
    try:
        yield
    finally:
        for unfinished in under_way:
            ray.cancel(unfinished, force=True)


def _play_batch(
    pickled_spec: bytes,
    jobs: list[Job],
    lifeline: _Lifeline,
    seconds: float | None,
) -> tuple[float, list[bytes]]:
    """Play episodes on a machine of the cluster; return the seconds and the pickled episodes."""
    _hold(lifeline)
    _playing.set()
    try:
        worker = _worker(pickled_spec)
        worker.budget = Budget(max_seconds=seconds)
        started = time.perf_counter()
        episodes = [_packed(played) for played in worker.run(jobs)]
        return time.perf_counter() - started, episodes
    finally:
        _playing.clear()


@lru_cache(maxsize=1)
def _hold(lifeline: _Lifeline) -> None:
    """End this process at the end of a lifeline of its own machine, if it plays then."""
    import ray

    if ray.get_runtime_context().get_node_id() == lifeline.node:
        connection = socket.create_connection(("127.0.0.1", lifeline.port))
        Thread(target=_await_end, args=(connection,), daemon=True).start()


def _await_end(connection: socket.socket) -> None:
    with connection, suppress(OSError):
        connection.recv(1)
    if _playing.is_set():  # else the process may serve others
        os._exit(1)


@lru_cache(maxsize=1)
def _worker(pickled_spec: bytes) -> Worker:
    """Keep the worker for the next batch: a process of the cluster plays many."""
    return Worker(Run(pickle.loads(pickled_spec)))  # noqa: S301


def _packed(played: Played) -> bytes:
    try:
        return pickle.dumps(played)
    except Exception as error:  # an agent may have left anything in its trace
        why = f"the episode cannot be sent: {error}"
        job, episode, calls = played
        failed = failed_episode(job, why, episode.cost, episode.tokens)
        return pickle.dumps(Played(job, failed, calls))
