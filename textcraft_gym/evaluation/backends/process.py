"""Episodes in worker processes: the right choice where environments, agents or models are CPU-bound."""

from __future__ import annotations

import pickle
import signal
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, TypeAlias

from textcraft_gym.evaluation.backends.backend import MAX_DEATHS, BackendError, PlayJobs, failed_episode
from textcraft_gym.evaluation.episode import Episode, Job
from textcraft_gym.evaluation.run_spec import RunSpec
from textcraft_gym.evaluation.worker import Worker

AHEAD = 2
"""Jobs sent to a worker at a time: the one it plays, and the next, so that it never waits."""

Message: TypeAlias = tuple[Literal["ready", "failed", "episode"], Any]


class ProcessBackend:
    """Plays in one new process per worker, one episode at a time in each.

    A process that dies is replaced and its episode played again. A script that uses this backend needs an
    ``if __name__ == "__main__"`` guard, since each process imports it.
    """

    @contextmanager
    def open(self, spec: RunSpec) -> Iterator[PlayJobs]:
        """See ``Backend``."""
        try:
            pickled_spec = pickle.dumps(replace(spec, backend="loop"))
        except Exception as error:  # pickling a user's object may raise anything
            raise BackendError(
                f"this agent or model cannot be sent to another process ({error}): name it, as module:Class"
            ) from error
        pool = _Pool(pickled_spec, spec.workers)
        try:
            pool.await_ready()
            yield pool.play
        finally:
            pool.close()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold back ctrl-C while a process starts, which inherits that: it would die of it in the middle of its imports."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass
class _Attempt:
    """A job, and the number of workers that died of it."""

    job: Job
    deaths: int = 0


class _WorkerProcess:
    """A worker process, the pipe to it, and the attempts that it was given, in order."""

    def __init__(self, pickled_spec: bytes) -> None:
        # Spawned, not forked: a fork is unsafe in a process with threads, and not available on every system.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.given: deque[_Attempt] = deque()
        self.process = context.Process(target=_work, args=(theirs, pickled_spec), daemon=True)
        with _interrupts_held():
            self.process.start()
        theirs.close()

    def give(self, attempt: _Attempt) -> None:
        self.given.append(attempt)
        with suppress(OSError):  # it died; its attempts are found again when its pipe is read
            self.pipe.send(attempt.job)

    def receive(self) -> Message | None:
        """Return its next message, None if it is dead."""
        try:
            message: Message = self.pipe.recv()
        except (EOFError, OSError):
            return None
        if message[0] == "failed":
            raise BackendError(f"a worker could not start: {message[1]}")
        return message

    def end(self) -> int | None:
        """End it and return its exit code."""
        self.pipe.close()
        self.process.terminate()
        self.process.join()
        return self.process.exitcode


class _Pool:
    def __init__(self, pickled_spec: bytes, workers: int) -> None:
        self.pickled_spec = pickled_spec
        self.workers = [_WorkerProcess(pickled_spec) for _ in range(workers)]
        self.ready: set[_WorkerProcess] = set()

    def await_ready(self) -> None:
        """Wait for the first worker: an error that stops it would stop all."""
        readable = wait([worker.pipe for worker in self.workers])
        first = next(worker for worker in self.workers if worker.pipe in readable)
        if first.receive() is None:
            raise _startup_error(first)
        self.ready.add(first)

    def play(self, jobs: Iterable[Job]) -> Generator[Episode, None, None]:
        waiting = (_Attempt(Job(*job)) for job in jobs)
        again: deque[_Attempt] = deque()
        while busy := self.give_jobs(waiting, again):
            readable = wait([worker.pipe for worker in busy])
            for worker in busy:
                episode = self.receive(worker, again) if worker.pipe in readable else None
                if episode is not None:
                    yield episode

    def give_jobs(self, waiting: Iterator[_Attempt], again: deque[_Attempt]) -> list[_WorkerProcess]:
        """Fill up the workers, with jobs to repeat before new ones; return the workers that have a job."""
        for worker in self.workers:
            while len(worker.given) < AHEAD and (attempt := again.popleft() if again else next(waiting, None)):
                worker.give(attempt)
        return [worker for worker in self.workers if worker.given]

    def receive(self, worker: _WorkerProcess, again: deque[_Attempt]) -> Episode | None:
        """Handle the next message of a worker, or its death; return the episode that this ends, if any."""
        message = worker.receive()
        if message is None:
            return self.replace_worker(worker, again)
        kind, content = message
        if kind == "ready":
            self.ready.add(worker)
            return None
        worker.given.popleft()
        episode: Episode = content
        return episode

    def replace_worker(self, worker: _WorkerProcess, again: deque[_Attempt]) -> Episode | None:
        """Replace a dead worker and requeue its jobs; return an error for a job that killed too many workers."""
        if worker not in self.ready:
            raise _startup_error(worker)
        exitcode = worker.end()
        self.workers[self.workers.index(worker)] = _WorkerProcess(self.pickled_spec)
        # Only the job it was playing can have killed it; the next one in its queue is innocent.
        current, *rest = worker.given
        current.deaths += 1
        again.extend(rest)
        if current.deaths < MAX_DEATHS:
            again.append(current)
            return None
        return failed_episode(current.job, f"{MAX_DEATHS} workers died of it, the last with exit code {exitcode}")

    def close(self) -> None:
        for worker in self.workers:
            worker.end()


def _startup_error(worker: _WorkerProcess) -> BackendError:
    return BackendError(
        f"a worker ended before it could play, with exit code {worker.end()}: "
        'see its output, and run a script\'s code under if __name__ == "__main__"'
    )


def _work(pipe: Connection, pickled_spec: bytes) -> None:
    """Play the jobs that come through the pipe until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupted run ends its workers by itself
    with suppress(EOFError, OSError):
        try:
            worker = Worker(pickle.loads(pickled_spec))  # noqa: S301
        except Exception as error:  # the constructor of an agent, a model or an environment may raise anything
            pipe.send(("failed", f"{type(error).__name__}: {error}"))
            return
        pipe.send(("ready", None))
        for episode in worker.run(iter(pipe.recv, None)):
            _send(pipe, episode)


def _send(pipe: Connection, episode: Episode) -> None:
    try:
        pipe.send(("episode", episode))
    except OSError:
        raise
    except Exception as error:  # an agent may have left anything in its trace
        job, why = Job(episode.task, episode.seed, episode.repeat), f"it cannot be sent: {error}"
        pipe.send(("episode", failed_episode(job, why, episode.cost)))
