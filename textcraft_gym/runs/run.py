"""A run in this process: its spec, and what is made for it once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import gymnasium as gym

from textcraft_gym.agents.contract.agent import Agent, Request
from textcraft_gym.agents.contract.game_profile import GameProfile
from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.prompts import PromptError, Prompts
from textcraft_gym.agents.registry import as_agent, find_agent, plays_only
from textcraft_gym.episodes.episode import Episode, Job
from textcraft_gym.registration import check_is_text, find
from textcraft_gym.runs.run_spec import RunSpec, name_of
from textcraft_gym.wrappers.registry import make_wrapper

OnRequest: TypeAlias = Callable[[Job, Request, Episode], None]
"""Called with a job, each request of its agent before it is answered, and the episode so far."""
OnInterrupt: TypeAlias = Callable[[Job, Episode, str], None]
"""Called with the fields of ``Played`` of an episode under way when its run is interrupted."""


class Run:
    """A run: its world at once; its prompts, agent and environments when first asked for.

    Args:
        spec: The options.

    Attributes:
        spec: The options, with the split that the environment plays where none was named, and what
            servers say of their models.
        world: The environment's entry in the registry.
        on_request: Called with each request of an episode, by backends that play in this process.
        on_interrupt: Called with each episode that is under way when the run is interrupted, by
            backends that know what it took.

    Raises:
        UnknownName: For an environment that is not registered.
        ValueError: If the spec is none.
    """

    def __init__(self, spec: RunSpec) -> None:
        if not isinstance(spec, RunSpec):
            raise ValueError(f"expected a RunSpec, got {spec!r}")
        spec.register_secrets()  # of this process, which the spec may have been sent to
        self.world = find(spec.env)
        spec = spec.as_served()
        if not spec.split:
            spec = replace(spec, split=self.world.default_split(spec.env_args))
        self.spec = spec
        self.on_request: OnRequest = lambda job, request, episode: None
        self.on_interrupt: OnInterrupt = lambda job, episode, calls: None
        self._envs: list[gym.Env[str, str]] = []

    @cached_property
    def profile(self) -> GameProfile:
        """What agents know of the game."""
        return load_profile(self.world.profile)

    @cached_property
    def prompts(self) -> Prompts:
        """The source of prompts, in the dialect of the environment where it has dialects.

        Raises:
            PromptError: If there is no such set or folder.
        """
        return Prompts(self.spec.prompt_source, self.world.dialect(self.spec.env_args))

    @cached_property
    def agent(self) -> Agent:
        """The agent, which has read its prompts.

        Raises:
            UnknownName: For an agent or an argument of it that does not exist.
            ValueError: If it is no agent, cannot be made, or plays other games only.
            PromptError: If a prompt cannot be read, or the folder of prompts replaces none.
        """
        named, name, args = self.spec.agent, "", self.spec.full_agent_args
        if isinstance(named, str):
            named, name = find_agent(named), named
        if reason := plays_only(named, self.profile):
            raise ValueError(f"{name_of(self.spec.agent)} does not play {self.world.id}: {reason}")
        if not name and not inspect.isclass(named):  # it reads no prompts any more
            return as_agent(named, args=args)
        prompts = self.prompts
        agent = as_agent(
            named,
            name=name,
            profile=self.profile,
            prompts=prompts,
            args=args,
        )
        if name and prompts.folder and not prompts.replaced:
            raise PromptError(
                f"{prompts.folder} has no prompt that {name} reads: {list(prompts.read)}"
            )
        return agent

    @property
    def env(self) -> gym.Env[str, str]:
        """The first of the environments."""
        return self.envs(1)[0]

    def envs(self, count: int) -> list[gym.Env[str, str]]:
        """Return environments with the agent's required arguments, in the wrappers of the spec.

        Raises:
            UnknownName: For a split, a wrapper or an argument that does not exist.
        """
        while len(self._envs) < count:
            self._envs.append(self._make_env())
        return self._envs[:count]

    def limited(self, spec: RunSpec) -> Run:
        """Return this run, and what was made for it, under a spec with other limits."""
        limited = copy(self)
        limited.spec = spec
        return limited

    def close(self) -> None:
        """Close the environments."""
        while self._envs:
            self._envs.pop().close()

    def _make_env(self) -> gym.Env[str, str]:
        split = {} if self.spec.split is None else {"split": self.spec.split}
        env = self.world.make(self.agent, **self.spec.env_args, **split)
        for wrapper in self.spec.wrappers:
            env = make_wrapper(wrapper, env)
            check_is_text(env, wrapper.partition(",")[0])
        return env
