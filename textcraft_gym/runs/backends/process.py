"""Episodes in worker processes: for environments, agents or models that are CPU-bound."""

from __future__ import annotations

import math
import os
import pickle
import signal
import time
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any, Literal, TypeAlias
from warnings import warn

from textcraft_gym.agents.contract.agent import Node, Request
from textcraft_gym.episodes.budget import Budget
from textcraft_gym.episodes.episode import INTERRUPTED, TOKENS, Episode, Job
from textcraft_gym.errors import RunStopped
from textcraft_gym.runs.backends.backend import (
    GRACE_SECONDS,
    MAX_DEATHS,
    BackendError,
    Played,
    PlayJobs,
    failed_episode,
)
from textcraft_gym.runs.backends.worker import Worker
from textcraft_gym.runs.run import OnInterrupt, Run
from textcraft_gym.runs.run_spec import RunSpec

AHEAD = 2
"""Jobs sent to a worker at a time: the one it plays, and the next, so that it never waits."""

Message: TypeAlias = tuple[Literal["ready", "failed", "episode"], Any]


class ProcessBackend:
    """Plays in one new process per worker, one episode at a time in each.

    A process that dies is replaced and its episode played again; so is one that does not end its
    episode within ``episode_seconds``, which loses the episode. A script that uses this backend
    needs an ``if __name__ == "__main__"`` guard, since each process imports it.
    """

    @contextmanager
    def open(self, run: Run) -> Iterator[PlayJobs]:
        """See ``Backend``."""
        run.close()  # each process makes an environment of its own
        spec = run.spec
        try:
            # In a worker the episodes are played by its own loop, not by further workers.
            pickled_spec = pickle.dumps(replace(spec, backend="loop"))
        except Exception as error:  # pickling a user's object may raise anything
            raise BackendError(
                f"this agent or model cannot be sent to another process ({error}): "
                "name it as module:Class"
            ) from error
        pool = _Pool(spec, pickled_spec)
        try:
            pool.start(spec.worker_count)
            pool.await_ready()
            yield partial(pool.play, on_interrupt=run.on_interrupt)
        finally:
            pool.close()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold back ctrl-C and SIGTERM while a process starts, which inherits that.

    They may be sent to all processes of a terminal or a service. A worker would die of them in the
    middle of its imports, and be taken for one that cannot start, before this process has heard
    that the run is to end.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Meter:
    """What a worker has spent on the episode that it plays, in memory that outlives it.

    Args:
        memory: Shared numbers: the cost, and the tokens of each kind.
    """

    def __init__(self, memory: Any) -> None:
        self.memory = memory

    def show(
        self,
        job: Job,
        request: Request,
        episode: Episode,
    ) -> None:
        """Show what an episode has taken up to a request."""
        self.memory[:] = episode.cost, *(episode.tokens.get(kind, 0) for kind in TOKENS)

    def reset(self) -> None:
        """Begin an episode."""
        self.memory[:] = (0.0,) * len(self.memory)

    def read(self) -> tuple[float, Counter[str]]:
        """Return the cost, and the tokens by kind."""
        cost, *tokens = self.memory
        return cost, Counter(dict(zip(TOKENS, map(int, tokens), strict=True)))


@dataclass
class _Attempt:
    """A job, the number of workers that died playing it, and what they had spent on it."""

    job: Job
    deaths: int = 0
    cost: float = 0.0
    tokens: Counter[str] = field(default_factory=Counter)

    def charge(self, meter: _Meter) -> None:
        """Add what a worker had spent when it died."""
        cost, tokens = meter.read()
        self.cost += cost
        self.tokens += tokens

    def failed(self, why: str) -> Played:
        return Played(self.job, failed_episode(self.job, why, self.cost, self.tokens))

    def out_of_time(self, why: str) -> Played:
        """Return an episode lost by its limit of time; what it played went with its process."""
        trace = Node(
            self.job.task or "",
            "agent",
            0,
            tokens=self.tokens.total(),
            parts=[why],
        )
        lost = Episode(
            *self.job,
            cost=self.cost,
            tokens=dict(self.tokens),
            stop_reason="limit",
            limit="seconds",
            trace=trace,
        )
        return Played(self.job, lost)


