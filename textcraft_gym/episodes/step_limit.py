"""The maximum number of actions of an episode: the loop's budget, and ``gym.make``'s limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
from gymnasium.wrappers import TimeLimit

from textcraft_gym.agents.contract.agent import Agent
from textcraft_gym.errors import at_least
from textcraft_gym.registration import check_is_env

DEFAULT_MAX_STEPS = 100


def registered_limit(env: gym.Env[Any, Any]) -> int:
    """Return the step limit registered for the environment's id, even if ``gym.make`` lifted it."""
    registered = gym.registry.get(env.spec.id) if env.spec else None
    return (registered and registered.max_episode_steps) or DEFAULT_MAX_STEPS


def step_budget(
    env: gym.Env[str, str],
    agent: Agent,
    max_steps: int | None = None,
) -> int:
    """Return the maximum number of actions: as given, as the agent declares, or as registered.

    Raises:
        ValueError: If it is not a whole number of 1 or more, or the environment is none.
    """
    check_is_env(env)
    limit = max_steps
    if limit is None:
        limit = getattr(agent, "max_steps", None)
    if limit is None:
        limit = registered_limit(env)
    at_least("max_steps", limit, 1)
    return int(limit)


@contextmanager
def without_registered_limit(env: gym.Env[str, str]) -> Iterator[gym.Env[str, str]]:
    """Lift the step limit that ``gym.make`` adds by itself, since the loop enforces its own budget.

    So an agent that declares a larger budget than the registered limit gets it in an environment of
    ``gym.make``, as in an evaluation. A limit that the caller chose,
    ``gym.make(id, max_episode_steps=20)``, stays.
    """
    outer: Any = None
    layer: Any = env
    while isinstance(layer, gym.Wrapper) and not isinstance(layer, TimeLimit):
        outer, layer = layer, layer.env
    if not isinstance(layer, TimeLimit) or not _is_registered(layer):
        yield env
    elif outer is None:
        yield layer.env
    else:
        # The wrapper outside the limit skips it for the length of the episode, and the env keeps
        # its other wrappers.
        outer.env = layer.env
        try:
            yield env
        finally:
            outer.env = layer


def _is_registered(limit: TimeLimit[Any, Any]) -> bool:
    spec = limit.spec
    registered = gym.registry.get(spec.id) if spec else None
    return bool(spec and registered and spec.max_episode_steps == registered.max_episode_steps)
