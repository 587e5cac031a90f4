"""Episodes for training: played by a backend, and yielded as they end."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import replace
from itertools import takewhile

from textcraft_gym.episodes.episode import Episode, Job, as_job
from textcraft_gym.runs.backends import make_backend
from textcraft_gym.runs.backends.backend import Played
from textcraft_gym.runs.run import Run
from textcraft_gym.runs.run_budget import budget_of
from textcraft_gym.runs.run_spec import RunSpec


def rollouts(
    spec: RunSpec,
    jobs: Iterable[Job | tuple[str | None, int]],
) -> Generator[Episode, None, None]:
    """Play episodes and yield each as it ends, in no particular order.

    Closing the generator ends the work. It ends by itself once ``max_cost``, ``max_tokens_total``
    or ``max_seconds`` of the spec is reached.

    Args:
        spec: The run; its ``seed``, ``limit`` and ``repeats`` are ignored. An agent that is given
            as an object is copied to other processes.
        jobs: A task (None to have the seed draw one) and a seed for each episode, or a ``Job``; may
            be infinite.

    Raises:
        BackendError: If no workers can be started.
        UnknownName: For an unknown agent, environment, wrapper, backend or argument of these.
        ModelError: If a model cannot be made in this process.
    """
    backend = make_backend(spec.backend) if isinstance(spec.backend, str) else spec.backend
    budget = budget_of(spec)
    affordable = takewhile(lambda job: not budget.reached, map(as_job, jobs))
    with (
        closing(Run(replace(spec, calls=False))) as run,
        backend.open(run) as play,
        closing(play(affordable)) as played,
    ):
        for ended in played:
            episode = Played(*ended).episode
            budget.spend(episode.cost, sum(episode.tokens.values()))
            yield episode