class _WorkerProcess:
    """A worker process, the pipe to it, and the attempts that it was given, in order.

    Attributes:
        began: When it began the first of them, at the latest, by ``time.monotonic``; infinite if it
            did not.
    """

    def __init__(self, pickled_spec: bytes) -> None:
        # Spawned, not forked: a fork is unsafe in a process with threads, and not available on
        # every system.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.given: deque[_Attempt] = deque()
        self.is_ready = False
        self.began = math.inf
        self.meter = _Meter(context.RawArray("d", 1 + len(TOKENS)))
        self.process = context.Process(
            target=_work,
            args=(theirs, pickled_spec, self.meter),
            daemon=True,
        )
        try:
            with _signals_held():
                self.process.start()
        finally:
            theirs.close()

    def give(self, attempt: _Attempt) -> None:
        if self.is_ready and not self.given:
            self.began = time.monotonic()
        self.given.append(attempt)
        with suppress(OSError):  # it died; its attempts are found again when its pipe is read
            self.pipe.send(attempt.job)

    def receive(self) -> Played | None:
        """Return the job and the episode of its next message, None if it only became ready.

        Raises:
            EOFError, OSError: If it is dead.
            BackendError: If it could not start.
        """
        message: Message = self.pipe.recv()
        kind, content = message
        if kind == "failed":
            raise BackendError(f"a worker could not start: {content}")
        self.began = time.monotonic()
        if kind == "ready":
            self.is_ready = True
            return None
        return Played(self.given.popleft().job, *content)

    def end(self) -> int | None:
        """End it and return its exit code."""
        self.pipe.close()
        self.process.kill()
        self.process.join()
        return self.process.exitcode


class _Pool:
    def __init__(self, spec: RunSpec, pickled_spec: bytes) -> None:
        self.pickled_spec = pickled_spec
        self.limit = spec.episode_limits
        self.patience = math.inf
        if spec.episode_seconds is not None:
            self.patience = spec.episode_seconds + GRACE_SECONDS
        self.budget = Budget(max_seconds=spec.max_seconds)
        self.workers: list[_WorkerProcess] = []

    def start(self, workers: int) -> None:
        """Start as many workers as are wanted, or fewer where the system has no room for them."""
        for _ in range(workers):
            try:
                self.workers.append(_WorkerProcess(self.pickled_spec))
            except OSError as error:
                if not self.workers:
                    raise BackendError(f"no worker can be started: {error}") from error
                started = len(self.workers)
                warn(f"only {started} of {workers} workers started: {error}", stacklevel=2)
                return

    def await_ready(self) -> None:
        """Wait for the first worker: an error that stops it would stop all."""
        readable = wait([worker.pipe for worker in self.workers], timeout=self.budget.seconds_left)
        for worker in self.workers:
            if worker.pipe in readable:
                try:
                    worker.receive()
                except (EOFError, OSError):
                    raise _startup_error(worker) from None
                return

    def play(
        self,
        jobs: Iterable[Job],
        on_interrupt: OnInterrupt,
    ) -> Generator[Played, None, None]:
        try:
            yield from self.play_jobs(jobs)
        finally:
            for played in self.stop(INTERRUPTED):
                on_interrupt(*played)

    def play_jobs(self, jobs: Iterable[Job]) -> Iterator[Played]:
        waiting = map(_Attempt, jobs)
        again: deque[_Attempt] = deque()
        while busy := self.give_jobs(waiting, again):
            readable = wait([worker.pipe for worker in busy], timeout=self.seconds_left(busy))
            for worker in busy:
                if worker.pipe in readable and (played := self.receive(worker, again)):
                    yield played
            if self.budget.reached:
                yield from self.stop(self.budget.state)
                return
            for worker in busy:
                # The caller may have come back long after the worker ended the episode.
                if worker.began + self.patience <= time.monotonic() and not worker.pipe.poll():
                    yield self.give_up(worker, again)

    def seconds_left(self, busy: Iterable[_WorkerProcess]) -> float | None:
        """Return the seconds until an episode or the run must end; None without a limit."""
        ends = [worker.began + self.patience for worker in busy]
        if self.budget.deadline is not None:
            ends.append(self.budget.deadline)
        end = min(ends)
        return None if math.isinf(end) else max(0.0, end - time.monotonic())

    def give_jobs(
        self,
        waiting: Iterator[_Attempt],
        again: deque[_Attempt],
    ) -> list[_WorkerProcess]:
        """Give each worker jobs, those to repeat first; return the workers that have one."""
        for worker in self.workers:
            while len(worker.given) < AHEAD:
                attempt = again.popleft() if again else next(waiting, None)
                if attempt is None:
                    break
                worker.give(attempt)
        return [worker for worker in self.workers if worker.given]

    def receive(
        self,
        worker: _WorkerProcess,
        again: deque[_Attempt],
    ) -> Played | None:
        """Handle the next message of a worker, or its death; return the episode that this ends."""
        try:
            return worker.receive()
        except (EOFError, OSError):
            pass
        # What ends a worker at its start would end each that replaces it.
        if not worker.is_ready:
            raise _startup_error(worker)
        current, exitcode = self.replace(worker, again)
        current.deaths += 1
        if current.deaths < MAX_DEATHS:
            again.append(current)
            return None
        return current.failed(
            f"{MAX_DEATHS} workers died playing it, the last with exit code {exitcode}"
        )

    def give_up(self, worker: _WorkerProcess, again: deque[_Attempt]) -> Played:
        """End a worker that is out of time, and return what is known of its episode."""
        current, _ = self.replace(worker, again)
        return current.out_of_time(
            f"{self.limit.out_of_time()} and {GRACE_SECONDS:g} more; its process was killed"
        )

    def replace(
        self,
        worker: _WorkerProcess,
        again: deque[_Attempt],
    ) -> tuple[_Attempt, int | None]:
        """Replace a worker; return what it was playing, and its exit code."""
        exitcode = worker.end()
        self.workers[self.workers.index(worker)] = _WorkerProcess(self.pickled_spec)
        # Only the job it was playing can have been its end; the next one in its queue is innocent.
        current, *rest = worker.given
        again.extend(rest)
        current.charge(worker.meter)
        return current, exitcode

    def stop(self, why: str) -> Iterator[Played]:
        """End all workers before their episodes have ended.

        Yields the episodes that they ended in time, and those that they did not.
        """
        for worker in self.workers:
            with suppress(EOFError, OSError):
                while worker.given and worker.pipe.poll():
                    if played := worker.receive():
                        yield played
            worker.end()
            if worker.given:
                current = worker.given[0]
                worker.given.clear()
                current.charge(worker.meter)
                yield current.failed(f"{RunStopped.__name__}: {why}")

    def close(self) -> None:
        for worker in self.workers:
            worker.end()


