"""Many episodes in one loop, whose model calls go out together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing

import gymnasium as gym

from textcraft_gym.agents.contract.agent import AgentLike, Reading
from textcraft_gym.agents.registry import as_agent
from textcraft_gym.episodes.budget import Budget
from textcraft_gym.episodes.episode import (
    DEFAULT_MAX_CALLS,
    Episode,
    EpisodeRunner,
    Job,
    Models,
    OnRequest,
    as_job,
)
from textcraft_gym.episodes.episode_limits import NO_LIMITS, EpisodeLimits
from textcraft_gym.episodes.model_calls import DEFAULT_THREADS, ModelCall, ModelCalls
from textcraft_gym.episodes.step_limit import step_budget
from textcraft_gym.errors import RunStopped, sequence


def run_episodes(
    envs: Sequence[gym.Env[str, str]],
    agent: AgentLike,
    jobs: Iterable[Job | tuple[str | None, int]],
    *,
    max_steps: int | None = None,
    model: Models = None,
    max_calls: int = DEFAULT_MAX_CALLS,
    won_at: float | None = None,
    temperature: float = 0.0,
    reading: Reading = "lenient",
    limits: EpisodeLimits = NO_LIMITS,
    budget: Budget | None = None,
    on_request: OnRequest = lambda request, episode: None,
) -> Generator[Episode, None, None]:
    """Play many episodes, one per environment at a time, and yield each as it ends.

    Environments and agent run in this thread. Model calls, and an agent that is a function or has
    ``act`` only, run in other threads, for all episodes at once. The result of an episode does not
    depend on the others. An episode that raises is yielded with its ``error``.

    Args:
        envs: Environments of one kind, one for each concurrent episode.
        agent: As in ``run_episode``. An agent with ``episode`` is one for all.
        jobs: A task (None to have the seed draw one) and a seed for each episode, or a ``Job``.
        max_steps: As in ``run_episode``, for each episode.
        model: As in ``run_episode``; it is asked from other threads if there are many environments.
        max_calls: As in ``run_episode``, for each episode.
        won_at: As in ``run_episode``.
        temperature: As in ``run_episode``.
        reading: As in ``run_episode``.
        limits: What each episode may take. One that reaches a limit is lost by it
            (``Episode.limit``). Its time is checked at each request of the agent, and ends the wait
            for a model; what the model still answers is not counted.
        budget: What all episodes together may be answered by models, which is counted in it, and
            how long they may take; None for no limit. Once it is spent no episode begins, and one
            under way ends with the error ``RunStopped`` where it asks a model, or waits for one.
        on_request: As in ``run_episode``, for each episode.
    """
    sequence("envs", "environments", envs)
    if not envs:
        raise ValueError("expected one environment or more")
    player = as_agent(agent, at_once=len(envs))
    limit = step_budget(envs[0], player, max_steps)

    def begin(env: gym.Env[str, str], job: Job) -> EpisodeRunner:
        return EpisodeRunner(
            env,
            player,
            job,
            model,
            limit,
            max_calls,
            won_at=won_at,
            temperature=temperature,
            on_request=on_request,
            reading=reading,
            limits=limits,
        )

    with closing(run_jobs(envs, begin, map(as_job, jobs), budget)) as ended:
        for runner in ended:
            yield runner.episode


def run_jobs(
    envs: Sequence[gym.Env[str, str]],
    begin: Callable[[gym.Env[str, str], Job], EpisodeRunner],
    jobs: Iterable[Job],
    budget: Budget | None = None,
    on_interrupt: Callable[[EpisodeRunner], None] = lambda runner: None,
) -> Generator[EpisodeRunner, None, None]:
    """Play many episodes as ``run_episodes`` does, and yield the runner of each as it ends.

    Args:
        envs: As in ``run_episodes``.
        begin: Begins an episode.
        jobs: The episodes.
        budget: As in ``run_episodes``.
        on_interrupt: Called with each episode that is under way when the generator is closed, or
            broken by an interrupt; it ends with the error ``RunStopped``.
    """
    budget = budget or Budget()
    idle = list(envs)
    waiting = iter(jobs)
    playing: list[EpisodeRunner] = []
    waiting_for: dict[ModelCall, EpisodeRunner] = {}
    with closing(ModelCalls(max(len(envs), DEFAULT_THREADS))) as threads:
        try:
            while True:
                if idle and not budget.reached and (job := next(waiting, None)):
                    runner = begin(idle.pop(), job)
                    playing.append(runner)
                    call = _advance(runner, budget, None)
                elif waiting_for:
                    answered = threads.receive()
                    runner = waiting_for.pop(answered)
                    call = _advance(runner, budget, answered)
                else:
                    return

                # With one environment there is nothing to overlap: calls are answered in this
                # thread, which is faster.
                while call and len(envs) == 1:
                    threads.answer(call)
                    call = _advance(runner, budget, call)
                if call:
                    threads.send(call)
                    waiting_for[call] = runner
                else:
                    idle.append(runner.env)
                    playing.remove(runner)
                    yield runner
        finally:
            for runner in playing:
                runner.close()
                on_interrupt(runner)


def _advance(
    runner: EpisodeRunner,
    budget: Budget,
    answered: ModelCall | None,
) -> ModelCall | None:
    """Play an episode until its next model call; once the budget is spent, none may go out.

    Args:
        runner: The episode.
        budget: What may be spent.
        answered: The call that it waited for, if any.
    """
    if answered and not answered.answered:
        # Out of time: the run's, or the episode's own.
        is_of_run = answered.deadline == budget.deadline
        answered.refuse(_stopped(budget) if is_of_run else runner.limits.out_of_time())

    cost_before, tokens_before = _spent(runner.episode)
    call = runner.advance()
    cost, tokens = _spent(runner.episode)
    budget.spend(cost - cost_before, tokens - tokens_before)
    if call is None:
        return None
    if budget.reached:
        call.refuse(_stopped(budget))
        return runner.advance()
    if budget.deadline is not None:
        call.deadline = min(budget.deadline, call.deadline or budget.deadline)
    return call


def _stopped(budget: Budget) -> RunStopped:
    return RunStopped(budget.state, at_limit=True)


def _spent(episode: Episode) -> tuple[float, int]:
    return episode.cost, sum(episode.tokens.values())
