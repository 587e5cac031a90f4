"""Plays the episodes of a run in one process."""

from __future__ import annotations

from collections.abc import Generator, Iterable

from textcraft_gym.episodes.budget import Budget
from textcraft_gym.episodes.episode import Episode, Job, OnRequest
from textcraft_gym.episodes.schedule import run_episodes
from textcraft_gym.runs.run import Run


class Worker:
    """The agent, models and environments of a run, for many episodes of this process.

    Args:
        run: The run.
        envs: Episodes under way at once.
        budget: What the models may be asked for; None for no limit.
    """

    def __init__(self, run: Run, envs: int = 1, budget: Budget | None = None) -> None:
        self.spec = run.spec
        self.budget = budget
        self.agent = run.agent
        self.models = run.spec.make_models()
        self.envs = run.envs(envs)

    def run(
        self,
        jobs: Iterable[Job | tuple[str | None, int]],
        on_request: OnRequest = lambda request, episode: None,
    ) -> Generator[Episode, None, None]:
        """Play episodes and yield each as it ends; see ``run_episodes``."""
        return run_episodes(
            self.envs,
            self.agent,
            jobs,
            max_steps=self.spec.max_steps,
            model=self.models,
            max_calls=self.spec.max_calls,
            won_at=self.spec.won_at,
            temperature=self.spec.temperature,
            reading=self.spec.reading,
            limits=self.spec.episode_limits,
            budget=self.budget,
            on_request=on_request,
        )
