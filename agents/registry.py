"""Agents by name: the suite's, those of installed packages, and your own as ``module:Class``."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from functools import partial
from importlib.metadata import EntryPoint
from typing import Any, TypeGuard

from textcraft_gym.agents.contract.agent import Agent, AgentLike
from textcraft_gym.agents.contract.game_profile import DEFAULT, GameProfile
from textcraft_gym.agents.defaults import Settings
from textcraft_gym.agents.games import load_profile
from textcraft_gym.agents.own_agent import OwnAgent
from textcraft_gym.agents.prompts import Prompts
from textcraft_gym.errors import UnknownName
from textcraft_gym.plugins import installed, load, one_line

ENTRY_POINTS = "textcraft_gym.agents"
"""The group of entry points under which installed packages register agents."""

_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_OTHER_AGENTS = (
    "`textcraft-gym agents` lists them. One of your own is MODULE:NAME, such as my_agent:MyAgent."
)

AGENTS: Mapping[str, str] = {
    "adaplanner": "textcraft_gym.agents.adaplanner.adaplanner:AdaPlannerAgent",
    "adapt": "textcraft_gym.agents.adapt.adapt:ADaPTAgent",
    "autoplan": "textcraft_gym.agents.autoplan.autoplan:AutoPlanAgent",
    "best_of_n": "textcraft_gym.agents.lats.best_of_n:BestOfNAgent",
    "chain_of_thought": "textcraft_gym.agents.deps.zero_shot:ChainOfThoughtAgent",
    "code_as_policies": "textcraft_gym.agents.deps.code_as_policies:CodeAsPoliciesAgent",
    "dep": "textcraft_gym.agents.deps.deps:DEPAgent",
    "deps": "textcraft_gym.agents.deps.deps:DEPSAgent",
    "expert": "textcraft_gym.agents.baselines.expert:ExpertAgent",
    "explorer": "textcraft_gym.agents.baselines.explorer:ExplorerAgent",
    "inner_monologue": "textcraft_gym.agents.deps.inner_monologue:InnerMonologueAgent",
    "lats": "textcraft_gym.agents.lats.lats:LATSAgent",
    "naive_buyer": "textcraft_gym.agents.baselines.naive_buyer:NaiveBuyerAgent",
    "plan_and_execute": "textcraft_gym.agents.adapt.plan_and_execute:PlanAndExecuteAgent",
    "progprompt": "textcraft_gym.agents.deps.code_as_policies:ProgPromptAgent",
    "random": "textcraft_gym.agents.baselines.random_agent:RandomAgent",
    "random_text": "textcraft_gym.agents.baselines.random_text:RandomTextAgent",
    "react": "textcraft_gym.agents.adapt.react:ReActAgent",
    "reflexion": "textcraft_gym.agents.adapt.reflexion:ReflexionAgent",
    "repeater": "textcraft_gym.agents.baselines.repeater:RepeaterAgent",
    "tree_of_thoughts": "textcraft_gym.agents.lats.tree_of_thoughts:TreeOfThoughtsAgent",
    "try_again": "textcraft_gym.agents.adapt.try_again:TryAgainAgent",
    "zero_shot": "textcraft_gym.agents.deps.zero_shot:ZeroShotAgent",
}
"""The suite's agents by name, each with the path of its class, which is imported on first use."""

TITLES: Mapping[str, str] = {
    "adaplanner": "AdaPlanner",
    "adapt": "ADaPT",
    "autoplan": "AutoPlan",
    "best_of_n": "Best-of-n",
    "chain_of_thought": "Chain-of-thought",
    "code_as_policies": "Code as Policies",
    "dep": "DEP",
    "deps": "DEPS",
    "expert": "Expert",
    "explorer": "Explorer",
    "inner_monologue": "Inner Monologue",
    "lats": "LATS",
    "naive_buyer": "Naive buyer",
    "plan_and_execute": "Plan-and-Execute",
    "progprompt": "ProgPrompt",
    "random": "Random",
    "random_text": "Random, by the text",
    "react": "ReAct",
    "reflexion": "Reflexion",
    "repeater": "Repeater",
    "tree_of_thoughts": "Tree of Thoughts",
    "try_again": "Try Again",
    "zero_shot": "Zero-shot",
}
"""Their names as the papers' tables have them."""


