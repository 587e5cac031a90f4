"""Episodes for trainers: played wherever a backend plays them, and yielded as they end."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing

from textcraft_gym.evaluation.backends import make_backend
from textcraft_gym.evaluation.episode import Episode, Job
from textcraft_gym.evaluation.run_spec import RunSpec


def rollouts(spec: RunSpec, jobs: Iterable[tuple[str | None, int]]) -> Generator[Episode, None, None]:
    """Play episodes and yield each as it ends, in no particular order. Closing the generator ends the work.

    Args:
        spec: What plays, and where; its ``seed`` and ``limit`` do not count here. An agent that is an object is copied
            to other processes.
        jobs: A task (None for what the seed draws) and a seed for each episode; may be endless.

    Raises:
        BackendError: If there can be no workers.
        UnknownName: For an unknown agent, environment, wrapper, backend or argument of these.
        ModelError: If a model cannot be had in this process.
    """
    backend = make_backend(spec.backend) if isinstance(spec.backend, str) else spec.backend
    with backend.open(spec) as play, closing(play(Job(*job) for job in jobs)) as episodes:
        yield from episodes