def _startup_error(worker: _WorkerProcess) -> BackendError:
    return BackendError(
        f"a worker exited before it could play, with exit code {worker.end()}: "
        'see its output, and guard a script\'s code with if __name__ == "__main__"'
    )


class _Unpickler(pickle.Unpickler):
    """Says how to send what is defined where another process cannot import it."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return super().find_class(module, name)
        except AttributeError as error:
            if module != "__main__":
                raise
            # A notebook or a prompt has no file that another process could import.
            advice = "put it into a module, and import it from there"
            raise AttributeError(f"{error}; {advice}") from error


def _work(pipe: Connection, pickled_spec: bytes, meter: _Meter) -> None:
    """Play the jobs that come through the pipe until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupted run ends its workers by itself
    # It was held back while the process started; see ``_signals_held``.
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        try:
            worker = Worker(Run(_Unpickler(BytesIO(pickled_spec)).load()))
        except Exception as error:  # a user's agent, model or world may raise anything
            pipe.send(("failed", f"{type(error).__name__}: {error}"))
            return
        pipe.send(("ready", None))
        for played in worker.run(_jobs(pipe, meter), meter.show):
            _send(pipe, *played)


def _end_with_parent() -> None:
    """End this process with its parent: nobody would read what its models are paid for."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        # Not sys.exit, which would end this thread alone.
        os._exit(1)


def _jobs(pipe: Connection, meter: _Meter) -> Iterator[Job]:
    """Yield the jobs that come through a pipe."""
    while True:
        job = pipe.recv()
        meter.reset()
        yield job


def _send(
    pipe: Connection,
    job: Job,
    episode: Episode,
    calls: str,
) -> None:
    try:
        pipe.send(("episode", (episode, calls)))
    except OSError:
        raise
    except Exception as error:  # an agent may have left anything in its trace
        why = f"the episode cannot be sent: {error}"
        failed = failed_episode(job, why, episode.cost, episode.tokens)
        pipe.send(("episode", (failed, calls)))
