"""Episodes for trainers: played wherever a backend plays them, and yielded as they end."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from typing import Any

from textcraft_gym.agents.contract.agent import Agent, Model, Policy
from textcraft_gym.evaluation.backends import Backend, make_backend
from textcraft_gym.evaluation.episode import DEFAULT_MAX_CALLS, Episode, Job
from textcraft_gym.evaluation.worker import Setup


def rollouts(
    env_id: str,
    agent: str | Agent | Policy,
    jobs: Iterable[tuple[str | None, int]],
    *,
    split: str | None = None,
    env_args: Mapping[str, Any] | None = None,
    agent_args: Mapping[str, Any] | None = None,
    model: str | Model | Mapping[str, str | Model] | None = None,
    backend: str | Backend = "loop",
    workers: int = 1,
    max_steps: int | None = None,
    max_calls: int = DEFAULT_MAX_CALLS,
) -> Generator[Episode, None, None]:
    """Play episodes and yield each as it ends, in no order that can be relied on. Leaving the generator ends the work.

    Args:
        env_id: An id of the table.
        agent: A name that ``make_agent`` knows, or an agent. Beyond this process it is a copy that plays.
        jobs: A task (None for what the seed draws) and a seed for each episode; they may go on for ever.
        split: What seeds draw from, by default what the environment plays.
        env_args: Further arguments of ``gym.make``.
        agent_args: Arguments of a named agent.
        model: What answers the agent's questions, or one for each role; each as ``make_model`` takes it, or a model.
        backend: A name of ``BACKENDS``, or a backend.
        workers: How many episodes are under way at once; on Ray, how many tasks of some episodes each.
        max_steps: As in ``run_episode``.
        max_calls: As in ``run_episode``.

    Raises:
        BackendError: If there can be no workers.
        UnknownName: For an unknown agent, environment, backend or argument of these.
        ModelError: If a model cannot be had in this process.
    """
    if workers < 1:
        raise ValueError(f"expected workers of 1 or more, got {workers}")
    models = model if isinstance(model, Mapping) else {} if model is None else {"executor": model}
    setup = Setup(
        env_id,
        agent,
        env_args={**(env_args or {}), **({} if split is None else {"split": split})},
        agent_args=agent_args or {},
        models=models,
        max_steps=max_steps,
        max_calls=max_calls,
    )
    chosen = make_backend(backend) if isinstance(backend, str) else backend
    with chosen.open(setup, workers) as play, closing(play(Job(*job) for job in jobs)) as episodes:
        yield from episodes