def find_agent(name: str) -> Any:
    """Return the class, function or object of an agent's name.

    Args:
        name: A name of ``AGENTS``, a name under which an installed package registers an agent as an
            entry point of the group ``textcraft_gym.agents``, or ``module:name``.

    Raises:
        UnknownName: If there is no such agent.
        ValueError: If its module cannot be imported.
    """
    if name in AGENTS:
        return load("agent", AGENTS[name])
    if ":" in name:
        return load("agent", name)
    theirs = installed_agents()
    if name not in theirs:
        raise UnknownName.of("agent", name, [*AGENTS, *theirs], _OTHER_AGENTS)
    try:
        return theirs[name].load()
    except Exception as error:  # an installed package may be broken in any way
        raise ValueError(f"agent {name}: {one_line(error)}") from error


def make_agent(
    name: str,
    *,
    profile: GameProfile | str = DEFAULT,
    prompts: Prompts | None = None,
    args: Mapping[str, Any] | None = None,
) -> Agent:
    """Return an agent by its name; see ``as_agent``.

    Args:
        name: A name that ``find_agent`` takes.
        profile: The game to play, or its name as ``load_profile`` takes it.
        prompts: Source of the agent's prompts; None for the bundled ones.
        args: Arguments of the constructor, and fields of its ``settings``.

    Raises:
        UnknownName: If there is no such agent or game, or the agent takes no argument of a name.
        ValueError: If the agent cannot be made; the message names it and is one line.
    """
    return as_agent(
        find_agent(name),
        name=name,
        profile=profile,
        prompts=prompts,
        args=args,
    )


def as_agent(
    agent: AgentLike,
    *,
    name: str = "",
    profile: GameProfile | str = DEFAULT,
    prompts: Prompts | None = None,
    args: Mapping[str, Any] | None = None,
    at_once: int = 1,
) -> Agent:
    """Return anything that can be played as an agent of the contract.

    A class is made with ``args``, and with ``profile`` and ``prompts`` if its constructor has
    parameters of these names. Fields of ``Settings`` that its attribute ``uses`` names are
    arguments, too, and go to the parameter ``settings``. What has no ``episode`` is played as an
    ``OwnAgent``. Agents never hold a model of the run: they yield ``play.ask(...)``, and the run's
    models answer. A prompt in another dialect of the game than that of ``prompts`` is warned about.

    Args:
        agent: A class, an object or a function.
        name: Its name, for messages.
        profile: As in ``make_agent``.
        prompts: As in ``make_agent``.
        args: As in ``make_agent``.
        at_once: Number of episodes that it is to play at the same time.

    Raises:
        UnknownName: If the agent takes no argument of a name.
        ValueError: If it is no agent or cannot be made; the message names it and is one line.
    """
    name = name or getattr(agent, "__name__", type(agent).__name__)
    args = args or {}
    if not inspect.isclass(agent):
        if args:
            raise UnknownName.of(
                f"argument of {name}, which is made already,",
                next(iter(args)),
                [],
            )
        return _ready(agent if _is_agent(agent) else OwnAgent(name, agent), at_once)
    offered: dict[str, Any] = {
        "profile": load_profile(profile) if isinstance(profile, str) else profile,
        "prompts": prompts or Prompts(),
    }
    make: Any = partial(agent, **_arguments(name, agent, args, offered))
    try:
        made = make()
    except Exception as error:  # a constructor can raise anything
        raise ValueError(f"{name}: {one_line(error)}") from error
    # Only now is it known which prompts the agent has read.
    _compare_dialects(offered["profile"], offered["prompts"])
    return _ready(made if _is_agent(made) else OwnAgent(name, made, make), at_once)


def _ready(agent: Agent, at_once: int) -> Agent:
    if isinstance(agent, OwnAgent):
        agent.play_at_once(at_once)
    return agent


def _is_agent(agent: object) -> TypeGuard[Agent]:
    return callable(getattr(agent, "episode", None))


