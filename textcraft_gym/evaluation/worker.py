"""What the episodes of a run have in common, and what plays them in one process."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym

from textcraft_gym.agents.contract.agent import Agent, Model, Policy
from textcraft_gym.agents.games import PROFILES
from textcraft_gym.agents.models.spec import make_model
from textcraft_gym.agents.prompts import PromptError, Prompts
from textcraft_gym.agents.registry import make_agent
from textcraft_gym.errors import UnknownName
from textcraft_gym.evaluation.episode import DEFAULT_MAX_CALLS, Episode
from textcraft_gym.evaluation.schedule import run_episodes
from textcraft_gym.registration import TABLE, make


@dataclass(frozen=True)
class Setup:
    """What the episodes of a run have in common: a value from which any process makes what plays them.

    Attributes:
        env: An id of the table.
        agent: A name that ``make_agent`` knows, or an agent as it stands.
        env_args: Arguments of ``gym.make``, the split among them; they go before those that the agent needs.
        agent_args: Arguments of a named agent.
        prompts: A folder whose prompts replace the bundled ones.
        models: What answers for each role, as ``make_model`` takes it or a model as it stands.
        cassette: A file that holds the named models' answers and records new ones.
        replay_only: Take answers from the cassette alone.
        max_steps, max_calls: As in ``run_episodes``.
    """

    env: str
    agent: str | Agent | Policy
    env_args: Mapping[str, Any] = field(default_factory=dict)
    agent_args: Mapping[str, Any] = field(default_factory=dict)
    prompts: str | None = None
    models: Mapping[str, str | Model] = field(default_factory=dict)
    cassette: str | Path | None = None
    replay_only: bool = False
    max_steps: int | None = None
    max_calls: int = DEFAULT_MAX_CALLS

    def make_agent(self, prompts: Prompts | None = None) -> Agent | Policy:
        """Return the agent, which reads its texts from ``prompts``, by default those of the folder.

        Raises:
            UnknownName: For an environment, an agent or an argument of it that does not exist.
            PromptError: If the folder cannot be read or replaces nothing.
        """
        if self.env not in TABLE:
            raise UnknownName("environment", self.env, list(TABLE))
        if not isinstance(self.agent, str):
            return self.agent
        prompts = prompts or Prompts(self.prompts)
        profile = PROFILES[TABLE[self.env].profile]
        player = make_agent(self.agent, profile=profile, prompts=prompts, args=self.agent_args)
        if self.prompts and not prompts.replaced:
            raise PromptError(f"{self.prompts} holds no prompt of {self.agent}, which reads {list(prompts.read)}")
        return player

    def make_env(self, player: Agent | Policy) -> gym.Env[str, str]:
        """Return an environment with all that the agent needs of it.

        Raises:
            UnknownName: For a split or an argument that does not exist.
        """
        return make(self.env, **{**getattr(player, "env_args", {}), **self.env_args})

    def make_models(self) -> dict[str, Model]:
        """Return the model of each role.

        Raises:
            ModelError: If one cannot be had.
        """
        return {
            role: make_model(one, cassette=self.cassette, replay_only=self.replay_only) if isinstance(one, str) else one
            for role, one in self.models.items()
        }


class Stage:
    """The agent, its models and environments of a setup, made once for many episodes of this process.

    Args:
        setup: What to make.
        envs: How many episodes are under way at once.
    """

    def __init__(self, setup: Setup, envs: int = 1) -> None:
        self.setup = setup
        self.agent = setup.make_agent()
        self.models = setup.make_models()
        self.envs = [setup.make_env(self.agent) for _ in range(envs)]

    def play(self, jobs: Iterable[tuple[str | None, int]]) -> Generator[Episode, None, None]:
        """Play episodes and yield each as it ends."""
        return run_episodes(
            self.envs,
            self.agent,
            jobs,
            max_steps=self.setup.max_steps,
            model=self.models,
            max_calls=self.setup.max_calls,
        )

    def close(self) -> None:
        """Close the environments."""
        for env in self.envs:
            env.close()
