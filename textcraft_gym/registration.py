"""The suite's environments, and the look-up of any registered environment of text by its id.

Importing the package registers the suite's ids with Gymnasium and does nothing else. Every other
part of the suite calls ``make``, which takes any id that Gymnasium knows: the suite's, one of an
imported module, or ``my_module:My-v0``, for which ``my_module`` is imported first.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec, load_env_creator

from textcraft_gym.errors import TextCraftGymError, UnknownName
from textcraft_gym.plugins import import_named

INFO_OF: Mapping[str, str] = {"admissible": "admissible_commands", "expert": "expert_plan"}
"""The keys of info that an environment has only if it is made with an argument, by the argument."""


class Registration(NamedTuple):
    """An id of the suite: its entry point, its limit of steps, and the arguments that the id fixes."""

    entry_point: str
    max_episode_steps: int
    kwargs: Mapping[str, Any] = {}


SUITE: Mapping[str, Registration] = {
    "TextCraft-v0": Registration(
        "textcraft_gym.envs.textcraft.env:TextCraftEnv", 100, {"tags": "group"}
    ),
    "TextCraftTags-v0": Registration(
        "textcraft_gym.envs.textcraft.env:TextCraftEnv", 100, {"tags": "item"}
    ),
    "ALFWorld-v0": Registration("textcraft_gym.envs.alfworld.env:ALFWorldEnv", 50),
    "WebShopLite-v0": Registration("textcraft_gym.envs.webshop.env:WebShopLiteEnv", 100),
    "MineTechTree-v0": Registration("textcraft_gym.envs.minetechtree.env:MineTechTreeEnv", 200),
    "HotpotQA-v0": Registration("textcraft_gym.envs.hotpotqa.env:HotpotQAEnv", 7),
    "Tabletop-v0": Registration("textcraft_gym.envs.tabletop.env:TabletopEnv", 100),
    "MineDojo-v0": Registration("textcraft_gym.envs.minedojo.env:MineDojoEnv", 200),
}

BUNDLED = tuple(env_id for env_id in SUITE if env_id != "MineDojo-v0")
"""Ids that this package plays by itself; MineDojo's game does not come with it."""


def register_suite() -> None:
    """Register every id of the suite with Gymnasium."""
    for env_id, (entry_point, max_episode_steps, kwargs) in SUITE.items():
        gym.register(
            env_id,
            entry_point=entry_point,
            vector_entry_point=f"textcraft_gym.vector:{env_id}",
            max_episode_steps=max_episode_steps,
            kwargs=dict(kwargs),
        )


def find_spec(env_id: str) -> EnvSpec:
    """Return Gymnasium's spec of an id, ``My-v0`` or ``my_module:My-v0``.

    Raises:
        UnknownName: If there is no such module, or no such id is registered.
    """
    module, colon, name = env_id.rpartition(":")
    if colon:
        try:
            import_named(module)
        except ModuleNotFoundError as error:
            if not module or error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise  # the module exists, but one of its imports does not
            raise UnknownName("module of an environment", module, []) from error
    if name not in gym.registry:
        known = [*SUITE, *(id for id in gym.registry if id not in SUITE)] if colon else list(SUITE)
        raise UnknownName("environment", name, known)
    spec = gym.registry[name]
    if colon and isinstance(spec.entry_point, str):
        with suppress(ImportError):  # which making the environment explains
            import_named(
                spec.entry_point.partition(":")[0]
            )  # another module, which may be in the working folder, too
    return spec


def make(env_id: str, **arguments: Any) -> gym.Env[str, str]:
    """Make any registered environment of text, without a step limit; argument names are checked, as users give them.

    Raises:
        UnknownName: For an id that is not registered, or an argument that its environment does not
            take.
        ValueError: For an environment whose observations or actions are not text.
    """
    spec = find_spec(env_id)
    for argument in arguments:
        if not _takes(spec, argument):
            raise UnknownName(f"argument of {env_id}", argument, list(parameters(spec)))
    try:
        env: gym.Env[str, str] = gym.make(spec.id, max_episode_steps=-1, **arguments)
    except (TextCraftGymError, ValueError, OSError):
        raise
    except Exception as error:  # the constructor of a foreign environment can raise anything
        raise ValueError(f"{env_id} cannot be made: {type(error).__name__}: {error}") from error
    check_is_text(env, env_id)
    return env


