"""Plays the episodes of a run in one process."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from functools import partial
from warnings import warn

import gymnasium as gym

from textcraft_gym.agents.registry import as_agent
from textcraft_gym.episodes.budget import Budget
from textcraft_gym.episodes.episode import EpisodeRunner, Job
from textcraft_gym.episodes.schedule import run_jobs
from textcraft_gym.episodes.step_limit import step_budget
from textcraft_gym.reports.calls import lines_of
from textcraft_gym.runs.backends.backend import Played
from textcraft_gym.runs.run import OnInterrupt, OnRequest, Run


class Worker:
    """The agent, models and environments of a run, for many episodes of this process.

    Args:
        run: The run.
        envs: Episodes under way at once.
        budget: What the models may be asked for; None for no limit.
    """

    def __init__(
        self,
        run: Run,
        envs: int = 1,
        budget: Budget | None = None,
    ) -> None:
        self.spec = run.spec
        self.budget = budget
        self.agent = as_agent(run.agent, at_once=envs)
        self.models = run.spec.make_models()
        self.envs = run.envs(envs)
        self.max_steps = step_budget(run.env, self.agent, self.spec.max_steps)

    def run(
        self,
        jobs: Iterable[Job],
        on_request: OnRequest = lambda job, request, episode: None,
        on_interrupt: OnInterrupt = lambda job, episode, calls: None,
    ) -> Generator[Played, None, None]:
        """Play jobs, and yield each with its episode as this ends; see ``run_episodes``."""
        spec = self.spec

        def begin(env: gym.Env[str, str], job: Job) -> EpisodeRunner:
            return EpisodeRunner(
                env,
                self.agent,
                job,
                self.models,
                self.max_steps,
                spec.max_calls,
                won_at=spec.won_at,
                temperature=spec.temperature,
                on_request=partial(on_request, job),
                reading=spec.reading,
                limits=spec.episode_limits,
                keeps_calls=spec.calls,
            )

        with closing(
            run_jobs(
                self.envs,
                begin,
                jobs,
                self.budget,
                on_interrupt=lambda runner: on_interrupt(*_played(runner)),
            )
        ) as ended:
            yield from map(_played, ended)


def _played(runner: EpisodeRunner) -> Played:
    return Played(runner.job, runner.episode, _calls_of(runner))


def _calls_of(runner: EpisodeRunner) -> str:
    """Return the calls of an episode as lines; none if they cannot be written."""
    try:
        return lines_of(runner.calls)
    except (TypeError, ValueError, RecursionError) as error:  # a user's model may answer anything
        warn(f"the calls of an episode cannot be written: {error}", stacklevel=2)
        return ""
