"""Agents by name: those of the suite, and a user's own as ``module:Class``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from textcraft_gym.agents.adapt.adapt import ADaPTAgent
from textcraft_gym.agents.adapt.plan_and_execute import PlanAndExecuteAgent
from textcraft_gym.agents.adapt.react import ReActAgent
from textcraft_gym.agents.adapt.reflexion import ReflexionAgent
from textcraft_gym.agents.adapt.try_again import TryAgainAgent
from textcraft_gym.agents.baselines.expert import ExpertAgent
from textcraft_gym.agents.baselines.explorer import ExplorerAgent
from textcraft_gym.agents.baselines.naive_buyer import NaiveBuyerAgent
from textcraft_gym.agents.baselines.random_agent import RandomAgent
from textcraft_gym.agents.contract.agent import Agent, Policy
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.deps.code_as_policies import CodeAsPoliciesAgent, ProgPromptAgent
from textcraft_gym.agents.deps.deps import DEPSAgent
from textcraft_gym.agents.deps.inner_monologue import InnerMonologueAgent
from textcraft_gym.agents.deps.zero_shot import ChainOfThoughtAgent, ZeroShotAgent
from textcraft_gym.agents.games import PROFILES
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import UnknownName

AGENTS: dict[str, type[Agent]] = {
    "adapt": ADaPTAgent,
    "chain_of_thought": ChainOfThoughtAgent,
    "code_as_policies": CodeAsPoliciesAgent,
    "deps": DEPSAgent,
    "expert": ExpertAgent,
    "explorer": ExplorerAgent,
    "inner_monologue": InnerMonologueAgent,
    "naive_buyer": NaiveBuyerAgent,
    "plan_and_execute": PlanAndExecuteAgent,
    "progprompt": ProgPromptAgent,
    "random": RandomAgent,
    "react": ReActAgent,
    "reflexion": ReflexionAgent,
    "try_again": TryAgainAgent,
    "zero_shot": ZeroShotAgent,
}


def make_agent(
    name: str,
    *,
    profile: GameProfile = DEFAULT,
    prompts: Prompts | None = None,
    args: Mapping[str, Any] | None = None,
) -> Agent | Policy:
    """Return an agent by its name.

    A class is made with ``args``, and with ``profile`` and ``prompts`` if its constructor has parameters of these
    names. Its model it does not hold: it yields ``play.ask(...)``, and the run's models answer. Anything else that the
    name leads to, such as a function ``(observation, info) -> action``, is the agent as it stands.

    Args:
        name: A name of ``AGENTS``, or ``module:name`` for what a module holds.
        profile: The game that is played.
        prompts: Where the agent's prompts are from.
        args: Arguments of the constructor.

    Raises:
        UnknownName: If there is no such agent, or it does not take an argument.
        ValueError: If its module cannot be imported, or an argument is missing.
    """
    found = _find(name)
    given = dict(args or {})
    if not inspect.isclass(found):
        if given:
            raise UnknownName(f"argument of {name}, which is made already,", next(iter(given)), [])
        policy: Agent | Policy = found
        return policy
    known = inspect.signature(found).parameters
    for key in given:
        if key not in known:
            raise UnknownName(f"argument of {name}", key, [one for one in known if one not in ("profile", "prompts")])
    offered = {"profile": profile, "prompts": prompts or Prompts()}
    construct: Any = found
    given |= {key: value for key, value in offered.items() if key in known}
    try:
        inspect.signature(found).bind(**given)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from error
    agent: Agent = construct(**given)
    return agent


def takes(name: str, argument: str) -> bool:
    """Return whether an agent's constructor has a parameter.

    Raises:
        UnknownName: If there is no such agent.
    """
    found = _find(name)
    return inspect.isclass(found) and argument in inspect.signature(found).parameters


def _find(name: str) -> Any:
    if name in AGENTS:
        return AGENTS[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        raise UnknownName("agent", name, [*AGENTS, "module:Class"])
    try:
        held = vars(import_module(module))
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == module:
            raise UnknownName("agent", name, [*AGENTS, "module:Class"]) from error
        raise ValueError(f"{name}: {error}") from error
    if attribute not in held:
        raise UnknownName("agent", name, [f"{module}:{one}" for one in held if not one.startswith("_")])
    return held[attribute]


def plays(agent: str, game: str) -> str:
    """Return why an agent does not play a game, empty if it does."""
    try:
        make_agent(agent, profile=PROFILES[game])
    except ValueError as error:
        return str(error)
    return ""
