"""Episodes in processes beside this one: right where environments, agents or models keep a core busy."""

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
"""Jobs that a worker holds: the one it plays, and one so that it need not wait for the next."""

Message: TypeAlias = tuple[Literal["ready", "failed", "episode"], Any]


class ProcessBackend:
    """Plays in as many new processes as there are workers, one episode at a time in each.

    A process that dies is replaced and its episode played again. A script that plays so keeps what it does behind
    ``if __name__ == "__main__"``, since each process imports it.
    """

    @contextmanager
    def open(self, spec: RunSpec) -> Iterator[PlayJobs]:
        """See ``Backend``."""
        try:
            pickled_spec = pickle.dumps(replace(spec, backend="loop"))
        except Exception as error:  # whatever a foreign object raises when it is pickled
            raise BackendError(
                f"this agent or model cannot be sent to another process ({error}): name it, as module:Class"
            ) from error
        pool = _Pool(pickled_spec, spec.workers)
        try:
            pool.await_ready()
            yield pool.play
        finally:
            pool.close()


@dataclass
class _Attempt:
    """A job, and the number of workers that died of it."""

    job: Job
    deaths: int = 0


class _WorkerProcess:
    """A process, the pipe to it, and the attempts that it holds, in order."""

    def __init__(self, pickled_spec: bytes) -> None:
        # A process of its own is safe beside threads, which a copy of this one is not, and the same on every system.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.given: deque[_Attempt] = deque()
        self.process = context.Process(target=_work, args=(theirs, pickled_spec), daemon=True)
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
            raise BackendError(f"a worker could not begin: {message[1]}")
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
        while True:
            for worker in self.workers:
                while len(worker.given) < AHEAD and (attempt := again.popleft() if again else next(waiting, None)):
                    worker.give(attempt)
            busy = [worker for worker in self.workers if worker.given]
            if not busy:
                return
            readable = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe not in readable:
                    continue
                message = worker.receive()
                if message is None:
                    failed = self.replace_worker(worker, again)
                    if failed:
                        yield failed
                elif message[0] == "ready":
                    self.ready.add(worker)
                else:
                    worker.given.popleft()
                    yield message[1]

    def replace_worker(self, worker: _WorkerProcess, again: deque[_Attempt]) -> Episode | None:
        """Replace a dead worker and queue its jobs again; return the error of a job of which too many workers died."""
        if worker not in self.ready:
            raise _startup_error(worker)
        exitcode = worker.end()
        self.workers[self.workers.index(worker)] = _WorkerProcess(self.pickled_spec)
        under_way, *rest = worker.given
        under_way.deaths += 1
        again.extend(rest)
        if under_way.deaths < MAX_DEATHS:
            again.append(under_way)
            return None
        return failed_episode(under_way.job, f"{MAX_DEATHS} workers died of it, the last with exit code {exitcode}")

    def close(self) -> None:
        for worker in self.workers:
            worker.end()


def _startup_error(worker: _WorkerProcess) -> BackendError:
    return BackendError(
        f"a worker ended before it could play, with exit code {worker.end()}: "
        'see what it printed, and keep what a script does behind if __name__ == "__main__"'
    )


def _work(pipe: Connection, pickled_spec: bytes) -> None:
    """Play the jobs that come through the pipe until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupted run ends its workers by itself
    with suppress(EOFError, OSError):
        try:
            worker = Worker(pickle.loads(pickled_spec))  # noqa: S301
        except Exception as error:  # whatever an agent, a model or an environment raises when it is made
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
        pipe.send(("episode", failed_episode(Job(episode.task, episode.seed), f"it cannot be sent: {error}")))