def _compare_dialects(profile: GameProfile, prompts: Prompts) -> None:
    for name, text in prompts.read.items():
        spoken = profile.dialects_of(text)
        if prompts.dialect and spoken and prompts.dialect not in spoken:
            warnings.warn(
                f"the prompt {name} is in dialect {' and '.join(spoken)}, "
                f"but the game is played in {prompts.dialect}: "
                f"make its environment with dialect={spoken[0]!r}, or replace the prompt",
                stacklevel=3,
            )


def _arguments(
    name: str,
    agent_class: type,
    given: Mapping[str, Any],
    offered: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the given arguments, those of ``Settings`` as one, and the offered ones it takes."""
    known, uses = _options(agent_class), _uses(agent_class)
    arguments = {key: value for key, value in offered.items() if key in known}
    fields: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            possible = [option for option in known if option not in offered]
            raise UnknownName.of(f"argument of {name}", key, possible)
        if key in uses:
            fields[key] = value
        else:
            arguments.setdefault(key, value)  # the profile and the prompts are not the caller's
    try:
        if uses:
            arguments["settings"] = Settings(**fields)
    except ValueError as error:  # a number is out of bounds
        raise ValueError(f"{name}: {error}") from error
    for parameter in inspect.signature(agent_class).parameters.values():
        is_optional = parameter.kind in _ANY_NUMBER or parameter.default is not parameter.empty
        if parameter.name not in arguments and not is_optional:
            raise ValueError(
                f"{name}: missing a required argument: {parameter.name!r}, on the command line "
                f"--agent-arg {parameter.name}=..."
            )
    return arguments


def _options(agent_class: type) -> list[str]:
    """Return the names of a class's arguments, fields that it uses in place of ``settings``."""
    names, uses = [*inspect.signature(agent_class).parameters], _uses(agent_class)
    if uses:
        names.remove("settings")
    return [*names, *uses]


def _uses(agent_class: type) -> tuple[str, ...]:
    """Return the fields of ``Settings`` that a class takes."""
    if "settings" not in inspect.signature(agent_class).parameters:
        return ()
    uses: tuple[str, ...] = getattr(agent_class, "uses", ())
    return uses


def family_of(name: str) -> str:
    """Return the family of an agent of the suite or an installed package: what has its class."""
    if name in AGENTS:
        return AGENTS[name].split(".")[2]
    return installed_agents()[name].module.partition(".")[0]


def takes(name: str, argument: str) -> bool:
    """Return whether an agent takes an argument.

    Raises:
        UnknownName: If there is no such agent.
    """
    agent = find_agent(name)
    return inspect.isclass(agent) and argument in _options(agent)


def asks(agent: str | AgentLike) -> bool:
    """Return whether an agent asks the run's models: it has ``episode``, and no ``asks = False``.

    Raises:
        UnknownName: If there is no such agent.
    """
    if isinstance(agent, str):
        agent = find_agent(agent)
    return hasattr(agent, "episode") and bool(getattr(agent, "asks", True))


def why_not(name: str, game: str) -> str:
    """Return why an agent does not play a game; empty if it does.

    It does not if its class has an attribute ``games`` that does not name the game, or if it cannot
    be made for it: without a controller of the game, or without a prompt.

    Args:
        name: A name that ``find_agent`` takes.
        game: A game that ``load_profile`` takes.

    Raises:
        UnknownName: If there is no such agent or game.
    """
    profile = load_profile(game)
    if reason := plays_only(find_agent(name), profile):
        return reason
    # Whether the game has all that the agent needs is known only from making it.
    try:
        make_agent(name, profile=profile)
    except ValueError as error:
        return str(error).removeprefix(f"{name}: ")
    return ""


def plays_only(agent: AgentLike, profile: GameProfile) -> str:
    """Return the games that an agent plays if it names them without this one; else nothing."""
    games = getattr(agent, "games", None)
    if isinstance(games, tuple) and profile.name not in games:
        return f"it plays {', '.join(games)} only"
    return ""


def installed_agents() -> Mapping[str, EntryPoint]:
    """Return the entry points of the agents that installed packages offer, by name."""
    return installed(ENTRY_POINTS)
