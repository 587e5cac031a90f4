"""Episodes in processes beside this one: right where environments, agents or models keep a core busy."""

from __future__ import annotations

import pickle
import signal
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Literal, TypeAlias

from textcraft_gym.evaluation.backends.backend import MAX_DEATHS, BackendError, Play, lost
from textcraft_gym.evaluation.episode import Episode, Job
from textcraft_gym.evaluation.worker import Setup, Stage

AHEAD = 2
"""Jobs that a worker is given at once: one to play, and one so that it need not wait for the next."""

Said: TypeAlias = tuple[Literal["ready", "failed", "episode"], Any]


class ProcessBackend:
    """Plays in as many new processes as there are workers, one episode at a time in each.

    A process that dies is replaced and its episode played again. A script that plays so keeps what it does behind
    ``if __name__ == "__main__"``, since each process imports it.
    """

    @contextmanager
    def open(self, setup: Setup, workers: int) -> Iterator[Play]:
        """See ``Backend``."""
        try:
            parcel = pickle.dumps(setup)
        except Exception as error:  # whatever a foreign object raises when it is pickled
            raise BackendError(
                f"this agent or model cannot be sent to another process ({error}): name it, as module:Class"
            ) from error
        pool = _Pool(parcel, workers)
        try:
            pool.await_ready()
            yield pool.play
        finally:
            pool.close()


@dataclass
class _Try:
    """A job, and how many workers died of it."""

    job: Job
    deaths: int = 0


class _Worker:
    """A process, the pipe to it, and what it was given and did not answer yet, in order."""

    def __init__(self, parcel: bytes) -> None:
        # A process of its own is safe beside threads, which a copy of this one is not, and the same on every system.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.given: deque[_Try] = deque()
        self.process = context.Process(target=_work, args=(theirs, parcel), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, one: _Try) -> None:
        self.given.append(one)
        with suppress(OSError):  # it died; what it was given is found again when its pipe is read
            self.pipe.send(one.job)

    def hear(self) -> Said | None:
        """Return what it says, None if it is dead."""
        try:
            said: Said = self.pipe.recv()
        except (EOFError, OSError):
            return None
        if said[0] == "failed":
            raise BackendError(f"a worker could not begin: {said[1]}")
        return said

    def end(self) -> int | None:
        """End it and return how it ended."""
        self.pipe.close()
        self.process.terminate()
        self.process.join()
        return self.process.exitcode


class _Pool:
    def __init__(self, parcel: bytes, workers: int) -> None:
        self.parcel = parcel
        self.workers = [_Worker(parcel) for _ in range(workers)]
        self.ready: set[_Worker] = set()

    def await_ready(self) -> None:
        """Wait for the first worker: what keeps it from playing would keep all."""
        speaking = wait([worker.pipe for worker in self.workers])
        first = next(worker for worker in self.workers if worker.pipe in speaking)
        if first.hear() is None:
            raise _stillborn(first)
        self.ready.add(first)

    def play(self, jobs: Iterable[Job]) -> Generator[Episode, None, None]:
        waiting = (_Try(Job(*job)) for job in jobs)
        again: deque[_Try] = deque()
        while True:
            for worker in self.workers:
                while len(worker.given) < AHEAD and (one := again.popleft() if again else next(waiting, None)):
                    worker.give(one)
            busy = [worker for worker in self.workers if worker.given]
            if not busy:
                return
            speaking = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe not in speaking:
                    continue
                said = worker.hear()
                if said is None:
                    dead = self.bury(worker, again)
                    if dead:
                        yield dead
                elif said[0] == "ready":
                    self.ready.add(worker)
                else:
                    worker.given.popleft()
                    yield said[1]

    def bury(self, worker: _Worker, again: deque[_Try]) -> Episode | None:
        """Replace a dead worker, and play again what it was given, but for a job that so many died of."""
        if worker not in self.ready:
            raise _stillborn(worker)
        exitcode = worker.end()
        self.workers[self.workers.index(worker)] = _Worker(self.parcel)
        under_way, *rest = worker.given
        under_way.deaths += 1
        again.extend(rest)
        if under_way.deaths < MAX_DEATHS:
            again.append(under_way)
            return None
        return lost(under_way.job, f"{MAX_DEATHS} workers died of it, the last with exit code {exitcode}")

    def close(self) -> None:
        for worker in self.workers:
            worker.end()


def _stillborn(worker: _Worker) -> BackendError:
    return BackendError(
        f"a worker ended before it could play, with exit code {worker.end()}: "
        'see what it printed, and keep what a script does behind if __name__ == "__main__"'
    )


def _work(pipe: Connection, parcel: bytes) -> None:
    """Play what comes through the pipe until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupted run ends its workers by itself
    with suppress(EOFError, OSError):
        try:
            stage = Stage(pickle.loads(parcel))  # noqa: S301
        except Exception as error:  # whatever an agent, a model or an environment raises when it is made
            pipe.send(("failed", f"{type(error).__name__}: {error}"))
            return
        pipe.send(("ready", None))
        for episode in stage.play(iter(pipe.recv, None)):
            _send(pipe, episode)


def _send(pipe: Connection, episode: Episode) -> None:
    try:
        pipe.send(("episode", episode))
    except OSError:
        raise
    except Exception as error:  # an agent may have left anything in its trace
        pipe.send(("episode", lost(Job(episode.task, episode.seed), f"it cannot be sent: {error}")))