def make_for(agent: object, env_id: str, **arguments: Any) -> gym.Env[str, str]:
    """Make an environment with the arguments that an agent declares in ``env_args``, such as ``expert=True``.

    Raises:
        UnknownName: As in ``make``.
        ValueError: As in ``make``, and if the environment does not take an argument that the agent
            needs.
    """
    needed: Mapping[str, Any] = getattr(agent, "env_args", {})
    spec = find_spec(env_id)
    for argument, value in needed.items():
        if not _takes(spec, argument):
            name = type(agent).__name__
            raise ValueError(
                f"{name} needs an environment made with {argument}={value}, which {env_id} does not take"
            )
    return make(env_id, **{**needed, **arguments})


def check_info(agent: object, env: gym.Env[Any, Any], info: Mapping[str, Any]) -> None:
    """Make sure that the info of a reset has what an agent declares in ``env_args``.

    The info is judged, and not the environment, which may be foreign and in any wrappers.

    Raises:
        ValueError: If it has not.
    """
    needed: Mapping[str, Any] = getattr(agent, "env_args", {})
    for argument, key in INFO_OF.items():
        if needed.get(argument) and key not in info:
            name = env.spec.id if env.spec else str(env)
            raise ValueError(
                f"{type(agent).__name__} reads info[{key!r}], which {name} lacks: "
                f"make it with {argument}=True, gym.make(..., {argument}=True)"
            )


def check_is_text(env: gym.Env[Any, Any], name: str) -> None:
    """Make sure that observations and actions of an environment are text.

    Raises:
        ValueError: If they are not.
    """
    for space in (env.observation_space, env.action_space):
        if not isinstance(space, gym.spaces.Text):
            raise ValueError(
                f"expected an environment of text, but {name} has a space of {type(space).__name__}"
            )


def default_split(env_id: str) -> str | None:
    """Return the split that an environment plays where none is named; None if it has no splits.

    Raises:
        UnknownName: For an id that is not registered.
    """
    split = default_argument(env_id, "split")
    return split if isinstance(split, str) else None


def default_argument(env_id: str, argument: str) -> Any:
    """Return the value of an argument with which an environment is made where none is given; None if it takes none.

    Raises:
        UnknownName: For an id that is not registered.
    """
    spec = find_spec(env_id)
    declared = parameters(spec).get(argument)
    default = declared.default if declared and declared.default is not declared.empty else None
    return spec.kwargs.get(argument, default)


def game_profile(env_id: str) -> str:
    """Return the name of the profile by which agents read an environment's game: its class attribute ``game_profile``.

    Raises:
        UnknownName: For an id that is not registered.
    """
    name: str = getattr(creator(find_spec(env_id)), "game_profile", "default")
    return name


def summary(env_id: str) -> str:
    """Return the first line of an environment's manual.

    Raises:
        UnknownName: For an id that is not registered.
    """
    return (inspect.getdoc(creator(find_spec(env_id))) or "").partition("\n")[0]


def _takes(spec: EnvSpec, argument: str) -> bool:
    known = parameters(spec)
    return argument in known or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()
    )


def creator(spec: EnvSpec) -> Callable[..., Any]:
    """Return what makes an environment, from the arguments of ``gym.make``.

    Raises:
        ValueError: For an id that has a vector only.
    """
    if spec.entry_point is None:
        raise ValueError(f"{spec.id} is registered without an entry point of single environments")
    return (
        load_env_creator(spec.entry_point)
        if isinstance(spec.entry_point, str)
        else spec.entry_point
    )


def parameters(spec: EnvSpec) -> Mapping[str, inspect.Parameter]:
    """Return the arguments of ``gym.make`` that an environment takes, by name."""
    return inspect.signature(creator(spec)).parameters
