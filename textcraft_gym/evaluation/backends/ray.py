"""Episodes as tasks on a Ray cluster: beyond one machine. Ray is imported only when it is asked for."""

from __future__ import annotations

import logging
import os
import pickle
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import islice
from typing import Any

from textcraft_gym.evaluation.backends.backend import MAX_DEATHS, BackendError, Play, lost
from textcraft_gym.evaluation.episode import Episode, Job
from textcraft_gym.evaluation.worker import Setup, Stage

OBJECT_STORE_BYTES = 100 << 20
"""Shared memory of a local cluster: episodes are small, and Ray's own choice is a third of the machine's memory."""

BATCH_SECONDS, MAX_BATCH = 0.2, 256
"""How long a task is to take, and its most episodes: a task costs milliseconds, an episode microseconds or minutes."""


class RayBackend:
    """Plays on a Ray cluster with as many tasks under way as there are workers, each a small batch of episodes.

    It joins the cluster that this process is connected to, else the one at ``address`` or ``$RAY_ADDRESS``, else it
    starts one on this machine. Machines of an existing cluster need the package, and what an agent or a model named
    by its module is made of. A cassette is one file of one machine, so there is none here.

    Args:
        address: As ``ray.init`` takes it: ``auto``, or host and port.
    """

    def __init__(self, address: str | None = None) -> None:
        self.address = address

    @contextmanager
    def open(self, setup: Setup, workers: int) -> Iterator[Play]:
        """See ``Backend``."""
        if setup.cassette is not None or setup.replay_only:
            raise BackendError("the machines of a Ray cluster share no cassette: leave it out, or play on this machine")
        try:
            import ray
        except ImportError as error:
            raise BackendError("this needs Ray: pip install 'textcraft-gym[ray]'") from error
        try:
            parcel = ray.cloudpickle.dumps(setup)
        except Exception as error:  # whatever a foreign object raises when it is pickled
            raise BackendError(f"this agent or model cannot be sent to another machine: {error}") from error
        with _connection(ray, self.address, workers):
            yield partial(_play, ray, ray.put(parcel), workers)


@contextmanager
def _connection(ray: Any, address: str | None, workers: int) -> Iterator[None]:
    if ray.is_initialized():
        yield
        return
    address = address or os.environ.get("RAY_ADDRESS")
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address:
        ray.init(address=address, **quiet)
    else:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a cluster of ours reports to nobody
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


def _play(ray: Any, parcel: Any, workers: int, jobs: Iterable[Job]) -> Generator[Episode, None, None]:
    task = ray.remote(max_retries=MAX_DEATHS - 1)(_play_batch)
    waiting = (Job(*job) for job in jobs)
    alone: deque[Job] = deque()
    size = 1
    under_way: dict[Any, list[Job]] = {}
    try:
        while True:
            while len(under_way) < workers:
                batch = [alone.popleft()] if alone else list(islice(waiting, size))
                if not batch:
                    break
                under_way[task.remote(parcel, batch)] = batch
            if not under_way:
                return
            (ended, *_), _ = ray.wait(list(under_way))
            batch = under_way.pop(ended)
            try:
                seconds, episodes = ray.get(ended)
            except ray.exceptions.RayTaskError as error:
                raise BackendError(f"a worker could not play: {error.cause!r}") from error
            except ray.exceptions.RayError as error:  # a worker died, or its machine, and so did those after it
                if len(batch) > 1:
                    alone.extend(batch)  # to tell which of them it is
                else:
                    yield lost(batch[0], f"{MAX_DEATHS} workers died of it: {error}")
                continue
            size = max(1, min(MAX_BATCH, 2 * size, int(len(batch) * BATCH_SECONDS / max(seconds, 1e-9))))
            for episode in episodes:
                yield pickle.loads(episode)  # noqa: S301
    finally:
        for unfinished in under_way:
            ray.cancel(unfinished, force=True)


def _play_batch(parcel: bytes, jobs: list[Job]) -> tuple[float, list[bytes]]:
    """Play episodes on whichever machine this is; return how many seconds it took, and the episodes."""
    stage = _stage(parcel)
    begun = time.perf_counter()
    episodes = [_packed(episode) for episode in stage.play(jobs)]
    return time.perf_counter() - begun, episodes


@lru_cache(maxsize=1)
def _stage(parcel: bytes) -> Stage:
    """Keep what plays for the next batch: a cluster's worker process plays many."""
    return Stage(pickle.loads(parcel))  # noqa: S301


def _packed(episode: Episode) -> bytes:
    try:
        return pickle.dumps(episode)
    except Exception as error:  # an agent may have left anything in its trace
        return pickle.dumps(lost(Job(episode.task, episode.seed), f"it cannot be sent: {error}"))
